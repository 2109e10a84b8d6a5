import { leftOut } from '../../harness/report/reason.ts'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folder, readReport } from '../cli/conform.ts'
import { conform } from '../cli/in-process.ts'
import { reference } from '../cli/reference.ts'
import { createBoard } from '../../cli/ui/board.ts'
import { onceParts, paragraphMarkup, rowMarkup } from '../../cli/ui/page.ts'
import { createModel, createSentBook } from '../../cli/ui/model.ts'
import { hostile } from '../reporters/hostile.ts'
import { sampleExchanges } from '../reporters/sample-exchanges.ts'
import { addToTarget } from '../../cli/ui/ui.ts'
import { sampleReport } from '../reporters/sample-report.ts'

test('Markdown of a reading is markup, and nothing else of it is', () => {
  expect(
    paragraphMarkup(
      '**Who** (`*/401-*`, `a`) may _say_ <b>&amp; [that](#there), 2 * 3 * 4 and `<i>`.',
    ),
  ).toBe(
    '<p><b>Who</b> (<code>*/401-*</code>, <code>a</code>) may <em>say</em> &lt;b&gt;&amp;amp; that, 2 * 3 * 4 and <code>&lt;i&gt;</code>.</p>',
  )
})

test('a run of a part leaves the rest as it was, and the verdict is of all that is known', () => {
  const whole = sampleReport()
  const board = createBoard(whole)
  const [failing, other] = whole.requirements.filter(
    ({ outcome, level }) => outcome === 'passed' && level === 'must',
  )
  const part = whole.requirements.map((result) =>
    result.id === failing!.id
      ? { ...result, outcome: 'failed' as const }
      : { ...result, outcome: 'not-exercised' as const, ...leftOut('--only') },
  )
  const before = board.version
  board.ended({ ...whole, requirements: part }, true)
  expect(board.rows.get(other!.id)!.result.outcome).toBe('passed')
  expect(
    [...board.rows.values()]
      .filter(({ version }) => version > before)
      .map(({ result }) => result.id),
  ).toEqual([failing!.id])
  expect(board.report()).toMatchObject({
    verdict: 'non-conformant',
    summary: { must: { failed: 1 } },
  })
})

test('while a run goes on, the page says what it waits for, and how long it is likely to take still', () => {
  const settings = {
    failed: () => 0,
    hasKey: true,
    onChange: () => undefined,
    targetFile: undefined,
  }
  const { front, patchSince } = createModel(sampleReport({ size: 3 }), settings)
  const textNow = () => (patchSince(0).state as { text: string }).text
  front.started({ selection: 'all', why: 'asked for' })
  front.standing!({
    ...{ judged: 1, of: 3, failed: 0, ms: 12_400, leftMs: 28_000 },
    now: 'waiting for a job of the application',
  })
  expect(textNow()).toMatch(
    /^\d+ of \d+ requirements judged; 12 s, about 30 s left; now waiting for a job of the application$/,
  )
})

test('a run that was ended leaves what it had not judged to go on with', () => {
  const whole = sampleReport()
  const board = createBoard(whole)
  expect(board.untested).toEqual([])
  const [first, second] = whole.requirements
  const cutShort = whole.requirements.map((result, at) =>
    at < 2 ? { ...result, outcome: 'not-exercised' as const, ...leftOut('interrupted') } : result,
  )
  board.ended({ ...whole, requirements: cutShort }, false)
  expect(board.untested).toEqual([first!.id, second!.id])
  board.judged(first!)
  expect(board.untested).toEqual([second!.id])
})

test('what a run of a part could not judge any more stays as it was', () => {
  const whole = sampleReport()
  const board = createBoard(whole)
  const cutShort = whole.requirements.map((result) => ({
    ...result,
    outcome: 'not-exercised' as const,
    ...leftOut('interrupted'),
  }))
  board.ended({ ...whole, requirements: cutShort }, true)
  expect(board.report().requirements).toEqual(whole.requirements)
})

test('the bars have room for what waits, and a row says what the last run changed of it', () => {
  const whole = sampleReport({ size: 40 })
  const waiting = whole.requirements.map((result) => ({
    ...result,
    outcome: 'not-exercised' as const,
    ...leftOut('interrupted'),
  }))
  const board = createBoard({ ...whole, requirements: waiting })
  const around = { targetFile: undefined, isWholeRun: true, changes: undefined }
  const cards = () => onceParts(board, around).counts!
  const musts = whole.requirements.filter(({ level }) => level === 'must')
  const plan = (ids: readonly string[]) =>
    board.plan(new Map(ids.map((id) => [id, { run: true as const }])))
  plan(whole.requirements.map(({ id }) => id))
  board.judged(musts[0]!)
  expect(cards()).toContain(`Must <small>${musts.length}</small>`)
  expect(cards()).toContain(
    `viewBox="0 0 ${musts.length} 1" preserveAspectRatio="none" aria-hidden="true"><rect class="p" x="0" width="1"`,
  )
  expect(cards()).toContain(`1 of ${whole.requirements.length} requirements were tested`)
  board.ended(whole, false)
  expect(cards()).not.toContain('waiting')

  const [mended, broken, alike] = musts
  const markup = (id: string) => rowMarkup(board.rows.get(id)!, board.report())
  expect(markup(mended!.id)).not.toContain('class="tag change"')
  plan([broken!.id, alike!.id])
  for (const outcome of ['failed', 'passed'] as const)
    board.judged({ ...(outcome === 'failed' ? broken! : alike!), outcome })
  expect(markup(broken!.id)).toContain('<span class="tag change">was passed</span>')
  expect(markup(alike!.id)).not.toContain('class="tag change"')
  plan([broken!.id])
  board.judged({ ...broken!, outcome: 'failed' })
  expect(markup(broken!.id)).toContain('<span class="tag change">still failed</span>')
  plan([alike!.id])
  expect(markup(broken!.id)).not.toContain('class="tag change"')
})

test('what was sent is on a time line, the first fifty of each requirement, and hostile text is text', async () => {
  const book = createSentBook()
  const report = sampleReport({ size: 2 })
  const [first, other] = report.requirements
  const rude = [...sampleExchanges(report, 60 * report.requirements.length)].map((one) => ({
    ...one,
    request: { ...one.request, url: hostile },
    curl: hostile,
  }))
  await book.take(rude)
  const markup = book.markupOf(first!.id)
  expect(
    markup.match(/<rect class="[pfn]" x="[\d.]+" y="\d+" width="[\d.]+" height="5"\/>/g),
  ).toHaveLength(50)
  expect(markup).toContain('and 10 more: the HAR report has every exchange')
  expect(markup).not.toMatch(/<script|<img/)
  const again = rude.slice(0, 1)
  await book.take(again)
  expect(book.markupOf(first!.id).match(/<rect/g)).toHaveLength(1)
  expect(book.markupOf(other!.id).match(/<rect/g)).toHaveLength(50)
  expect(book.markupOf('nothing')).toContain('Nothing was sent for it alone.')
})

const targetText = `{
  // Ours.
  "baseUrl": "http://localhost", // the port is 80
  "operations": { "chat.create": { "body": { "model": "m" } } },
}
`

function written() {
  const path = join(folder(), 't.json')
  writeFileSync(path, targetText)
  return path
}

test('a part is added to the target file, and what is there stays, comments included', async () => {
  const path = written()
  const part = {
    keys: { expired: { env: 'OLD' } },
    operations: {
      'chat.create': { body: { model: 'other' }, fields: { model: '/model' } },
      'files.list': 'not-served',
    },
  }
  await addToTarget(path, JSON.stringify(part))
  const text = readFileSync(path, 'utf8')
  expect(text).toContain('// Ours.\n  "baseUrl": "http://localhost", // the port is 80\n')
  expect(JSON.parse(text.replaceAll(/ *\/\/ .*$/gm, '').replaceAll(/,(?=\s*})/g, ''))).toEqual({
    baseUrl: 'http://localhost',
    operations: {
      'chat.create': { body: { model: 'm' }, fields: { model: '/model' } },
      'files.list': 'not-served',
    },
    keys: { expired: { env: 'OLD' } },
  })
  await expect(addToTarget(path, JSON.stringify(part))).rejects.toThrow(
    'declares all of that already',
  )
})

test.each<[string, unknown, string]>([
  [
    'what is to be filled in',
    { resources: { file: '<file id>' } },
    'resources.file still has the placeholder',
  ],
  ['a name that is none', { resources: { fil: 'a' } }, 'resources.fil'],
  ['another address', { baseUrl: 'http://evil.example' }, 'baseUrl is not added here'],
  [
    'a program',
    { keys: { expired: { command: ['sh'] } } },
    'keys.expired.command is not added here',
  ],
  [
    'a program for one operation',
    { keys: { restricted: { 'jobs.create': { command: ['sh'] } } } },
    '.command is not',
  ],
  ['a file', { keys: { expired: { file: '/etc/passwd' } } }, 'keys.expired.file is not added here'],
  [
    'a file to send',
    { resources: { pdfFile: { upload: '/etc/passwd' } } },
    'resources.pdfFile.upload is not',
  ],
  [
    'a program in a scenario',
    { scenarios: { 'general/410-gone': { key: { command: ['sh'] } } } },
    '.command is not',
  ],
  [
    'another request',
    { scenarios: { 'general/410-gone': { before: [] } } },
    'general/410-gone.before is not',
  ],
  [
    'another one at the end',
    { operations: { 'graphs.create': { cleanup: [] } } },
    'graphs.create.cleanup is not',
  ],
  ['an array', [], 'This is not one object of JSON.'],
])('%s is not added', async (_, part, problem) => {
  const path = written()
  await expect(addToTarget(path, JSON.stringify(part))).rejects.toThrow(problem)
  expect(readFileSync(path, 'utf8')).toBe(targetText)
})

test('without a key the page comes to the verdict of the command, while the run goes on and after it', async () => {
  const { url } = await reference({ defects: ['files.list/401-missing-credentials'] })
  const cwd = folder()
  const args = [url, '--only', 'files.*', '--report', 'json']
  expect(await conform(args, { cwd })).toMatchObject({ code: 3 })
  const report = readReport(cwd)
  const failed = report.requirements.filter(({ outcome }) => outcome === 'failed')
  expect(failed.map(({ id }) => id)).toEqual(['files.list/401-missing-credentials'])
  const board = createBoard({ ...report, requirements: [] }, false)
  for (const result of report.requirements) board.judged(result)
  expect(board.report()).toMatchObject({ verdict: 'not-judged', exit: { code: 3 } })
  board.ended(report, false)
  const { exit, summary, verdict, verdicts } = report
  expect(board.report()).toMatchObject({ exit, summary, verdict, verdicts })
})
