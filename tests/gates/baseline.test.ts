import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folder } from '../cli/conform.ts'
import {
  type BaselineEntry,
  foreignBaseline,
  heldEntries,
  holdAgainst,
  isExpectedFailure,
  parseBaseline,
  readBaseline,
  readBaselineOrNone,
  updateBaseline,
} from '../../harness/report/baseline.ts'
import { applyGates, decide } from '../../harness/report/exit-code.ts'
import type { Failure, RequirementResult } from '../../harness/report/report-schema.ts'
import { responseOf } from '../../harness/report/verdict.ts'
import { UserError } from '../../harness/user-error.ts'
import { renderHtml } from '../../reporters/html.ts'
import { renderJunit } from '../../reporters/junit.ts'
import { renderMarkdown } from '../../reporters/markdown.ts'
import { joined } from '../reporters/sample-exchanges.ts'
import { failed, failure, missed, notApplicable, report, result } from './results.ts'

const noon = new Date('2027-01-31T12:00:00Z')
const of = (...entries: BaselineEntry[]) => ({ file: 'b.json', entries })
const id = 'a.b/1'
const notFound = [{ status: 404, tpe: 'NotFound' }]
/** A failure that was answered so. */
const answered = (status: number, body: string): Partial<Failure> => {
  const { exchange } = failure()
  return { exchange: { ...exchange!, response: { status, headers: {}, body } } }
}
const crash = answered(500, '{"tpe":"InternalError"}')
const silent = failed(id)
delete silent.failures[0]!.exchange!.response

const otherwise = (was: string, received: string): string =>
  `it fails otherwise: ${was} was recorded, ${received} was received`
test.each<[Omit<BaselineEntry, 'id'>, RequirementResult, string]>([
  [{}, failed(id), 'expected'],
  [{}, failed(id, crash), 'expected'],
  [{}, result(id), 'it passed'],
  [{}, missed(id), 'not exercised'],
  [{}, notApplicable(id), 'not exercised'],
  [{}, result('a.b/2'), 'no requirement has this id'],
  [{ flaky: true }, result(id), 'nothing'],
  [{ flaky: true }, failed(id), 'expected'],
  [{ flaky: true, until: '2027-01-30' }, result(id), 'expected until 2027-01-30'],
  [
    { flaky: true, was: notFound },
    failed(id, crash),
    otherwise('404 NotFound', '500 InternalError'),
  ],
  [{ until: '2027-01-31' }, failed(id), 'expected'],
  [{ until: '2027-01-30' }, failed(id), 'expected until 2027-01-30'],
  [{ was: notFound }, failed(id), 'expected'],
  [{ was: notFound }, failed(id, crash), otherwise('404 NotFound', '500 InternalError')],
  [{ was: notFound }, failed(id, {}, crash), otherwise('404 NotFound', '500 InternalError')],
  [
    { was: [...notFound, { status: 500, tpe: 'InternalError' }] },
    failed(id, {}, crash),
    'expected',
  ],
  [{ was: [{ status: null }] }, silent, 'expected'],
  [{ was: [{ status: null }] }, failed(id), otherwise('no answer', '404 NotFound')],
  [{ was: [{ status: 404 }] }, failed(id), otherwise('404', '404 NotFound')],
])('%j and %j: %s', (entry, row, outcome) => {
  const held = holdAgainst(of({ id, ...entry }), [row], noon)
  const found = [
    ...held.expected.map(() => 'expected'),
    ...held.notExercised.map(() => 'not exercised'),
    ...held.stale.map(({ why }) => why),
  ]
  expect(found).toEqual(outcome === 'nothing' ? [] : [outcome])
})

test('until is the last day that counts, in UTC', () => {
  const baseline = of({ id, until: '2027-01-31' })
  expect(heldEntries(baseline, new Date('2027-01-31T23:59:59.999Z'))).toHaveLength(1)
  expect(heldEntries(baseline, new Date('2027-02-01T00:00:00Z'))).toEqual([])
})

test('--bail stops at a failure that the baseline expects to be another one', () => {
  const entries = [{ id, was: notFound }]
  expect(isExpectedFailure(entries, failed(id))).toBe(true)
  expect(isExpectedFailure(entries, failed(id, crash))).toBe(false)
  expect(isExpectedFailure(entries, failed('a.b/2'))).toBe(false)
})

test('a report serves as a baseline: what failed is expected to fail the same way', () => {
  const text = JSON.stringify(report([failed(id), result('a.b/3')]))
  expect(parseBaseline(text, 'r.json').entries).toEqual([{ id, was: notFound }])
})

test('a file is read from disk', () => {
  const file = join(folder(), 'baseline.json')
  const entry = { id, reason: 'known', until: '2027-01-31', flaky: true }
  writeFileSync(file, JSON.stringify({ $schema: 'x', expected: [{ ...entry, was: notFound[0] }] }))
  expect(readBaseline(file)).toEqual({ file, entries: [{ ...entry, was: notFound }] })
  expect(() => readBaseline('/nowhere/b.json')).toThrow('/nowhere/b.json: does not exist')
  expect(readBaselineOrNone('/nowhere/b.json').entries).toEqual([])
})

test.each([
  ['{', 'is not JSON'],
  ['{"format": "other/1"}', 'is not a report'],
  ['{}', 'is not a baseline, nor a report: expected is missing'],
  ['{"expects": [], "expected": []}', 'expects is not a known member'],
  ['{"expected": [{"reason": "x"}]}', 'expected[0].id is missing'],
  ['{"expected": [{"id": "a", "why": "x"}]}', 'expected[0].why is not a known member'],
  [
    '{"expected": [{"id": "a", "until": "2027-02-30"}]}',
    'expected[0].until must be a day written YYYY-MM-DD',
  ],
  ['{"expected": [{"id": "a", "was": 404}]}', 'expected[0].was must be an object'],
  ['{"expected": [{"id": "a", "was": []}]}', 'expected[0].was must have at least 1 item'],
  ['{"expected": [{"id": "a", "was": {"tpe": "X"}}]}', 'expected[0].was.status is missing'],
  ['{"expected": [{"id": "a"}, {"id": "a"}]}', 'expected: a is listed twice'],
])('a bad file is one sentence that names the place: %s', (text, message) => {
  expect(() => parseBaseline(text, 'b.json')).toThrow(UserError)
  expect(() => parseBaseline(text, 'b.json')).toThrow(message)
})

test('an update keeps what remains, takes in new failures, drops what passed, and says so', () => {
  const old = of(
    { id, reason: 'ticket 7', until: '2027-01-30' },
    { id: 'a.b/2', reason: 'fixed by now' },
    { id: 'a.b/3', reason: 'not seen today' },
    { id: 'a.b/5', flaky: true },
    { id: 'a.b/6', was: notFound },
    { id: 'a.b/9', reason: 'gone' },
  )
  const rows = [
    ...[failed(id), result('a.b/2'), missed('a.b/3'), failed('a.b/4'), result('a.b/5')],
    failed('a.b/6', {}, crash),
    { ...failed('a.b/7'), level: 'should' as const },
  ]
  const whole = report(rows)
  const { baseline, text, difference } = updateBaseline(old, whole, noon)
  expect(baseline.entries).toEqual([
    { id, reason: 'ticket 7', until: '2027-01-30', was: notFound },
    { id: 'a.b/3', reason: 'not seen today' },
    { id: 'a.b/4', was: notFound },
    { id: 'a.b/5', flaky: true },
    { id: 'a.b/6', was: [...notFound, { status: 500, tpe: 'InternalError' }] },
  ])
  expect(parseBaseline(text, 'b.json')).toEqual(baseline)
  expect(difference).toEqual([
    '~ a.b/1: fails with 404 NotFound, which was not recorded',
    '! a.b/1: expected until 2027-01-30; fix it, or move the date by hand',
    '+ a.b/4: expected 404 ResourceNotFound, received 404 NotFound',
    '~ a.b/6: fails with 404 NotFound or 500 InternalError, no longer with 404 NotFound',
    '- a.b/2: passed',
    '- a.b/9: unknown',
  ])
  const fresh = { ...baseline, entries: baseline.entries.filter(({ until }) => !until) }
  const rest = rows.slice(1)
  const again = report(rest, { baseline: holdAgainst(fresh, rest, noon) })
  expect(decide(again).code).toBe(0)
  expect(updateBaseline(fresh, again, noon).difference).toEqual([])
  const strict = updateBaseline(of(), report(rows, { strict: true }), noon).baseline.entries
  expect(strict.map((entry) => entry.id)).toContain('a.b/7')
})

test('why a failure is expected goes with it into every report', async () => {
  const reason = 'the gateway is old'
  const rows = [failed(id), result('c.d/1')]
  const whole = report(rows, { baseline: holdAgainst(of({ id, reason }), rows, noon) })
  const html = await joined(renderHtml(whole, []))
  expect(html).toContain(`expected by the baseline: ${reason}`)
  expect(html).toContain(`Expected by the baseline: ${reason}`)
  expect(renderMarkdown(whole)).toContain(reason)
  expect(renderJunit(whole)).toContain(`failed as b.json expects (${reason})`)
})

test.each<[string, string | undefined]>([
  ['{"tpe":"A"}', 'A'],
  ['{"tpe":"A","errors":[{"descr', 'A'],
  ['{"errors":[{"tpe":"A"', undefined],
  ['<html>', undefined],
  ['null', undefined],
  ['{"tpe":7}', undefined],
])('the tpe of the body %s is %s', (body, tpe) => {
  const { tpe: read } = responseOf(failure(answered(400, body)))
  expect(read).toBe(tpe)
})

test('a failure that got worse decides the exit code', () => {
  const file = join(folder(), 'b.json')
  writeFileSync(file, JSON.stringify({ expected: [{ id, was: notFound }] }))
  const exit = (row: RequirementResult) =>
    applyGates(report([row, result('a.b/2')]), { baseline: file }, noon).exit
  expect(exit(failed(id))).toEqual({ code: 0, because: `1 failure, expected by ${file}` })
  expect(exit(failed(id, crash))).toEqual({
    code: 1,
    because: `1 failure is not as ${file} expects`,
  })
})

const { target } = report([])
const local = { ...target, baseUrl: 'http://127.0.0.1:4000' }
test.each([
  ['the same target', {}, target, false],
  ['the same target, declared otherwise', { digest: 'x' }, target, false],
  ['another target', { name: 'Other', baseUrl: 'https://other.example' }, target, true],
  ['the same on another port of this machine', { baseUrl: 'http://127.0.0.1:1' }, local, false],
  ['another on this machine', { baseUrl: 'http://127.0.0.1:1', digest: 'x' }, local, true],
])('a report of %s as baseline', (_, change, judged, isForeign) => {
  const warnings = foreignBaseline({ ...of(), of: { ...target, ...change } }, judged)
  expect(warnings.length > 0).toBe(isForeign)
})
