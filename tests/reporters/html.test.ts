import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Report } from '../../harness/report/report-schema.ts'
import { leftOut } from '../../harness/report/reason.ts'
import { missed, notApplicable, report, result } from '../gates/results.ts'
import { hostile, unsafe } from './hostile.ts'
import { attribute, elements, hasClass, textOf, type Element } from './html-tree.ts'
import { sampleExchanges } from './sample-exchanges.ts'
import { fails, mixed, reportOfText, sampleFailure, sampleReport } from './sample-report.ts'
import { inHtml } from './shown.ts'

const rows = (all: Element[]) =>
  all.filter((one) => one.tagName === 'details' && attribute(one, 'data-o') !== undefined)
const megabytes = (text: string) => Buffer.byteLength(text) / 1e6

test('every requirement, its outcome, level, section, statement and reason survives', async () => {
  const report = sampleReport({ end: mixed })
  const list = rows(elements(await inHtml(report)))
  expect(list.map((row) => attribute(row, 'id'))).toEqual(report.requirements.map(({ id }) => id))
  expect(list.map((row) => attribute(row, 'data-o'))).toEqual(
    report.requirements.map(({ outcome }) => outcome),
  )
  report.requirements.forEach(({ id, level, reason, statement }, at) => {
    const text = textOf(list[at]!)
    for (const part of [id, level, '§', statement, reason ?? '']) expect(text).toContain(part)
  })
})

test('the first screen says verdict, target, counts and coverage', async () => {
  const report = sampleReport({ end: mixed, run: { insecure: true } })
  const header = textOf(elements(await inHtml(report)).find(({ tagName }) => tagName === 'header')!)
  const { must, should } = report.summary
  for (const part of [
    'Non-conformant',
    'Example staging',
    'https://staging.example.com',
    `${must.failed} required checks failed, ${must.passed} passed`,
    `${must.passed} passed`,
    `${should.notExercised} not tested`,
    `${must.passed + must.failed + should.passed + should.failed} of`,
    'insecure: ',
  ])
    expect(header).toContain(part)
})

test('the coverage names what does not apply, if there is any', async () => {
  const covered = async (...rows: Parameters<typeof report>[0]) =>
    /\d+ of \d+ requirements were tested[^<]*/.exec(await inHtml(report(rows)))?.[0]
  expect(await covered(result('a.b/1'))).toBe('1 of 1 requirements were tested.')
  expect(await covered(result('a.b/1'), notApplicable('a.b/2'))).toBe(
    '1 of 1 requirements were tested; 1 does not apply.',
  )
})

test('the matrix has a cell for every requirement, named by its outcome', async () => {
  const report = sampleReport({ end: mixed })
  const cells = elements(await inHtml(report)).filter((one) => hasClass(one, 'cell'))
  expect(cells.map((cell) => decodeURIComponent(attribute(cell, 'href')!.slice(1))).sort()).toEqual(
    report.requirements.map(({ id }) => id).sort(),
  )
  expect(new Set(cells.map((cell) => attribute(cell, 'aria-label')!.split(': ')[1]))).toEqual(
    new Set(['passed', 'failed', 'not tested', 'not applicable']),
  )
  expect(new Set(cells.map(textOf)).size).toBe(4)
})

test('what an option left out is shown as that, and its operation has no line in the matrix', async () => {
  const selected = result('files.list/2xx-accepted')
  const left = [
    missed('files.list/401-invalid-key', leftOut('--only')),
    missed('translate.run/2xx-accepted', leftOut('--only')),
  ]
  const all = elements(await inHtml(report([selected, ...left], { only: [selected.id] })))
  expect(rows(all).map((row) => attribute(row, 'data-o'))).toEqual([
    'passed',
    'left-out',
    'left-out',
  ])
  const cells = all.filter((one) => hasClass(one, 'cell'))
  expect(cells.map((cell) => attribute(cell, 'aria-label'))).toEqual([
    '2xx-accepted (must): passed',
    '401-invalid-key (must): left out',
  ])
  const boxes = all.filter((one) => attribute(one, 'type') === 'checkbox')
  expect(boxes.map((box) => attribute(box, 'value'))).toContain('left-out')
  const whole = elements(await inHtml(report([selected])))
  expect(whole.some((one) => attribute(one, 'value') === 'left-out')).toBe(false)
})

test("the matrix begins with what failed, in columns and within what is an operation's own", async () => {
  const fails = (ids: RegExp) => {
    const all = sampleReport()
    const requirements = all.requirements.map((one) =>
      ids.test(one.id)
        ? { ...one, outcome: 'failed' as const, failures: [sampleFailure(one.id)] }
        : one,
    )
    return { ...all, requirements }
  }
  const headsOf = async (of: Report) =>
    elements(await inHtml(of))
      .filter((one) => one.tagName === 'th' && attribute(one, 'scope') === 'col')
      .map(textOf)
  const shared = await headsOf(fails(/\/404-unknown$/))
  expect(shared.slice(0, 2)).toEqual(['Operation', '404-unknown'])
  const own = fails(/^pdf\.parse\/400-fault-13$/)
  const cellsOf = elements(
    await inHtml({
      ...own,
      requirements: own.requirements.filter(({ operation }) => operation === 'pdf.parse'),
    }),
  ).filter((one) => hasClass(one, 'cell'))
  expect(textOf(cellsOf[0]!)).toBe('✗')
})

test('exchanges stand with their requirement, passed ones too, and with curl', async () => {
  const report = sampleReport({ size: 30 })
  const exchanges = [...sampleExchanges(report, 60)]
  const ownRequest = { ...exchanges[0]!, n: 60, requirement: null, role: 'liveness' as const }
  const all = elements(await inHtml(report, [...exchanges, ownRequest]))
  const row = textOf(rows(all)[4]!)
  for (const part of [
    exchanges[4]!.curl,
    exchanges[34]!.curl,
    exchanges[4]!.response!.body,
    'x-request-id: r-34',
  ])
    expect(row).toContain(part)
  expect(row).toContain(`--only ${report.requirements[4]!.id} --seed 421`)
  expect(all.map(textOf).some((text) => text.startsWith('Requests of the run itself'))).toBe(true)
})

test('bodies of passed exchanges are held to 1 KiB, those of a lone failure are whole', async () => {
  const long = 'é'.repeat(3000)
  const report = sampleReport({ size: 20, end: (at) => (at === 3 ? fails(long)!(at) : {}) })
  const [one] = sampleExchanges(report, 1)
  const cut = {
    ...one!,
    request: { ...one!.request, body: long },
    response: { ...one!.response!, body: long },
  }
  const list = rows(elements(await inHtml(report, [cut])))
  const shown = textOf(list[0]!).match(/é+/g)!
  expect(shown.map(({ length }) => length)).toEqual([512, 512])
  expect(textOf(list[0]!)).toContain('[truncated; the whole body has 6000 bytes]')
  expect(textOf(list[3]!)).toContain(long)
})

test('an exchange without an answer says why', async () => {
  const report = sampleReport({ size: 20 })
  const { response: _response, ...unanswered } = [...sampleExchanges(report, 1)][0]!
  const row = rows(
    elements(await inHtml(report, [{ ...unanswered, error: 'no answer within 15 s' }])),
  )[0]!
  expect(textOf(row)).toContain('No answer: no answer within 15 s')
})

test('stays under 6 MB with 3,000 exchanges of hostile bodies, and if everything failed', async () => {
  const report = sampleReport({ end: mixed })
  expect(megabytes(await inHtml(report, sampleExchanges(report, 3000, 900)))).toBeLessThan(6)
  const bad = sampleReport({
    end: (at) => ({ outcome: 'failed', failures: [sampleFailure(`r-${at}`, '<&>'.repeat(1500))] }),
  })
  const rude = [...sampleExchanges(bad, 1000)].map((one) => ({
    ...one,
    response: { ...one.response!, body: '<&>'.repeat(1500) },
  }))
  const html = await inHtml(bad, rude)
  expect(megabytes(html)).toBeLessThan(6)
  // Not parsed: a tree of six megabytes takes longer than the page itself.
  expect(html.match(/<details [^>]*data-o=/g)).toHaveLength(290)
})

test('many exchanges of one requirement take no room from the others', async () => {
  const report = sampleReport({ size: 20 })
  const [busy, ...others] = sampleExchanges(report, 20)
  const polls = Array.from({ length: 200 }, (_, n) => ({
    ...busy!,
    n: 100 + n,
    role: 'poll' as const,
  }))
  const list = rows(elements(await inHtml(report, [...polls, ...others])))
  expect(textOf(list[0]!)).toContain('and 150 more')
  others.forEach(({ curl }, at) => expect(textOf(list[at + 1]!)).toContain(curl))
})

test('allows its own style and script by hash, and nothing else', async () => {
  const all = elements(
    await inHtml(sampleReport({ end: mixed }), sampleExchanges(sampleReport(), 100)),
  )
  const policy = attribute(
    all.find((one) => attribute(one, 'http-equiv') === 'Content-Security-Policy')!,
    'content',
  )!
  const hash = (tag: string) => {
    const [only, ...more] = all.filter(({ tagName }) => tagName === tag)
    expect(more).toEqual([])
    return `'sha256-${createHash('sha256').update(textOf(only!)).digest('base64')}'`
  }
  expect(policy.split('; ')).toEqual([
    "default-src 'none'",
    `style-src ${hash('style')}`,
    `script-src ${hash('script')}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ])
  for (const { attrs, tagName } of all) {
    for (const { name, value } of attrs) {
      expect([name.startsWith('on'), name]).not.toContain(true)
      expect(name).not.toBe('style')
      if (name === 'src' || name === 'href')
        expect(`${tagName} ${value}`).toMatch(/^a (?:\?q=%C2%A7[\w.%]*)?#|^link data:,$/)
    }
  }
})

test('hostile text is text: no element, attribute or control comes of it', async () => {
  const build = (text: string) => {
    const report = reportOfText(text, 40, { startedAt: text, only: [text] })
    const exchanges = [...sampleExchanges(report, 40)].map((one) => ({
      ...one,
      curl: text,
      request: { ...one.request, url: `https://x.example/${text}` },
      response: { status: 299, headers: { 'x-note': text, [text]: text }, body: text },
    }))
    return inHtml(report, exchanges)
  }
  const html = await build(hostile)
  // How many pieces differ is a matter of the text.
  const marks = ['ins', 'del', 'mark']
  const shape = (text: string) =>
    elements(text)
      .filter(({ tagName }) => !marks.includes(tagName))
      .map(({ attrs, tagName }) => [tagName, ...attrs.map(({ name }) => name)])
  expect(html).not.toMatch(unsafe)
  expect(shape(html)).toEqual(shape(await build('plain')))
  expect(html).toContain('\\u202e')
})
