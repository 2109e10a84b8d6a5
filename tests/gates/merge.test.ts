import { expect, test } from 'vitest'
import type { Report, RequirementResult } from '../../harness/report/report-schema.ts'
import { validate } from '../../schemas/validate.ts'
import { inconsistencies, decide } from '../../harness/report/exit-code.ts'
import { leftOut } from '../../harness/report/reason.ts'
import { mergeReports } from '../../harness/report/merge.ts'
import { UserError } from '../../harness/user-error.ts'
import { failed, failure, missed, notApplicable, report, result } from './results.ts'
import { isAssignedTo, isObserved, parseShard, shardOf } from '../../harness/report/selection.ts'
import { catalogue } from '../../catalogue/catalogue.ts'
import { operations } from '../../catalogue/operations.ts'

const elsewhere = (id: string) => missed(id, leftOut('--shard'))
const shape = (change: Partial<RequirementResult> = {}) => result('envelope/shape', change)

const one = (rows: RequirementResult[], run: Partial<Report['run']> = {}) => ({
  path: 'one.json',
  report: report(rows, { shard: '1/2', ...run }),
})
const two = (rows: RequirementResult[], run: Partial<Report['run']> = {}) => ({
  path: 'two.json',
  report: report(rows, { shard: '2/2', ...run }),
})

const first = one([result('a.b/1'), elsewhere('c.d/2'), shape({ cases: 3 })])
const second = two([elsewhere('a.b/1'), failed('c.d/2'), shape({ cases: 4 })])

test('each requirement comes from the shard it was dealt to', () => {
  const merged = mergeReports([second, first])
  expect(merged.requirements.map(({ id, outcome }) => [id, outcome])).toEqual([
    ['a.b/1', 'passed'],
    ['c.d/2', 'failed'],
    ['envelope/shape', 'passed'],
  ])
  expect(merged.verdict).toBe('non-conformant')
  expect(merged.summary.must).toEqual({ passed: 2, failed: 1, notExercised: 0, notApplicable: 0 })
  expect(merged.run.shard).toBeNull()
  expect(validate('report', merged)).toEqual({ valid: true })
  expect(inconsistencies(merged)).toEqual([])
  expect(decide(merged).code).toBe(1)
})

test('counts are summed, the earliest start stands, created objects are all listed', () => {
  const created = [{ operation: 'graphs.create', id: 'g-1' }]
  const merged = mergeReports([
    one(first.report.requirements, {
      requests: 10,
      throttled: 2,
      durationMs: 50,
      nonce: 'aaaa',
      created,
    }),
    two(second.report.requirements, {
      requests: 7,
      nonce: 'bbbb',
      startedAt: '2026-03-01T11:00:00+02:00',
      created,
    }),
  ])
  expect(merged.run).toMatchObject({
    requests: 17,
    throttled: 3,
    durationMs: 1250,
    nonce: 'aaaa+bbbb',
  })
  expect(merged.run.startedAt).toBe('2026-03-01T11:00:00+02:00')
  expect(merged.run.created).toEqual([...created, ...created])
  expect(merged.requirements[2]!.cases).toBe(7)
})

test('an observed row failed if in any, else passed if in any, else was not exercised', () => {
  const rest = [result('a.b/1')]
  const joined = (left: RequirementResult, right: RequirementResult) =>
    mergeReports([one([...rest, left]), two([elsewhere('a.b/1'), right])]).requirements[1]!
  const broken = shape({ outcome: 'failed', failures: [failure()] })
  const unseen = missed('envelope/shape', 'no error response was seen')
  expect(joined(broken, shape()).outcome).toBe('failed')
  expect(joined(unseen, broken).failures).toHaveLength(1)
  expect(joined(broken, broken).failures).toHaveLength(2)
  expect(joined(unseen, shape())).toMatchObject({ outcome: 'passed' })
  expect(joined(unseen, shape())).not.toHaveProperty('reason')
  expect(joined(unseen, unseen)).toMatchObject({
    outcome: 'not-exercised',
    reason: 'no error response was seen',
  })
})

test('interrupted if any was, and then exit 3', () => {
  const merged = mergeReports([first, two(second.report.requirements, { interrupted: true })])
  expect(merged.run.interrupted).toBe(true)
  expect(decide(merged).code).toBe(3)
})

test('what the target file alone decides may stand in several shards', () => {
  const same = notApplicable('a.b/1', 'not served')
  const merged = mergeReports([one([same, result('c.d/2')]), two([same, elsewhere('c.d/2')])])
  expect(merged.requirements[0]).toEqual(same)
  expect(merged.verdict).toBe('conformant')
})

test('an empty shard adds nothing and takes nothing', () => {
  const merged = mergeReports([
    one([result('a.b/1'), shape()]),
    two([elsewhere('a.b/1'), elsewhere('envelope/shape')]),
  ])
  expect(merged.verdict).toBe('conformant')
})

test('one shard of one is merged too', () => {
  const only = { path: 'r.json', report: report([result('a.b/1')], { shard: '1/1' }) }
  expect(mergeReports([only]).verdict).toBe('conformant')
})

const change = (edit: (report: Report) => void) => {
  const report = structuredClone(second.report)
  edit(report)
  return { path: 'two.json', report }
}

test.each<[string, (report: Report) => void]>([
  ['run.seed', (r) => void (r.run.seed = 7)],
  ['run.runs', (r) => void (r.run.runs = 7)],
  ['run.strict', (r) => void (r.run.strict = true)],
  ['run.readOnly', (r) => void (r.run.readOnly = true)],
  ['run.tpe', (r) => void (r.run.tpe = 'family')],
  ['run.only', (r) => void (r.run.only = ['a*'])],
  ['run.skip', (r) => void (r.run.skip = ['a*'])],
  ['run.insecure', (r) => void (r.run.insecure = true)],
  ['target.baseUrl', (r) => void (r.target.baseUrl = 'https://other.example')],
  ['target.digest', (r) => void (r.target.digest = 'sha256:0')],
  ['suite.version', (r) => void (r.suite.version = '9.9.9')],
  ['suite.requirementsDigest', (r) => void (r.suite.requirementsDigest = 'sha256:0')],
])('parts that differ in %s are refused', (name, edit) => {
  expect(() => mergeReports([first, change(edit)])).toThrow(UserError)
  expect(() => mergeReports([first, change(edit)])).toThrow(`two.json: ${name} is `)
})

test.each([
  ['nothing', [], 'there is no report to merge'],
  ['a missing part', [second], 'part 1/2 is missing; merge needs the reports of all 2 shards'],
  [
    'a doubled part',
    [first, { ...first, path: 'copy.json' }],
    'copy.json: is part 1/2, and so is one.json',
  ],
  [
    'another count',
    [first, { path: 'x.json', report: report([], { shard: '2/3' }) }],
    'x.json: is part 2/3, but one.json',
  ],
  ['no shard', [{ path: 'x.json', report: report([]) }], 'x.json: is not a shard'],
  [
    'a strange shard',
    [{ path: 'x.json', report: report([], { shard: '3' }) }],
    'x.json: run.shard: "3"',
  ],
  [
    'a row judged twice',
    [first, two([result('a.b/1'), elsewhere('c.d/2'), shape()])],
    'a.b/1: judged in one.json and',
  ],
  [
    'a row judged nowhere',
    [first, two(first.report.requirements.map((r) => elsewhere(r.id)))],
    'c.d/2: no shard',
  ],
  [
    'a row that is missing',
    [first, two([elsewhere('a.b/1')])],
    'two.json: requirements: c.d/2 is missing',
  ],
])('%s is refused', (_, files, message) => {
  expect(() => mergeReports(files)).toThrow(message)
})

const areas = [...operations.map((operation) => operation.id), 'guardrails', 'general']
const none = new Set<string>()

test('a part is read, anything else is refused', () => {
  expect(parseShard('2/3')).toEqual({ index: 2, count: 3 })
  for (const text of ['0/3', '4/3', '1', '1/0', 'a/b', '1/3/4', ' 1/3', '01/3']) {
    expect(() => parseShard(text), text).toThrow(/give the part/)
  }
})

test('whatever the count, every requirement is dealt to exactly one shard', () => {
  for (const count of [1, 2, 3, 7]) {
    for (const area of areas) {
      const row = { id: `${area}/x`, operation: area }
      const shards = Array.from({ length: count }, (_, at) =>
        isAssignedTo(row, { index: at + 1, count }, none),
      )
      expect(shards.filter(Boolean), `${area} of ${count}`).toHaveLength(1)
    }
  }
})

test('all of jobs is one group, and the deal is the same on every machine', () => {
  expect(shardOf('jobs.create/a', 'jobs.create', 5, none)).toBe(
    shardOf('jobs.retrieve/b', 'jobs.retrieve', 5, none),
  )
  const some = ['jobs.create', 'pdf.parse', 'chat.create', 'files.list', 'guardrails', 'general']
  expect(some.map((area) => shardOf(`${area}/x`, area, 3, none))).toEqual([3, 2, 1, 2, 1, 3])
})

// Another operation may well make one of them larger than others; if it is by half, SALT has to be chosen anew.
test('two to five shards are nearly even', () => {
  for (const count of [2, 3, 4, 5]) {
    const sizes = Array.from({ length: count }, () => 0)
    for (const { id, operation } of catalogue) sizes[shardOf(id, operation, count, none) - 1]! += 1
    expect(Math.max(...sizes) / (catalogue.length / count), sizes.join(' ')).toBeLessThan(1.5)
  }
})

test('what runs alone and the active envelope rows are in the last shard, the observed ones in all', () => {
  expect(
    shardOf(
      'chat.create/429-model-quota',
      'chat.create',
      9,
      new Set(['chat.create/429-model-quota']),
    ),
  ).toBe(9)
  expect(shardOf('envelope/unknown-path', 'envelope', 9, none)).toBe(9)
  expect(shardOf('envelope/unsupported-method', 'envelope', 9, none)).toBe(9)
  expect(isObserved('envelope/shape')).toBe(true)
  expect(
    isAssignedTo({ id: 'envelope/shape', operation: 'envelope' }, { index: 4, count: 9 }, none),
  ).toBe(true)
})
