import { levels } from '../../reporters/text.ts'
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { leftOut } from '../../harness/report/reason.ts'
import { missed, report as reportOf, result } from '../gates/results.ts'
import { attribute, type Element, elements, hasClass, textOf } from './parsers.ts'
import { fails, inHtml, mixed, sampleExchanges, sampleFailure, sampleReport } from './samples.ts'

const report = sampleReport({ end: mixed, run: { insecure: true } })
const whole = elements(await inHtml(report))
const pageOf = async (...given: Parameters<typeof inHtml>) => elements(await inHtml(...given))
const rows = (all: Element[]) =>
  all.filter((one) => one.tagName === 'details' && attribute(one, 'data-o') !== undefined)
const attributes = (of: Element[], name: string) => of.map((one) => attribute(one, name))

test('every requirement is a row with its outcome, level, section, statement and reason', () => {
  const list = rows(whole)
  expect(attributes(list, 'id')).toEqual(report.requirements.map(({ id }) => id))
  expect(attributes(list, 'data-o')).toEqual(report.requirements.map(({ outcome }) => outcome))
  report.requirements.forEach(({ id, level, reason, statement }, at) => {
    const text = textOf(list[at]!)
    for (const part of [id, levels[level], '§', statement, reason ?? ''])
      expect(text).toContain(part)
  })
})

test('the first screen says verdict, target and counts', async () => {
  const header = textOf(whole.find(({ tagName }) => tagName === 'header')!)
  const { must, should } = report.summary
  for (const part of [
    ...['Non-conformant', 'Example staging', 'https://staging.example.com', 'insecure: '],
    `${must.failed} required checks failed, ${must.passed} passed`,
    `Recommended${should.passed}${should.failed}${should.notExercised}`,
  ])
    expect(header).toContain(part)
})

test('what an option left out is shown as that', async () => {
  const left = ['files.list/401-invalid-key', 'translate.run/2xx-accepted']
  const selected = result('files.list/2xx-accepted')
  const all = await pageOf(
    reportOf([selected, ...left.map((id) => missed(id, leftOut('--only')))], {
      only: [selected.id],
    }),
  )
  expect(attributes(rows(all), 'data-o')).toEqual(['passed', 'left-out', 'left-out'])
  expect(attributes(all, 'value')).toContain('left-out')
  expect(attributes(await pageOf(reportOf([selected])), 'value')).not.toContain('left-out')
})

test('exchanges are shown with their requirement, passed ones too, with curl and why there was no answer', async () => {
  const passed = sampleReport({ size: 30 })
  const exchanges = [...sampleExchanges(passed, 60)]
  const { response: _, ...first } = exchanges[0]!
  const unanswered = { ...first, error: 'no answer within 15 s' }
  const all = await pageOf(passed, [unanswered, ...exchanges.slice(1)])
  const row = textOf(rows(all)[4]!)
  const of4 = [exchanges[4]!.curl, exchanges[34]!.curl, exchanges[4]!.response!.body]
  for (const part of [...of4, 'x-request-id: r-34']) expect(row).toContain(part)
  expect(textOf(rows(all)[0]!)).toContain('No answer: no answer within 15 s')
})

test('bodies of passed exchanges are held to 1 KiB, those of a lone failure are whole', async () => {
  const long = 'é'.repeat(3000)
  const one = sampleReport({ size: 20, end: (at) => (at === 3 ? fails(long)() : {}) })
  const [given] = sampleExchanges(one, 1)
  const body = { body: long }
  const cut = {
    ...given!,
    request: { ...given!.request, ...body },
    response: { ...given!.response!, ...body },
  }
  const [first, , , fourth] = rows(await pageOf(one, [cut])).map(textOf)
  expect(first!.match(/é+/g)!.map(({ length }) => length)).toEqual([512, 512])
  expect(first).toContain('[truncated; the whole body has 6000 bytes]')
  expect(fourth).toContain(long)
})

test('a page stays under 6 MB if everything failed and 1,000 bodies are to be escaped', async () => {
  const rude = '<&>'.repeat(1500)
  const bad = sampleReport({
    end: (at) => ({ outcome: 'failed', failures: [sampleFailure(`r-${at}`, rude)] }),
  })
  const exchanges = [...sampleExchanges(bad, 1000)].map((one) => ({
    ...one,
    response: { ...one.response!, body: rude },
  }))
  const html = await inHtml(bad, exchanges)
  expect(Buffer.byteLength(html)).toBeLessThan(6e6)
  // Not parsed: a tree of six megabytes takes longer than the page itself.
  expect(html.match(/<details [^>]*data-o=/g)).toHaveLength(bad.requirements.length)
})

test('many exchanges of one requirement take no room from the others', async () => {
  const one = sampleReport({ size: 20 })
  const [busy, ...others] = sampleExchanges(one, 20)
  const polls = Array.from({ length: 200 }, (_, n) => ({
    ...busy!,
    n: 100 + n,
    role: 'poll' as const,
  }))
  const list = rows(await pageOf(one, [...polls, ...others])).map(textOf)
  expect(list[0]).toContain('and 150 more')
  others.forEach(({ curl }, at) => expect(list[at + 1]).toContain(curl))
})

test('a page allows its own style and script by hash, and nothing else', () => {
  const policy = whole.find((one) => attribute(one, 'http-equiv') === 'Content-Security-Policy')!
  const hash = (tag: string) => {
    const [only, ...more] = whole.filter(({ tagName }) => tagName === tag)
    expect(more).toEqual([])
    return `'sha256-${createHash('sha256').update(textOf(only!)).digest('base64')}'`
  }
  expect(attribute(policy, 'content')!.split('; ')).toEqual([
    "default-src 'none'",
    `style-src ${hash('style')}`,
    `script-src ${hash('script')}`,
    ...['img-src data:', "base-uri 'none'", "form-action 'none'"],
  ])
  const links = /^a #|^link data:,$/
  const wrong = whole.flatMap(({ attrs, tagName }) =>
    attrs.flatMap(({ name, value }) =>
      /^on|^style$/.test(name) || (/^(src|href)$/.test(name) && !links.test(`${tagName} ${value}`))
        ? [`${tagName} ${name}=${value}`]
        : [],
    ),
  )
  expect(wrong).toEqual([])
})

test('if nothing was judged, the reason is given once', async () => {
  const dead = reportOf([missed('a.b/1', 'x')], {}, { notJudged: 'connection refused' })
  const verdict = (await pageOf(dead)).find((one) => hasClass(one, 'verdict'))!
  expect(textOf(verdict)).toBe('?Not judgedExit 3: connection refused')
})
