import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folder } from '../cli/conform.ts'
import {
  type BaselineEntry,
  holdAgainst,
  isExpectedFailure,
  foreignBaseline,
  parseBaseline,
  updateBaseline,
} from '../../harness/report/baseline.ts'
import { responseOf } from '../../harness/report/verdict.ts'
import { applyGates } from '../../harness/report/exit-code.ts'
import type { Failure, RequirementResult } from '../../harness/report/report-schema.ts'
import { failed, failure, report, result } from './results.ts'

const now = new Date('2027-01-31T12:00:00Z')
const of = (...entries: BaselineEntry[]) => ({ file: 'b.json', entries })
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
