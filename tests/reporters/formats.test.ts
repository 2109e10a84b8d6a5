import { operations } from '../../catalogue/operations.ts'
/** What each format holds of a report. How it ends is in `gates/decisions`, what a hostile target can do in `escape`. */
import { createRequire } from 'node:module'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { parse as parseCtrf, validate as validateCtrf } from 'ctrf'
import { XMLParser } from 'fast-xml-parser'
import { lexer } from 'marked'
import { describe, expect, test } from 'vitest'
import { absentReason } from '../../harness/report/reason.ts'
import type { RecordedExchange } from '../../schemas/report.ts'
import { renderBadge } from '../../reporters/badge.ts'
import { renderCtrf } from '../../reporters/ctrf.ts'
import { renderMarkdown } from '../../reporters/markdown.ts'
import { renderHar } from '../../reporters/har.ts'
import { formats, type Render, renderJson } from '../../reporters/index.ts'
import { renderJunit } from '../../reporters/junit.ts'
import { failed, report as reportOf } from '../gates/results.ts'
import { hostile } from './hostile.ts'
import { fails, joined, mixed, sampleExchanges, sampleReport } from './samples.ts'
import { readJunit, validateJunit } from './parsers.ts'

const report = sampleReport({ end: mixed })
const { must, should } = report.summary
const ids = report.requirements.map(({ id }) => id)
const said = 'expected 404 ResourceNotFound, received 404 NotFound'
const notDecisive = ({ requirements }: typeof report) =>
  requirements.filter(
    ({ level, outcome }) => /^not/.test(outcome) || (level === 'should' && outcome === 'failed'),
  )

test.each(Object.entries(formats))(
  '%s gives the same text for the same report, leaves the report as it was, and says that a run was interrupted',
  async (_, { load }) => {
    const render: Render = await load()
    const before = structuredClone(report)
    const text = () => joined(render(report, sampleExchanges(report, 50)))
    expect(await text()).toBe(await text())
    expect(report).toEqual(before)
    const cut = sampleReport({ size: 9, run: { interrupted: true } })
    expect(await joined(render(cut, []))).toMatch(/interrupted/)
  },
)

test('JSON reads back as the same report', () => {
  expect(JSON.parse(renderJson(report))).toEqual(report)
})

test('CTRF is valid, and has every requirement, count and message', () => {
  const ctrf = parseCtrf(renderCtrf(report))
  expect(validateCtrf(ctrf)).toEqual({ valid: true, errors: [] })
  const { summary, tests } = ctrf.results
  expect(tests.map(({ testId }) => testId)).toEqual(ids)
  expect(tests.map(({ rawStatus }) => rawStatus)).toEqual(
    report.requirements.map(({ outcome }) => outcome),
  )
  expect(summary).toMatchObject({
    ...{ tests: ids.length, passed: must.passed + should.passed, failed: must.failed },
    ...{ skipped: notDecisive(report).length, pending: 0, other: 0 },
    ...{ start: Date.parse('2026-03-01T12:00:00Z'), duration: 48_200 },
  })
  const failure = tests.find(({ status }) => status === 'failed')!
  expect(failure.message).toBe(said)
  expect(failure.trace).toContain('\ncurl ')
  const nothing = sampleReport({ size: 9, end: () => ({ outcome: 'not-exercised', reason: 'x' }) })
  expect(parseCtrf(renderCtrf(nothing)).results.environment!.healthy).toBe(false)
})

test('JUnit is valid, and has every requirement, count and message', async () => {
  const xml = renderJunit(report)
  await validateJunit(xml)
  const { root, suites, cases } = readJunit(xml)
  expect(cases.map(({ name }) => name)).toEqual(ids)
  expect([root.tests, root.failures]).toEqual([`${ids.length}`, `${must.failed}`])
  expect(suites.map(({ name }) => name)).toEqual([
    ...new Set(report.requirements.map(({ operation }) => operation)),
  ])
  for (const { failures, skipped, testcase } of suites) {
    const count = (kind: 'failure' | 'skipped') => `${testcase.filter((one) => one[kind]).length}`
    expect([failures, skipped]).toEqual([count('failure'), count('skipped')])
  }
  expect(cases.filter(({ skipped }) => skipped)).toHaveLength(notDecisive(report).length)
  const failure = cases.find((one) => one.failure)!.failure!
  expect(failure).toMatchObject({ message: said, type: 'must' })
  for (const word of ['sent ', 'expected ', 'received ', 'again ', 'curl '])
    expect(failure['#text']).toContain(`\n${word}`)
})

test('JUnit has an error for an interrupt and for each stale entry of a baseline', async () => {
  const stale = [{ id: 'x', why: 'it passed' }]
  const baseline = { file: 'b.json', expected: [], stale, notExercised: [] }
  const xml = renderJunit(sampleReport({ size: 30, run: { interrupted: true, baseline } }))
  await validateJunit(xml)
  const { cases, root } = readJunit(xml)
  const errors = cases.flatMap(({ error }) => error?.message ?? [])
  expect(errors).toEqual(['the run was interrupted', 'stale entry of the baseline: x: it passed'])
  expect(root.errors).toBe('2')
})

describe('HAR', () => {
  const schemas = createRequire(import.meta.url)('har-schema') as Record<string, object>
  const ajv = new Ajv({ strict: false, allErrors: true })
  addFormats.default(ajv)
  // The schemas are draft 06, but use nothing that draft 07 reads differently.
  for (const schema of Object.values(schemas))
    ajv.addSchema({ ...schema, $schema: 'http://json-schema.org/draft-07/schema#' })

  async function har(exchanges: Iterable<RecordedExchange>) {
    const value = JSON.parse(await joined(renderHar(report, exchanges)))
    expect([ajv.validate('har.json#', value), ajv.errors]).toEqual([true, null])
    return value.log
  }
  const [base] = [...sampleExchanges(report, 1)] as [RecordedExchange]

  test('is valid, and has every exchange', async () => {
    const log = await har(sampleExchanges(report, 500))
    expect(log.entries).toHaveLength(500)
    expect(log.creator).toEqual({ name: 'ai-content-conformance', version: '0.1.0' })
    expect(log.entries[7]).toMatchObject({
      ...{ startedDateTime: '2026-03-01T12:00:00.105Z', time: 12.5 },
      request: {
        ...{ method: 'POST', httpVersion: 'HTTP/1.1' },
        queryString: [{ name: 'case', value: '7' }],
        postData: { mimeType: 'application/json', text: expect.stringContaining('"n":7') },
      },
      response: { status: 404, statusText: 'Not Found', content: { mimeType: 'application/json' } },
      ...{ _requirement: ids[7], _role: 'probe' },
    })
    expect((await har([])).entries).toEqual([])
  })

  test('has bytes that are not text as base64, says what was cut, and why there is no answer', async () => {
    const bytes = { body: '/9j/', bodyEncoding: 'base64' as const }
    const cut = { ...base.response!, body: 'abc', bodyLength: 70_000, bodySha256: 'd'.repeat(64) }
    const { response: _, ...unanswered } = base
    const { entries } = await har([
      {
        ...base,
        request: { ...base.request, ...bytes },
        response: { ...base.response!, ...bytes },
      },
      { ...base, response: cut },
      { ...unanswered, error: 'no answer within 15 s' },
    ])
    expect(entries[0].response.content).toMatchObject({ text: '/9j/', encoding: 'base64', size: 3 })
    const postData = { text: '/9j/', _encoding: 'base64' }
    expect(entries[0].request).toMatchObject({ bodySize: 3, postData })
    const comment = `cut: the whole body has 70000 bytes, SHA-256 ${'d'.repeat(64)}`
    expect(entries[1].response.content).toMatchObject({ size: 70_000, _cut: true, comment })
    expect(entries[2].response).toMatchObject({ status: 0, _error: 'no answer within 15 s' })
  })

  test('reads one exchange at a time', async () => {
    const source = sampleExchanges(report, 10)
    const pieces = renderHar(report, source)
    await pieces.next()
    await pieces.next()
    expect(source.next().value!.n).toBe(1)
  })
})

test('the badge says the verdict, its mode, how many required checks passed, what is not served, and how many operations were judged', () => {
  const title = (of: typeof report) => {
    const { svg } = new XMLParser().parse(renderBadge(of)) as { svg: { title: string } }
    return svg.title.replace('conformance: ', '')
  }
  const all = sampleReport().summary.must.passed
  expect(title(sampleReport())).toBe(`conformant ${all}/${all}`)
  expect(title(report)).toBe(
    `non-conformant ${must.passed}/${must.passed + must.failed + must.notExercised}`,
  )
  expect(title(sampleReport({ run: { tpe: 'family' } }))).toMatch(/^conformant \(family names\) /)
  expect(title(reportOf([]))).toBe('not-judged')
  expect(title(reportOf([], { interrupted: true }))).toBe('not-judged, interrupted')
  expect(title(sampleReport({ run: { interrupted: true } }))).toMatch(/, interrupted$/)
  const of = `${operations.length - 1} of ${operations.length} operations`
  const absent = sampleReport()
  for (const row of absent.requirements)
    if (row.operation === 'vision.analyze')
      Object.assign(row, { outcome: 'not-applicable', ...absentReason('not-served') })
  expect(title(absent)).toBe(`conformant ${all}/${all}, 1 operation not served, ${of}`)
})

describe('GitHub', () => {
  test('gets a summary that repeats what failed', () => {
    const text = renderMarkdown(sampleReport({ end: mixed, run: { command: 'conform -t t.json' } }))
    expect(text).toMatch(/^## ❌ Conformance of Example staging\n/)
    expect(text).toContain('<code>conform -t t.json --failed</code>')
  })

  test('gets a summary of at most 1 MiB, whatever failed', () => {
    const long = hostile.repeat(40)
    const change = { message: long, expected: long, rerun: long }
    const large = sampleReport({ end: fails(long, change) })
    expect(Buffer.byteLength(renderMarkdown(large))).toBeLessThanOrEqual(1024 * 1024)
  })
})

describe('Markdown', () => {
  const ofType = (text: string, type: string) =>
    lexer(text).flatMap((token) => (token.type === type ? [token] : [])) as any[]

  test('is short where all passes', () => {
    const text = renderMarkdown(sampleReport())
    expect(text.split('\n').length).toBeLessThan(18)
    expect(text).toContain('## ✅ Conformance of Example staging')
  })

  test('has the counts, and one row for each cause with all its requirements', () => {
    const [counts, causes] = ofType(renderMarkdown(report), 'table').map(({ rows }) =>
      rows.map((row: { text: string }[]) => row.map(({ text }) => text)),
    )
    expect(counts).toEqual([
      ['required', ...Object.values(must).map(String)],
      ['recommended', ...Object.values(should).map(String)],
    ])
    const failures = report.requirements.filter(({ outcome }) => outcome === 'failed')
    const named = causes.flatMap(([row]: string[]) => row!.split(', '))
    expect(named.sort()).toEqual(failures.map(({ id }) => `\`${id}\``).sort())
    expect(causes.map((row: string[]) => row[3])).toContain(said)
  })

  test('shows the evidence of the first failures only: open of up to five, folded of more', () => {
    const text = (length: number) => {
      const all = Array.from({ length }, (_, at) => failed(`a.b/${at}`, { expected: `e${at}` }))
      return renderMarkdown(reportOf(all))
    }
    expect(ofType(text(26).replaceAll(/<.*>/g, ''), 'code')).toHaveLength(25)
    expect(text(5).match(/^<details open>$/gm)).toHaveLength(5)
    expect(text(6)).not.toContain('<details open>')
  })
})
