import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lexer } from 'marked'
import { expect, test } from 'vitest'
import { folder } from '../cli/conform.ts'
import type { Report, RequirementResult } from '../../harness/report/report-schema.ts'
import { conform } from '../cli/in-process.ts'
import { failed, missed, report, result } from './results.ts'

const at = folder()
const path = (name: string) => join(at, name)
const should: RequirementResult = { ...failed('a.b/5'), level: 'should' }

function write(
  name: string,
  rows: RequirementResult[],
  edit: (of: Report) => void = () => undefined,
): string {
  const whole = report(rows, { startedAt: `2026-0${name[0]}-01T00:00:00Z` })
  edit(whole)
  writeFileSync(path(name), JSON.stringify(whole))
  return path(name)
}

const march = write('3.json', [
  result('a.b/1'),
  failed('a.b/2'),
  result('a.b/3'),
  missed('a.b/4'),
  result('a.b/5'),
])
const april = write('4.json', [
  failed('a.b/1'),
  failed('a.b/2'),
  missed('a.b/3'),
  result('a.b/4'),
  should,
])
const may = write('5.json', [
  result('a.b/1'),
  failed('a.b/2'),
  result('a.b/3'),
  result('a.b/4'),
  should,
])
const june = write(
  '6.json',
  [result('a.b/1'), result('a.b/2')],
  (of) => void (of.suite.version = '0.2.0'),
)

const compare = (...args: string[]) => conform(['compare', ...args])

test('--fail-on-new ends with 1 if a must is newly failing in the last report', async () => {
  const fresh = await compare(march, april, '--fail-on-new')
  expect(fresh.code).toBe(1)
  expect(fresh.stdout.trimEnd().split('\n').at(-1)).toBe(
    'exit 1: 1 must is newly failing in the last report: a.b/1',
  )
  // In order of time, whatever the order given.
  expect((await compare(april, march, '--fail-on-new')).code).toBe(1)
  const mended = await compare(march, april, may, '--fail-on-new')
  expect(mended.code).toBe(0)
  expect(mended.stdout.trimEnd().split('\n').at(-1)).toBe('exit 0: no must is newly failing')
  expect((await compare(march, april)).code).toBe(0)
  expect(await compare(march, '--fail-on-new')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^conform: --fail-on-new: give two reports or more/),
  })
})

test('JSON and Markdown go to files, or one of them to stdout', async () => {
  const { stderr, stdout } = await compare(
    march,
    april,
    '--report',
    'json=-',
    '--report',
    `markdown=${path('new/c.md')}`,
  )
  expect(stderr).toContain('over time')
  const comparison = JSON.parse(stdout) as {
    format: string
    newlyFailingMusts: string[]
    rows: unknown[]
  }
  expect(comparison).toMatchObject({
    format: 'conformance-comparison/1',
    of: 'time',
    newlyFailingMusts: ['a.b/1'],
    notes: [],
  })
  expect(comparison.rows).toHaveLength(5)
  await compare(march, april, '--report', `html=${path('c.html')}`)
  expect(readFileSync(path('c.html'), 'utf8')).toContain('that fail or differ')
  const text = readFileSync(path('new/c.md'), 'utf8')
  const tables = lexer(text).flatMap((token) => (token.type === 'table' ? [token] : []))
  expect(tables[0]!.rows).toHaveLength(2)
  expect(tables[1]!.rows.map((row: { text: string }[]) => row.map((cell) => cell.text))).toEqual([
    ['`a.b/1`', 'must', 'passed', 'failed', 'newly failing'],
    ['`a.b/2`', 'must', 'failed', 'failed', ''],
    ['`a.b/5`', 'should', 'passed', 'failed', 'newly failing'],
    ['`a.b/3`', 'must', 'passed', 'not tested', 'newly not tested'],
    ['`a.b/4`', 'must', 'not tested', 'passed', 'newly passing'],
  ])
})

test('what is the same as before is not repeated on the terminal', async () => {
  const { stdout } = await compare(march, april, may)
  expect(stdout).toMatch(/Mended since: 1\n {2}a\.b +1 +1\n/)
  expect(stdout).toMatch(/Still failing: 2\n {2}a\.b +2 +2, 5 \(should\)\n/)
  expect(stdout).not.toContain('Broken since')
})

test('differing versions of the suite are named everywhere', async () => {
  const sentence =
    /different versions of the suite judged: 0\.1\.0 \(report 1\), 0\.2\.0 \(report 2\)/
  const files = [
    '--report',
    `json=${path('v.json')}`,
    '--report',
    `markdown=${path('v.md')}`,
    '--report',
    `html=${path('v.html')}`,
  ]
  const { stdout } = await compare(may, june, ...files)
  expect(stdout).toMatch(sentence)
  for (const name of ['v.json', 'v.md', 'v.html'])
    expect(readFileSync(path(name), 'utf8')).toMatch(sentence)
  expect((await compare(march, april)).stdout).not.toMatch(/different versions/)
  const other = write(
    '7.json',
    [result('a.b/1')],
    (of) => void (of.suite.requirementsDigest = `sha256:${'0'.repeat(64)}`),
  )
  expect((await compare(march, other)).stdout).toMatch(/the reports are of different requirements/)
})

test.each([
  [['--report', 'pdf'], '--report pdf: pdf is not a format here (html, markdown, json)'],
  [['--report', 'json='], '--report json=: give a path after ='],
  [['--report', 'json=-', '--report', 'markdown=-'], 'stdout (-) is taken by --report json=-'],
  [['--report', `json=${march}`], 'would overwrite'],
  [['--report', `html=${march}`], 'would overwrite'],
  [['--report', `html=${march}/x`], 'cannot be written'],
])('%s is refused', async (args, message) => {
  const before = readFileSync(march, 'utf8')
  const { code, stdout, stderr } = await compare(march, april, ...args)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(message)
  expect(readFileSync(march, 'utf8')).toBe(before)
})
