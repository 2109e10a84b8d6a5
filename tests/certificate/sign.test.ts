import { verify } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Report } from '../../schemas/report.ts'
import { failed, missed } from '../gates/results.ts'
import { first, issue, issuedAt, pair, statementIn, wholeReport } from './issued.ts'

test('the envelope is signed over the bytes that DSSE names', () => {
  const { payload, payloadType, signatures } = JSON.parse(issue(wholeReport()))
  const bytes = Buffer.from(payload, 'base64')
  const signed = `DSSEv1 28 application/vnd.in-toto+json ${bytes.length} ${bytes.toString()}`
  const sig = Buffer.from(signatures[0].sig, 'base64')
  expect(payloadType).toBe('application/vnd.in-toto+json')
  expect(verify(null, Buffer.from(signed), pair.publicKey, sig)).toBe(true)
})

test('the statement says what was judged, and what was not', () => {
  const { _type, subject, predicate } = statementIn(issue(wholeReport()))
  expect(_type).toBe('https://in-toto.io/Statement/v1')
  expect(subject).toEqual([
    { name: 'conformance-report', digest: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) } },
  ])
  expect(predicate).toMatchObject({
    target: { name: 'Example', baseUrl: 'https://example.com' },
    verdict: 'conformant',
    run: { seed: 421, runs: 25, depth: 'full', tpe: 'exact', baseline: false },
    failed: [],
    notExercised: [],
    partial: [],
    issuedAt: issuedAt.toISOString(),
    expiresAt: '2026-08-28T12:00:00.000Z',
  })
  expect(predicate.operations).toContainEqual({ id: 'jobs.create', state: 'judged' })
  const absent = { state: 'not-served', answered: '404' }
  expect(predicate.operations).toContainEqual({ id: 'vision.analyze', ...absent })
  const excused = { level: 'must', reason: 'no staging switch' }
  const id = 'completion.create/500-model-overload'
  expect(predicate.excused).toContainEqual({ id, ...excused })
})

type Results = Report['requirements']

const served = (answered: string | null) => ({
  notServed: answered === null ? [] : [{ operation: 'vision.analyze', answered }],
})
const digest = `sha256:${'e'.repeat(64)}`
const bySuite = (change: Partial<Report['suite']>): Report => {
  const whole = wholeReport()
  Object.assign(whole.suite, change)
  return whole
}

test.each<[reason: string, of: Report]>([
  ['the verdict is non-conformant', wholeReport({}, first(failed))],
  [
    'the verdict is passing',
    wholeReport(
      {},
      first((id) => missed(id)),
    ),
  ],
  ['the run was interrupted', wholeReport({ interrupted: true })],
  ['(--only jobs.*)', wholeReport({ only: ['jobs.*'] })],
  ['(--skip chat.*)', wholeReport({ skip: ['chat.*'] })],
  ['(--read-only)', wholeReport({ readOnly: true })],
  [
    '(--baseline)',
    wholeReport({ baseline: { file: 'b.json', expected: [], stale: [], notExercised: [] } }),
  ],
  ['(--insecure)', wholeReport({ insecure: true })],
  ['(--tpe family)', wholeReport({ tpe: 'family' })],
  ['(--depth quick)', wholeReport({ depth: 'quick', runs: 1 })],
  ['--runs was 24 instead of 25', wholeReport({ runs: 24 })],
  ['(credentialProbes: few)', wholeReport({ credentialProbes: 'few' })],
  ['declared not served, but answered 401', wholeReport(served('401'))],
  ['declared not served, but was not probed', wholeReport(served(null))],
  ['started after the signing', wholeReport({ startedAt: '2026-03-02T08:00:00.001Z' })],
  ['more than 7 days before', wholeReport({ startedAt: '2026-02-23T07:59:59.999Z' })],
  ['judged by other requirements', bySuite({ requirementsDigest: digest })],
  ['judged by another text of the interface', bySuite({ specDigest: digest })],
])('refused, or with --partial listed as a reason: %s', (reason, of) => {
  expect(() => issue(of)).toThrow(reason)
  const { partial } = statementIn(issue(of, { partial: true })).predicate
  expect(partial.join('\n')).toContain(reason)
})

test.each(['404', '405', '410', '501', 'no answer'])(
  'an operation that answers %s is not served',
  (answered) => {
    expect(statementIn(issue(wholeReport(served(answered)))).predicate.partial).toEqual([])
  },
)

test.each<[problem: string, change: (results: Results) => unknown]>([
  ['is missing', (results) => results.pop()],
  ['is listed twice', (results) => results.push(results[0]!)],
  ['x.y/1 is not a requirement', (results) => results.push({ ...results[0]!, id: 'x.y/1' })],
  ['is a should of', (results) => (results[0] = { ...results[0]!, level: 'should' })],
])(
  'a report that does not hold each requirement once is refused even with --partial: %s',
  (problem, change) => {
    expect(() => issue(wholeReport({}, change), { partial: true })).toThrow(problem)
  },
)

test('a report that contradicts itself is refused even with --partial', () => {
  const lie = { ...wholeReport({}, first(failed)), verdict: 'conformant' }
  expect(() => issue(lie, { partial: true })).toThrow(/cannot be signed: verdict/)
  expect(() => issue({ some: 'json' })).toThrow(/r\.json: is not a report/)
})

test('validity counts from the run, or from the signing if that comes first', () => {
  const ends = (startedAt: string, validDays: number) =>
    statementIn(issue(wholeReport({ startedAt }), { validDays, partial: true })).predicate.expiresAt
  expect(ends('2026-03-01T12:00:00.000Z', 400)).toBe('2027-04-05T12:00:00.000Z')
  expect(ends('2036-01-01T00:00:00.000Z', 10)).toBe('2026-03-12T08:00:00.000Z')
  expect(() => ends('2026-01-01T00:00:00.000Z', 30)).toThrow(/30 days after the run .* have passed/)
})
