import { createRequire } from 'node:module'
import { Ajv } from 'ajv'
import addFormats from 'ajv-formats'
import { expect, test } from 'vitest'
import { renderHar } from '../../reporters/har.ts'
import type { RecordedExchange } from '../../harness/report/report-schema.ts'
import { hostile, unsafe } from './hostile.ts'
import { joined, sampleExchanges } from './sample-exchanges.ts'
import { mixed, sampleReport } from './sample-report.ts'

const schemas = createRequire(import.meta.url)('har-schema') as Record<
  string,
  { $id: string; $schema?: string }
>
const ajv = new Ajv({ strict: false, allErrors: true })
addFormats.default(ajv)
// The schemas are draft 06, but use nothing that draft 07 reads differently.
for (const schema of Object.values(schemas))
  ajv.addSchema({ ...schema, $schema: 'http://json-schema.org/draft-07/schema#' })

async function har(exchanges: Iterable<RecordedExchange>) {
  const text = await joined(renderHar(sampleReport({ end: mixed }), exchanges))
  expect(text).not.toMatch(unsafe)
  const value = JSON.parse(text)
  expect([ajv.validate('har.json#', value), ajv.errors]).toEqual([true, null])
  return value.log
}

const one = (change: Partial<RecordedExchange> = {}) => ({
  ...[...sampleExchanges(sampleReport(), 1)][0]!,
  ...change,
})

test('holds every exchange, valid by the schema', async () => {
  const log = await har(sampleExchanges(sampleReport(), 500))
  expect(log.entries).toHaveLength(500)
  expect(log.creator).toEqual({ name: 'ai-content-conformance', version: '0.1.0' })
  expect(log.entries[7]).toMatchObject({
    startedDateTime: '2026-03-01T12:00:00.105Z',
    time: 12.5,
    request: {
      method: 'POST',
      httpVersion: 'HTTP/1.1',
      queryString: [{ name: 'case', value: '7' }],
      postData: { mimeType: 'application/json', text: expect.stringContaining('"n":7') },
    },
    response: { status: 404, statusText: 'Not Found', content: { mimeType: 'application/json' } },
    _requirement: sampleReport().requirements[7]!.id,
    _role: 'probe',
  })
})

test('an empty run is a HAR without entries', async () => {
  expect((await har([])).entries).toEqual([])
})

test('bytes that are not text stand as base64, with their own length', async () => {
  const base = one()
  const bytes = { body: '/9j/', bodyEncoding: 'base64' as const }
  const log = await har([
    { ...base, request: { ...base.request, ...bytes }, response: { ...base.response!, ...bytes } },
  ])
  expect(log.entries[0].response.content).toMatchObject({
    text: '/9j/',
    encoding: 'base64',
    size: 3,
  })
  expect(log.entries[0].request).toMatchObject({
    bodySize: 3,
    postData: { text: '/9j/', _encoding: 'base64' },
  })
})

test('a body that was cut says so', async () => {
  const base = one()
  const cut = { ...base.response!, body: 'abc', bodyLength: 70_000, bodySha256: 'd'.repeat(64) }
  const { content } = (await har([{ ...base, response: cut }])).entries[0].response
  expect(content).toMatchObject({
    size: 70_000,
    _cut: true,
    comment: `cut: the whole body has 70000 bytes, SHA-256 ${'d'.repeat(64)}`,
  })
})

test('a request without an answer keeps the reason', async () => {
  const { response: _response, ...unanswered } = one({ error: 'no answer within 15 s' })
  expect((await har([unanswered])).entries[0].response).toMatchObject({
    status: 0,
    _error: 'no answer within 15 s',
  })
})

test('hostile answers stand as they came and do nothing', async () => {
  const base = one()
  const log = await har([
    {
      ...base,
      response: { status: 299, headers: { 'x-note': hostile, location: hostile }, body: hostile },
    },
  ])
  expect(log.entries[0].response.content.text).toBe(hostile)
  expect(log.entries[0].response.headers[0]).toEqual({ name: 'x-note', value: hostile })
})

test('reads one exchange at a time', async () => {
  let taken = 0
  async function* source() {
    for (const exchange of sampleExchanges(sampleReport(), 10)) {
      taken++
      yield exchange
    }
  }
  const pieces = renderHar(sampleReport(), source())
  await pieces.next()
  await pieces.next()
  expect(taken).toBe(1)
})
