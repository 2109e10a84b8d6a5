import { expect, test } from 'vitest'
import { targetReason, undeclaredReason } from '../../harness/report/reason.ts'
import { renderMarkdown } from '../../reporters/markdown.ts'
import { nextSteps } from '../../reporters/view/next-steps.ts'
import { failed, missed, report, result } from '../gates/results.ts'
import { inHtml } from './shown.ts'

const expired = undeclaredReason([['keys.expired']], '{"keys": {"expired": {"env": "OLD"}}}')
const texts = (...given: Parameters<typeof nextSteps>) =>
  nextSteps(...given).map(({ text }) => text)

test('a failing run: what nothing explains, and how to run again what failed', () => {
  const [one, two] = [failed('a.b/1'), failed('a.b/2')]
  expect(nextSteps(report([one, two], { command: 'conform -t t.json' }))).toEqual([
    { text: 'Fix a.b/1 first, then 1 more' },
    { text: 'Run only what failed', command: 'conform -t t.json --failed' },
  ])
  // A report by itself knows the command from its failures.
  expect(nextSteps(report([one, two, result('a.b/3')]))[1]!.command).toBe(
    'conform https://example.com --failed',
  )
})

test('recorded traffic is not run again', () => {
  expect(texts(report([failed('a.b/1')], { runs: 0 }))).toEqual(['Fix a.b/1'])
})

test('what is wrong with the base URL, and what is not built, come before what fails', () => {
  const absent = [{ operation: 'chat.create', answered: '404' }]
  const rows = [failed('files.list/1'), failed('files.list/2')]
  const build = 'Build chat.create (answered 404), or declare what you do not offer:'
  expect(texts(report(rows, { absent }))).toEqual([
    build,
    'Fix files.list/1 first, then 1 more',
    'Run only what failed',
  ])
  expect(texts(report(rows, { absent, hints: ['check the base URL'] }))).toEqual([
    'Check the base URL',
    build,
    'Run only what failed',
  ])
})

test('where all is well, or the last line says what is wrong, there is nothing to do next', () => {
  expect(nextSteps(report([result('a.b/1')]))).toEqual([])
  const dead = targetReason('http://127.0.0.1:1', 'connection refused')
  const rows = [missed('a.b/1', dead), missed('a.b/2', dead), missed('a.b/3', expired)]
  const of = report(rows, { statuses: [{ status: 404, times: 1 }] }, { notJudged: dead.reason })
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
  expect(markdown).toMatch(/\*\*Next\*\*\n\n1\. Fix a\.b\/1\n2\. Run only what failed/)
  expect(markdown.indexOf('**Next**')).toBeLessThan(markdown.indexOf('| | passed'))
  const html = await inHtml(of)
  const at = html.indexOf('<h2 id="next">Next</h2><ol><li><p>Fix a.b/1</p></li>')
  expect(at).toBeGreaterThan(html.indexOf('class="verdict'))
  expect(at).toBeLessThan(html.indexOf('class="counts"'))
})
