import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folder } from '../cli/conform.ts'
import {
  type BaselineEntry,
  heldEntries,
  holdAgainst,
  parseBaseline,
  readBaseline,
  readBaselineOrNone,
  updateBaseline,
  isExpectedFailure,
  foreignBaseline,
} from '../../harness/report/baseline.ts'
import { decide, applyGates } from '../../harness/report/exit-code.ts'
import { UserError } from '../../harness/user-error.ts'
import { renderHtml } from '../../reporters/html.ts'
import { renderJunit } from '../../reporters/junit.ts'
import { renderMarkdown } from '../../reporters/markdown.ts'
import { joined } from '../reporters/sample-exchanges.ts'
import { failed, missed, notApplicable, report, result, failure } from './results.ts'
import { responseOf } from '../../harness/report/verdict.ts'
import type { Failure, RequirementResult } from '../../harness/report/report-schema.ts'

const noon = new Date('2027-01-31T12:00:00Z')
const of = (...entries: BaselineEntry[]) => ({ file: 'b.json', entries })
const parse = (value: unknown) => parseBaseline(JSON.stringify(value), 'b.json', 'exact')

test('each entry is expected, stale or only named', () => {
  const baseline = of(
    { id: 'a.b/1' },
    { id: 'a.b/2' },
    { id: 'a.b/3' },
    { id: 'a.b/4' },
    { id: 'a.b/5' },
  )
  const rows = [failed('a.b/1'), result('a.b/2'), missed('a.b/3'), notApplicable('a.b/4')]
  expect(holdAgainst(baseline, rows, 'exact', noon)).toEqual({
    file: 'b.json',
    expected: ['a.b/1'],
    stale: [
      { id: 'a.b/2', why: 'it passed' },
      { id: 'a.b/5', why: 'no requirement has this id' },
    ],
    notExercised: ['a.b/3', 'a.b/4'],
  })
})

test('until is the last day that counts, in UTC', () => {
  const baseline = of({ id: 'a.b/1', until: '2027-01-31' })
  const at = (time: string) => holdAgainst(baseline, [failed('a.b/1')], 'exact', new Date(time))
  expect(at('2027-01-31T23:59:59.999Z').expected).toEqual(['a.b/1'])
  expect(at('2027-02-01T00:00:00Z').stale).toEqual([
    { id: 'a.b/1', why: 'expected until 2027-01-31' },
  ])
  expect(heldEntries(baseline, new Date('2027-02-01T00:00:00Z'))).toEqual([])
})

test('a failure that is only a family name is no failure of a family run', () => {
  const rows = [failed('a.b/1', { familyOnly: true })]
  expect(holdAgainst(of({ id: 'a.b/1' }), rows, 'exact', noon).expected).toEqual(['a.b/1'])
  expect(holdAgainst(of({ id: 'a.b/1' }), rows, 'family', noon).stale).toEqual([
    { id: 'a.b/1', why: 'it passed' },
  ])
})

test('a report serves as a baseline: what fails in the mode asked for is expected', () => {
  const text = JSON.stringify(
    report([failed('a.b/1'), failed('a.b/2', { familyOnly: true }), result('a.b/3')]),
  )
  const ids = (mode: 'exact' | 'family') =>
    parseBaseline(text, 'r.json', mode).entries.map((entry) => entry.id)
  expect(ids('exact')).toEqual(['a.b/1', 'a.b/2'])
  expect(ids('family')).toEqual(['a.b/1'])
})

test('a file is read from disk', () => {
  const file = join(folder(), 'baseline.json')
  writeFileSync(file, '{"expected": [{"id": "a.b/1", "reason": "known", "until": "2027-01-31"}]}')
  expect(readBaseline(file, 'exact')).toEqual({
    file,
    entries: [{ id: 'a.b/1', reason: 'known', until: '2027-01-31' }],
  })
})

test.each([
  ['[]', 'b.json: a baseline is a report or'],
  ['{', 'b.json: is not JSON'],
  ['{}', 'b.json: expected: must be an array'],
  ['{"expects": []}', 'b.json: unknown member "expects"; known are $schema, expected'],
  ['{"expected": [1]}', 'b.json: expected[0]: must be an object'],
  ['{"expected": [{"reason": "x"}]}', 'b.json: expected[0].id'],
  ['{"expected": [{"id": "a", "why": "x"}]}', 'b.json: expected[0]: unknown member "why"'],
  ['{"expected": [{"id": "a", "reason": 1}]}', 'b.json: expected[0].reason'],
  ['{"expected": [{"id": "a", "until": "2027-02-30"}]}', 'b.json: expected[0].until'],
  ['{"expected": [{"id": "a", "until": "31.1.2027"}]}', 'b.json: expected[0].until'],
  ['{"expected": [{"id": "a"}, {"id": "a"}]}', 'b.json: expected[1].id: a is in it twice'],
  ['{"format": "other/1"}', 'b.json: is not a report'],
  [
    '{"format": "conformance-report/1", "requirements": [{}]}',
    'b.json: is not a valid report: suite is missing',
  ],
])('a bad file is one sentence that names the place: %s', (text, message) => {
  expect(() => parseBaseline(text, 'b.json', 'exact')).toThrow(UserError)
  expect(() => parseBaseline(text, 'b.json', 'exact')).toThrow(message)
})

test('a file that is not there is a mistake of the user', () => {
  expect(() => readBaseline('/nowhere/b.json', 'exact')).toThrow(
    /\/nowhere\/b\.json: does not exist/,
  )
  expect(readBaselineOrNone('/nowhere/b.json', 'exact').entries).toEqual([])
})

test('an update keeps what remains, takes in new failures, drops what passed, and says so', () => {
  const old = of(
    { id: 'a.b/1', reason: 'ticket 7', until: '2027-01-30' },
    { id: 'a.b/2', reason: 'mended by now' },
    { id: 'a.b/3', reason: 'not seen today' },
    { id: 'a.b/9', reason: 'gone' },
  )
  const rows = [failed('a.b/1'), result('a.b/2'), missed('a.b/3'), failed('a.b/4')]
  const { baseline, text, difference } = updateBaseline(old, report(rows), noon)
  expect(baseline.entries).toEqual([
    {
      id: 'a.b/1',
      reason: 'ticket 7',
      until: '2027-01-30',
      was: [{ status: 404, tpe: 'NotFound' }],
    },
    { id: 'a.b/3', reason: 'not seen today' },
    { id: 'a.b/4', was: [{ status: 404, tpe: 'NotFound' }] },
  ])
  expect(parseBaseline(text, 'b.json', 'exact')).toEqual(baseline)
  expect(difference).toEqual([
    '+ a.b/4: expected 404 ResourceNotFound, received 404 NotFound',
    '- a.b/2: passed',
    '- a.b/9: unknown',
    '~ a.b/1: fails with 404 NotFound, which was not recorded yet',
    '! a.b/1: expected until 2027-01-30; mend it, or move the date by hand',
  ])
})

test('after an update the same run exits 0, and a second update changes nothing', () => {
  const rows = [failed('a.b/1'), { ...failed('a.b/2'), level: 'should' as const }, result('a.b/3')]
  const { baseline } = updateBaseline(of({ id: 'a.b/3' }), report(rows), noon)
  const again = report(rows, { baseline: holdAgainst(baseline, rows, 'exact', noon) })
  expect(decide(again).code).toBe(0)
  expect(updateBaseline(baseline, again, noon).difference).toEqual([])
})

test('a failed should is taken in only where it decides', () => {
  const rows = [{ ...failed('a.b/1'), level: 'should' as const }]
  expect(updateBaseline(of(), report(rows), noon).baseline.entries).toEqual([])
  expect(updateBaseline(of(), report(rows, { strict: true }), noon).baseline.entries).toHaveLength(
    1,
  )
})

test('the schema line of a hand-written file is no unknown member', () => {
  expect(parse({ $schema: 'x', expected: [] }).entries).toEqual([])
})

test('why a failure is expected goes with it into every report', async () => {
  const reason = 'the gateway is old'
  const rows = [failed('a.b/1'), result('c.d/1')]
  const held = holdAgainst(of({ id: 'a.b/1', reason }), rows, 'exact', noon)
  expect(held.reasons).toEqual([{ id: 'a.b/1', reason }])
  const whole = report(rows, { baseline: held })
  const html = await joined(renderHtml(whole, []))
  expect(html).toContain(`expected by the baseline: ${reason}`)
  expect(html).toContain(`Expected by the baseline: ${reason}`)
  expect(renderMarkdown(whole)).toContain(reason)
  expect(renderJunit(whole)).toContain(`failed as b.json expects (${reason})`)
})

const now = new Date('2027-01-31T12:00:00Z')
const notFound = [{ status: 404, tpe: 'NotFound' }]

/** A failure that was answered so. */
const answered = (status: number, body: string): Partial<Failure> => {
  const { exchange } = failure()
  return { exchange: { ...exchange!, response: { status, headers: {}, body } } }
}
const crash = answered(500, '{"tpe":"InternalError"}')
const hold = (was: BaselineEntry['was'], row: RequirementResult) =>
  holdAgainst(of({ id: 'a.b/1', ...(was && { was }) }), [row], 'exact', now)

test('a failure as recorded is expected, any other one is not', () => {
  expect(hold(notFound, failed('a.b/1'))).toMatchObject({ expected: ['a.b/1'], stale: [] })
  expect(hold(undefined, failed('a.b/1', crash))).toMatchObject({ expected: ['a.b/1'], stale: [] })
  const why = 'it fails otherwise: 404 NotFound was recorded, 500 InternalError was received'
  expect(hold(notFound, failed('a.b/1', crash))).toMatchObject({
    expected: [],
    stale: [{ id: 'a.b/1', why }],
  })
  expect(hold(notFound, failed('a.b/1', {}, crash)).stale).toHaveLength(1)
  expect(
    hold([...notFound, { status: 500, tpe: 'InternalError' }], failed('a.b/1', crash)).stale,
  ).toEqual([])
})

test('--bail stops at a failure that the baseline expects to be another one', () => {
  const entries = [{ id: 'a.b/1', was: notFound }]
  expect(isExpectedFailure(entries, failed('a.b/1'), 'exact')).toBe(true)
  expect(isExpectedFailure(entries, failed('a.b/1', crash), 'exact')).toBe(false)
  expect(isExpectedFailure(entries, failed('a.b/2'), 'exact')).toBe(false)
})

test('no answer, and an answer without tpe, are answers of their own', () => {
  const silent = failed('a.b/1')
  delete silent.failures[0]!.exchange!.response
  expect(hold([{ status: null }], silent).expected).toEqual(['a.b/1'])
  expect(hold([{ status: null }], failed('a.b/1')).stale[0]!.why).toContain(
    'no answer was recorded',
  )
  expect(hold([{ status: 404 }], failed('a.b/1')).stale[0]!.why).toContain(
    '404 was recorded, 404 NotFound was received',
  )
})

test.each<[string, string | undefined]>([
  ['{"tpe":"A"}', 'A'],
  ['{"tpe":"A","errors":[{"descr', 'A'],
  ['{"errors":[{"tpe":"A"', undefined],
  ['<html>', undefined],
  ['null', undefined],
  ['{"tpe":7}', undefined],
])('the tpe of the body %s is %s', (body, tpe) => {
  expect(responseOf(failure(answered(400, body)))).toEqual({
    status: 400,
    ...(tpe !== undefined && { tpe }),
  })
})

test('in family mode only failures that count in it are compared', () => {
  const row = failed('a.b/1', { familyOnly: true }, crash)
  const entry = of({ id: 'a.b/1', was: [{ status: 500, tpe: 'InternalError' }] })
  expect(holdAgainst(entry, [row], 'family', now).expected).toEqual(['a.b/1'])
  expect(holdAgainst(entry, [row], 'exact', now).stale).toHaveLength(1)
})

test('was is written, read back, and kept as long as it holds', () => {
  const first = updateBaseline(of(), report([failed('a.b/1')]), now)
  expect(JSON.parse(first.text)).toMatchObject({
    expected: [{ id: 'a.b/1', was: { status: 404, tpe: 'NotFound' } }],
  })
  const read = parseBaseline(first.text, 'b.json', 'exact')
  expect(read).toEqual(first.baseline)
  expect(updateBaseline(read, report([failed('a.b/1')]), now).difference).toEqual([])

  const worse = updateBaseline(
    read,
    report([failed('a.b/1', {}, { ...crash, actual: '500' })]),
    now,
  )
  expect(worse.difference).toEqual([
    '~ a.b/1: fails with 404 NotFound or 500 InternalError, no longer with 404 NotFound',
  ])
  expect(parseBaseline(worse.text, 'b.json', 'exact')).toEqual(worse.baseline)
  const by = of({ id: 'a.b/1', reason: 'ticket 7', was: notFound })
  const crashed = report([failed('a.b/1', { ...crash, actual: '500 InternalError' })])
  expect(updateBaseline(by, crashed, now).baseline.entries[0]).toMatchObject({
    reason: 'ticket 7',
    was: [{ status: 500 }],
  })
  // Reasons are people's.
  expect(first.baseline.entries[0]).not.toHaveProperty('reason')
})

test('a report as a baseline gives was from its failures', () => {
  const read = parseBaseline(JSON.stringify(report([failed('a.b/1')])), 'r.json', 'exact')
  expect(read.entries[0]!.was).toEqual(notFound)
  expect(holdAgainst(read, [failed('a.b/1', crash)], 'exact', now).stale).toHaveLength(1)
})

test.each([
  ['{"id": "a", "was": 404}', 'expected[0].was: must be {"status": 404'],
  ['{"id": "a", "was": []}', 'expected[0].was: must name an answer'],
  ['{"id": "a", "was": {"tpe": "X"}}', 'expected[0].was.status: must be'],
  ['{"id": "a", "was": [{"status": 404, "tpe": 1}]}', 'expected[0].was[0].tpe: must be a string'],
  ['{"id": "a", "was": {"status": 404, "code": 1}}', 'expected[0].was: unknown member "code"'],
])('a bad was is one sentence: %s', (entry, message) => {
  expect(() => parseBaseline(`{"expected": [${entry}]}`, 'b.json', 'exact')).toThrow(message)
})

test('a failure that got worse decides the exit code', () => {
  const file = join(folder(), 'b.json')
  writeFileSync(
    file,
    JSON.stringify({ expected: [{ id: 'a.b/1', was: { status: 404, tpe: 'NotFound' } }] }),
  )
  const exit = (row: RequirementResult) =>
    applyGates(report([row, result('a.b/2')]), { baseline: file }, now).exit
  expect(exit(failed('a.b/1'))).toEqual({ code: 0, because: `1 failure, expected by ${file}` })
  expect(exit(failed('a.b/1', crash))).toEqual({
    code: 1,
    because: `1 failure is not as ${file} expects`,
  })
})

test('a report of another target is warned of; the same one, on another port of this machine, is not', () => {
  const whole = report([failed('a.b/1')])
  const { target } = whole
  const by = (change: Partial<typeof target>) => ({ ...of(), of: { ...target, ...change } })
  expect(foreignBaseline(of(), target)).toEqual([])
  expect(foreignBaseline(by({}), target)).toEqual([])
  expect(foreignBaseline(by({ digest: `sha256:${'0'.repeat(64)}` }), target)).toEqual([])
  expect(foreignBaseline(by({ name: 'Other', baseUrl: 'https://other.example' }), target)).toEqual([
    'b.json is a report of another target (Other, https://other.example); its failures are taken as expected for Example, https://example.com',
  ])
  const local = { ...target, baseUrl: 'http://127.0.0.1:4000' }
  expect(foreignBaseline(by({ baseUrl: 'http://127.0.0.1:4001' }), local)).toEqual([])
  expect(
    foreignBaseline(by({ baseUrl: 'http://127.0.0.1:4001', digest: 'x' }), local),
  ).toHaveLength(1)
})
