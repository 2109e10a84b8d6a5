import { expect, test } from 'vitest'
import { leftOut, targetReason, undeclaredReason } from '../../harness/report/reason.ts'
import { renderMarkdown } from '../../reporters/markdown.ts'
import { nextSteps } from '../../reporters/view/next-steps.ts'
import { failed, missed, report, result } from '../gates/results.ts'
import { inHtml } from './shown.ts'

const expired = undeclaredReason([['keys.expired']], '{"keys": {"expired": {"env": "OLD"}}}')
const graph = undeclaredReason([['resources.graph']], '{"resources": {"graph": "<id>"}}')
const texts = (...given: Parameters<typeof nextSteps>) =>
  nextSteps(...given).map(({ text }) => text)

test('a failing run: what explains most, what nothing explains, and how to run again what failed', () => {
  const [one, two] = [failed('a.b/1'), failed('a.b/2')]
  const of = report([one, two, result('a.b/3')])
  const ofRun = report([one, two], { command: 'conform -t t.json' })
  expect(nextSteps(ofRun, { json: 'r.json' })).toEqual([
    { text: 'Mend a.b/1, then 1 more' },
    { text: 'Run again what failed', command: 'conform -t t.json --failed r.json' },
  ])
  // A report by itself knows the command from its failures; the last run is kept.
  expect(nextSteps(of)[1]).toEqual({
    text: 'Run again what failed',
    command: 'conform https://example.com --failed',
  })
})

test('recorded traffic is not run again', () => {
  expect(texts(report([failed('a.b/1')], { runs: 0 }))).toEqual(['Mend a.b/1'])
})

test('what is wrong with the base URL, and what is not built, come before what fails', () => {
  const absent = [{ operation: 'chat.create', answered: '404' }]
  const rows = [failed('files.list/1'), failed('files.list/2')]
  expect(texts(report(rows, { absent }))).toEqual([
    'Build the operation that is absent, or paste the lines that say "not-served"',
    'Mend files.list/1, then 1 more',
    expect.stringContaining('Run again'),
  ])
  expect(texts(report(rows, { absent, hints: ['check the base URL'] }))).toEqual([
    'Check the base URL',
    expect.stringContaining('Build the operation'),
    expect.stringContaining('Run again'),
  ])
})

test('an interrupted run goes on with what is missing; one in which nothing failed, with what to declare', () => {
  const cut = report([result('a.b/1'), missed('a.b/2', leftOut('interrupted'))], {
    interrupted: true,
  })
  const ofRun = { ...cut, run: { ...cut.run, command: 'conform -t t.json' } }
  expect(nextSteps(ofRun)).toEqual([
    { text: 'Go on with what failed or was cut off', command: 'conform -t t.json --failed' },
  ])
  const passing = report([
    result('a.b/1'),
    missed('a.b/2', expired),
    missed('a.b/3', expired),
    missed('a.b/4', graph),
  ])
  expect(texts(passing)).toEqual([
    'Declare keys.expired: 2 more requirements can be tested then; 1 other is listed with what to paste',
  ])
})

test('where all is well, or the last line says what is wrong, there is nothing to do next', () => {
  expect(nextSteps(report([result('a.b/1')]))).toEqual([])
  const dead = targetReason('http://127.0.0.1:1', 'connection refused')
  const rows = [missed('a.b/1', dead), missed('a.b/2', dead), missed('a.b/3', expired)]
  const of = report(rows, {}, { notJudged: dead.reason })
  expect(nextSteps(of)).toEqual([])
})

test('a summary of a dead server says nothing of what to declare', async () => {
  const dead = targetReason('http://127.0.0.1:1', 'connection refused')
  const of = report(
    [missed('a.b/1', dead), missed('a.b/2', expired)],
    {},
    { notJudged: dead.reason },
  )
  expect(renderMarkdown(of)).not.toContain('declare')
  expect(await inHtml(of)).not.toContain('What to declare next')
})

test('every page has the steps beside the verdict', async () => {
  const of = report([failed('a.b/1')])
  const markdown = renderMarkdown(of)
  expect(markdown).toMatch(/\*\*Next\*\*\n\n1\. Mend a\.b\/1\n2\. Run again what failed/)
  expect(markdown.indexOf('**Next**')).toBeLessThan(markdown.indexOf('| | passed'))
  const html = await inHtml(of)
  const at = html.indexOf('<h2 id="next">Next</h2><ol><li><p>Mend a.b/1</p></li>')
  expect(at).toBeGreaterThan(html.indexOf('class="verdict'))
  expect(at).toBeLessThan(html.indexOf('class="counts"'))
})
