import { expect, test } from 'vitest'
import { formats, loadFormats, type Render, renderJson } from '../../reporters/index.ts'
import { joined, sampleExchanges } from './sample-exchanges.ts'
import { mixed, sampleReport, reportOfText } from './sample-report.ts'
import { hostile, unsafe } from './hostile.ts'
import { isValid, parse, validate } from 'ctrf'
import { renderCtrf } from '../../reporters/ctrf.ts'

const all: [string, Render][] = Object.entries(await loadFormats())

test('every format has its own file', () => {
  expect(new Set(Object.values(formats).map(({ file }) => file)).size).toBe(all.length)
})

test.each(all)(
  '%s gives the same text for the same report, and leaves the report as it was',
  async (_, render) => {
    const report = sampleReport({ end: mixed })
    const before = structuredClone(report)
    const once = await joined(render(report, sampleExchanges(report, 50)))
    expect(await joined(render(report, sampleExchanges(report, 50)))).toBe(once)
    expect(report).toEqual(before)
  },
)

test('reads back as the same report', () => {
  const report = sampleReport({ end: mixed })
  expect(JSON.parse(renderJson(report))).toEqual(report)
})

test('hostile text reads back as it was and does nothing on the way', () => {
  const report = reportOfText(hostile, 20)
  const text = renderJson(report)
  expect(JSON.parse(text)).toEqual(report)
  expect(text).not.toMatch(unsafe)
})

test('is valid, and every requirement, count and message survives', () => {
  const report = sampleReport({ end: mixed })
  const ctrf = parse(renderCtrf(report))
  expect(validate(ctrf)).toEqual({ valid: true, errors: [] })
  const { summary, tests } = ctrf.results
  const of = (...outcomes: string[]) =>
    report.requirements.filter(({ outcome }) => outcomes.includes(outcome)).length
  expect(tests.map(({ testId }) => testId)).toEqual(report.requirements.map(({ id }) => id))
  expect(summary).toMatchObject({
    tests: 290,
    passed: of('passed'),
    failed: report.summary.must.failed,
    skipped: of('not-exercised', 'not-applicable') + report.summary.should.failed,
    pending: 0,
    other: 0,
    start: Date.parse('2026-03-01T12:00:00Z'),
    duration: 48_200,
  })
  expect(tests.map(({ rawStatus }) => rawStatus)).toEqual(
    report.requirements.map(({ outcome }) => outcome),
  )
  const failure = tests.find(({ status }) => status === 'failed')!
  expect(failure.message).toBe('expected 404 ResourceNotFound, received 404 NotFound')
  expect(failure.trace).toContain('\ncurl ')
})

test('a run that judged nothing is not healthy', () => {
  const report = sampleReport({
    size: 20,
    end: () => ({ outcome: 'not-exercised', reason: 'no answer' }),
  })
  expect(parse(renderCtrf(report)).results.environment!.healthy).toBe(false)
})

test('hostile text survives and does nothing', () => {
  const text = renderCtrf(reportOfText(hostile, 20))
  expect(text).not.toMatch(unsafe)
  expect(isValid(JSON.parse(text))).toBe(true)
  // Anyone who shows a message shows it as it is.
  for (const { message = '', trace = '' } of parse(text).results.tests)
    expect(message + trace).not.toMatch(unsafe)
  expect(parse(text).results.environment!.testEnvironment).toBe(hostile)
})
