import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { decidingRequirements, decide, inconsistencies } from '../../harness/report/exit-code.ts'
import { leftOut } from '../../harness/report/reason.ts'
import { summarize, verdictOf } from '../../harness/report/verdict.ts'
import { matchesId, patternProblem } from '../../harness/report/selection.ts'
import { failed, missed, notApplicable, report, result } from './results.ts'
import type { Report } from '../../harness/report/report-schema.ts'

const run = { only: [], skip: [], readOnly: false, interrupted: false }
const shouldFail = { ...failed('envelope/content-type'), level: 'should' as const }

test('conformant: every must passed or is not applicable, whatever the recommendations say', () => {
  const rows = [result('jobs.create/202-created'), notApplicable('pdf.parse/200-text'), shouldFail]
  expect(verdictOf(rows, run)).toBe('conformant')
})

test('passing: none failed, some were not exercised or left out', () => {
  const done = result('jobs.create/202-created')
  expect(verdictOf([done, missed('jobs.create/409-atomic')], run)).toBe('passing')
  expect(verdictOf([done, missed('jobs.create/409-atomic', leftOut('--skip'))], run)).toBe(
    'passing',
  )
})

test('a should that was not exercised does not stand in the way of conformant', () => {
  const should = { ...missed('jobs.retrieve/200-outcome'), level: 'should' as const }
  expect(verdictOf([result('jobs.create/202-created'), should], run)).toBe('conformant')
})

test('non-conformant: a must failed', () => {
  expect(verdictOf([failed('jobs.create/202-created'), missed('a.b/c')], run)).toBe(
    'non-conformant',
  )
})

test('not-judged: nothing outside envelope/ passed or failed', () => {
  expect(verdictOf([], run)).toBe('not-judged')
  const rows = [
    missed('jobs.create/202-created'),
    notApplicable('pdf.parse/200-text'),
    failed('envelope/shape'),
  ]
  expect(verdictOf(rows, run)).toBe('not-judged')
})

test('not-judged: the key is not accepted, whatever else was learned', () => {
  expect(verdictOf([result('jobs.create/202-created')], { ...run, keyRefused: true })).toBe(
    'not-judged',
  )
})

test('with nothing but envelope/ selected, its rows are what counts', () => {
  const rows = [missed('jobs.create/202-created', leftOut('--only')), result('envelope/shape')]
  expect(verdictOf(rows, { ...run, only: ['envelope/*'] })).toBe('passing')
  expect(verdictOf(rows, { ...run, skip: ['jobs.*'] })).toBe('passing')
  expect(verdictOf(rows, { ...run, only: ['jobs.*', 'envelope/*'] })).toBe('not-judged')
})

test('a read-only or interrupted run is never conformant', () => {
  const rows = [result('jobs.create/202-created')]
  expect(verdictOf(rows, { ...run, readOnly: true })).toBe('passing')
  expect(verdictOf(rows, { ...run, interrupted: true })).toBe('passing')
  expect(verdictOf([failed('a.b/c')], { ...run, interrupted: true })).toBe('non-conformant')
})

test('the summary counts by level and outcome', () => {
  expect(
    summarize([
      result('a.b/c'),
      failed('a.b/d'),
      missed('a.b/e'),
      notApplicable('a.b/f'),
      shouldFail,
    ]),
  ).toEqual({
    must: { passed: 1, failed: 1, notExercised: 1, notApplicable: 1 },
    should: { passed: 0, failed: 1, notExercised: 0, notApplicable: 0 },
  })
})

test('exit code: 3 before 1 before 0', () => {
  expect(decide(report([result('a.b/c')])).code).toBe(0)
  expect(decide(report([failed('a.b/c')])).code).toBe(1)
  expect(decide(report([missed('a.b/c')])).code).toBe(3)
  expect(decide(report([missed('a.b/c'), failed('envelope/shape')])).code).toBe(3)
  expect(decide(report([failed('a.b/c')], { interrupted: true })).code).toBe(3)
})

test('a failed should decides under --strict only', () => {
  expect(decide(report([result('a.b/c'), shouldFail])).code).toBe(0)
  expect(decide(report([result('a.b/c'), shouldFail], { strict: true })).code).toBe(1)
})

test('--require-exercised counts a must that was not exercised, but not what was left out', () => {
  const options = { requireExercised: true }
  expect(decide(report([result('a.b/c'), missed('a.b/d')]), options).code).toBe(1)
  expect(
    decide(report([result('a.b/c'), missed('a.b/d', leftOut('--read-only'))]), options).code,
  ).toBe(0)
  expect(decide(report([result('a.b/c'), notApplicable('a.b/d')]), options).code).toBe(0)
  expect(
    decidingRequirements(report([result('a.b/c'), missed('a.b/d')]), options).map((row) => row.id),
  ).toEqual(['a.b/d'])
})

test('expected failures do not decide, stale entries do', () => {
  const baseline = { file: 'b.json', expected: ['a.b/c'], stale: [], notExercised: [] }
  expect(decide(report([failed('a.b/c')], { baseline })).code).toBe(0)
  expect(decide(report([failed('a.b/c'), failed('a.b/d')], { baseline })).code).toBe(1)
  const stale = [{ id: 'a.b/e', why: 'it passed' }]
  expect(decide(report([failed('a.b/c')], { baseline: { ...baseline, stale } })).code).toBe(1)
})

test('patterns: * matches any characters, everything else itself', () => {
  expect(matchesId('jobs.create/409-atomic', '*/409-*')).toBe(true)
  expect(matchesId('jobs.create/409-atomic', 'jobs.create/*')).toBe(true)
  expect(matchesId('jobsxcreate/409-atomic', 'jobs.create/*')).toBe(false)
  expect(matchesId('jobs.create/409-atomic', 'jobs.create')).toBe(false)
  expect(matchesId('jobs.create/409-atomic', '**409**')).toBe(true)
  expect(matchesId('aabab', '*ab*ab')).toBe(true)
  expect(matchesId('aabab', '*aab*ab*ab')).toBe(false)
  expect(matchesId('a*b', 'a*')).toBe(true)
  expect(matchesId('', '*')).toBe(true)
})

test('patterns: as a regular expression that is anchored and whose stars match anything', () => {
  const word = (unit: string) => fc.string({ unit: fc.constantFrom(...unit), maxLength: 12 })
  fc.assert(
    fc.property(word('ab'), word('ab**'), (id, pattern) => {
      expect(matchesId(id, pattern)).toBe(new RegExp(`^${pattern.replace(/\*+/g, '.*')}$`).test(id))
    }),
    { seed: 3, numRuns: 500 },
  )
})

test('patterns: text between two stars is searched once, whatever the id', () => {
  const looks = vi.spyOn(String.prototype, 'indexOf')
  const isMatch = matchesId('a'.repeat(250), `${'*a'.repeat(126)}*b*`)
  const times = looks.mock.calls.length
  looks.mockRestore()
  expect([isMatch, times]).toEqual([false, 127])
  expect(matchesId('a'.repeat(300), '*'.repeat(3000))).toBe(false)
  expect(patternProblem('*'.repeat(3000))).toBe(
    'a pattern has at most 256 characters; this one has 3000',
  )
})

const whole = report([result('a.b/1'), result('a.b/2', { level: 'should' }), missed('a.b/3')])

test('a report as it was written agrees with itself', () => {
  expect(inconsistencies(whole)).toEqual([])
  expect(inconsistencies(report([failed('a.b/1')]))).toEqual([])
})

test.each<[string, (report: Report) => void]>([
  ['verdict is conformant, but its', (r) => void (r.verdict = 'conformant')],
  ['summary.must does not', (r) => void (r.summary.must.passed = 9)],
  ['summary.should does not', (r) => void (r.summary.should.passed = 9)],
  [
    'a.b/1 is passed, with 1 failures',
    (r) => r.requirements[0]!.failures.push(failed('x').failures[0]!),
  ],
  ['a.b/1 is failed, with 0 failures', (r) => void (r.requirements[0]!.outcome = 'failed')],
  ['a.b/1 is listed twice', (r) => r.requirements.push(r.requirements[0]!)],
  ['verdict is passing', (r) => r.requirements.splice(0)],
])('a changed report is reported by: %s', (sentence, change) => {
  const changed = structuredClone(whole)
  change(changed)
  expect(inconsistencies(changed).join('\n')).toContain(sentence)
})
