import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { compareReports, screenOf } from '../../cli/compare.ts'
import type { Report, RequirementResult } from '../../schemas/report.ts'
import { failed, failure, missed, report, result } from '../gates/results.ts'
import { folder } from './conform.ts'
import { conform } from './in-process.ts'

function at(month: number, rows: RequirementResult[], change: Partial<Report> = {}) {
  const startedAt = `2026-0${month}-01T00:00:00Z`
  return { path: `${month}.json`, report: { ...report(rows, { startedAt }), ...change } }
}

function target(name: string, ...rows: RequirementResult[]) {
  const { target: own } = report(rows)
  return at(1, rows, { target: { ...own, name, baseUrl: `https://${name}` } })
}

const should: RequirementResult = { ...failed('a.b/5'), level: 'should' }
const march = at(3, [result('a.b/1'), failed('a.b/2'), result('a.b/3'), failed('c.d/4')])
const april = at(4, [failed('a.b/1'), result('a.b/2'), missed('a.b/3'), failed('c.d/4'), should])

test('reports of one target show what broke and what was fixed between the first and the last', () => {
  const comparison = compareReports([april, march])
  expect(comparison).toMatchObject({ of: 'time', newlyFailing: ['a.b/1'] })
  expect(screenOf(comparison)).toEqual([
    'https://example.com over time',
    '  1  2026-03-01T00:00:00Z  Non-conformant: 2 failed, 2 passed, 0 not tested',
    '  2  2026-04-01T00:00:00Z  Non-conformant: 2 failed, 1 passed, 1 not tested',
    '',
    'Broke: 2',
    '  a.b  2: 1, 5 (recommended)',
    'Fixed: 1',
    '  a.b  1: 2',
    'Still failing: 1',
    '  c.d  1: 4',
    'Passed before, not tested now: 1',
    '  a.b  1: 3',
    '1 of 5 requirements are the same in all',
  ])
  const may = at(5, [result('a.b/1')])
  expect(compareReports([march, april, may]).newlyFailing).toEqual([])
})

test('reports of several targets show how many failures each has in each operation, and their likely causes', () => {
  const many = Array.from({ length: 60 }, (_, n) => `a.b/${n}`)
  const { request, curl } = failure().exchange!
  const comparison = compareReports([
    target('z', ...many.map((id) => failed(id, { exchange: { request, curl } }))),
    target('a', ...many.map((id) => result(id)), result('c.d/1')),
  ])
  expect(comparison).toMatchObject({ of: 'targets', reports: [{ name: 'z' }, { name: 'a' }] })
  const lines = screenOf(comparison)
  expect(lines).toContain('  a.b  1 fails 60, 2 passes')
  expect(lines.join('\n')).toMatch(/^ {2}likely cause of 60 in 1: no complete answer came$/m)
  expect(lines.at(-1)).toBe('0 of 61 requirements are the same in all')
})

test('a comparison fits one screen, however much has changed', () => {
  const outcomes = [failed, result, missed]
  const ids = Array.from({ length: 240 }, (_, n) => `operation-${n % 12}.run/4${n}-some-condition`)
  const rows = (turn: (n: number) => number) => ids.map((id, n) => outcomes[turn(n) % 3]!(id))
  const [first, second] = [rows((n) => n), rows((n) => Math.floor(n / 3))]
  const lines = screenOf(compareReports([at(1, first), at(2, second)]))
  expect(lines.length).toBeLessThan(40)
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80)
})

describe('the command', () => {
  const cwd = folder()
  for (const { path, report: of } of [march, april])
    writeFileSync(join(cwd, path), JSON.stringify(of))
  const compare = (args: string) => conform(`compare ${args}`, { cwd })

  test('--fail-on-new ends with 1 if a must newly fails', async () => {
    const fresh = await compare('4.json 3.json --fail-on-new')
    expect(fresh).toMatchObject({ code: 1 })
    expect(fresh.stdout).toMatch(/\nexit 1: newly failing: a\.b\/1\n$/)
    const nine = at(
      6,
      [...'123456789'].map((n) => failed(`a.b/${n}`)),
    ).report
    writeFileSync(join(cwd, 'nine.json'), JSON.stringify(nine))
    const many = await compare('4.json nine.json --fail-on-new')
    expect(many.stdout).toMatch(/newly failing: (a\.b\/\d, ){5}and \d more \(--report json\)\n$/)
    expect(await compare('3.json 3.json --fail-on-new')).toMatchObject({ code: 0 })
    expect(await compare('3.json 4.json')).toMatchObject({ code: 0 })
    expect(await compare('3.json --fail-on-new')).toMatchObject({ code: 2 })
  })

  test('a comparison is written as JSON and Markdown to files, or one of them to stdout', async () => {
    const reports = '--report json=- --report markdown=new/c.md'
    const { stderr, stdout } = await compare(`3.json 4.json ${reports}`)
    expect(stderr).toContain('over time')
    expect(stderr).toMatch(/\nreport new\/c\.md\n$/)
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ format: 'conformance-comparison/1', newlyFailing: ['a.b/1'] },
      requirements: { length: 5 },
    })
    expect(readFileSync(join(cwd, 'new/c.md'), 'utf8')).toContain('Broke: 2\n')
  })

  test.each([
    ['--report html', 'html is not a format here'],
    ['--report json=3.json', 'would overwrite'],
    ['--report json=3.json/x', 'cannot be written'],
  ])('compare %s is refused', async (args, message) => {
    const { code, stdout, stderr } = await compare(`3.json 4.json ${args}`)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
  })

  test('compare says what differs in how the reports were made', async () => {
    const { suite, run } = march.report
    const other = at(6, [], {
      suite: { ...suite, version: '9.9.9', requirementsDigest: `sha256:${'0'.repeat(64)}` },
      run: { ...run, tpe: 'family' },
    })
    const text = screenOf(compareReports([march, other])).join('\n')
    expect(text).toMatch(/^different versions of the suite judged \(\S+, 9\.9\.9\)/m)
    expect(text).toMatch(/^the reports judged code names differently/m)
  })
})
