/** Traffic that went through is judged as `check` judges a recording, told at once, and written down without keys. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { checkTarget } from '../../traffic/base-url.ts'
import type { Finding, Recorded } from '../../traffic/record/recording.ts'
import type { CapturedBody, CapturedExchange } from '../../traffic/record/reverse-proxy.ts'
import { createRecording } from '../../traffic/record/recording.ts'
import { folder } from '../cli/conform.ts'

const baseUrl = 'https://api.example.com/base'
const whole = (body: unknown): CapturedBody => {
  const bytes =
    body instanceof Uint8Array ? body : Buffer.from(body === undefined ? '' : JSON.stringify(body))
  return { bytes, length: bytes.length, ended: true }
}
const json = { name: 'Content-Type', value: 'application/json' }
const exchange = (
  path: string,
  given: Partial<CapturedExchange> & { sends?: unknown; answers?: unknown },
) => {
  const { sends, answers, ...rest } = given
  return {
    ...{
      method: sends === undefined ? 'GET' : 'POST',
      url: baseUrl + path,
      startedAt: 1_000,
      durationMs: 5,
    },
    ...{
      requestHeaders: [],
      requestBody: whole(sends),
      status: 200,
      headers: [json],
      body: whole(answers),
      witnessed: { n: 1, sentAt: 0, answeredAt: 5, connectionOpenedAt: 0, isAborted: false },
    },
    ...rest,
  }
}

async function record(...exchanges: CapturedExchange[]) {
  const { target } = await checkTarget({ baseUrl })
  const log = join(folder(), 'log.ndjson')
  const found: Finding[][] = []
  let now: Finding[] = []
  const client: string[] = []
  const recording = createRecording(
    { target, log, rerun: 'conform check x.har' },
    (finding) => now.push(finding),
    ({ fault }) => client.push(fault.rule),
  )
  for (const one of exchanges) {
    await recording.add(one)
    found.push(now)
    now = []
  }
  const recorded: Recorded = recording.end(new Date(0))
  return { recorded, found, client, log: readFileSync(log, 'utf8') }
}

const failedIds = ({ report }: Recorded) =>
  report.requirements.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id)

const id = '7d1f2c3b-8a4e-4b5f-9c6d-7e8f90a1b2c3'
const created = exchange('/v1/applications/a-1/jobs', {
  ...{ sends: { inputs: [] }, status: 202 },
  answers: { id, status: 'in_progress', created_at: '2026-01-01T00:00:00Z' },
})
const read = (members: object, startedAt = 5_000) =>
  exchange(`/v1/applications/jobs/${id}`, {
    startedAt,
    answers: {
      id,
      application_id: 'a-1',
      status: 'in_progress',
      created_at: '2026-01-01T00:00:00Z',
      ...members,
    },
  })

test('a failure is told when it is seen, with its exchange, and once', async () => {
  const wrong = exchange('/v1/files/x', { status: 404, answers: { http_status_code: 404 } })
  const { found, recorded } = await record(exchange('/v1/files', { answers: {} }), wrong, wrong)
  expect(found.map((of) => of.map(({ requirement, exchange: at }) => [requirement, at]))).toEqual([
    [],
    [['envelope/shape', 1]],
    [],
  ])
  expect(found[1]![0]).toMatchObject({ sent: expect.stringContaining(`GET`) as string })
  expect(failedIds(recorded)).toEqual(['envelope/shape'])
  expect(recorded.report.requirements.find(({ id: of }) => of === 'envelope/shape')).toMatchObject({
    cases: 2,
  })
})

test('a job that changes over time is told when it has', async () => {
  const late = { created_at: '2026-01-01T01:00:00Z' }
  const { found, recorded } = await record(
    created,
    read({}),
    read({}),
    read(late),
    read({ application_id: 'b' }),
  )
  expect(found.map((of) => of.map(({ requirement, exchange: at }) => [requirement, at]))).toEqual([
    [],
    // It is recorded long after the day that it names.
    [['jobs.retrieve/200-consistent', 1]],
    [],
    [['jobs.retrieve/200-created-at', 3]],
    [['jobs.retrieve/200-identity', 4]],
  ])
  expect(failedIds(recorded)).toEqual([
    'jobs.retrieve/200-identity',
    'jobs.retrieve/200-created-at',
    'jobs.retrieve/200-consistent',
  ])
})

test('no key is written down, plain or compressed, and one that was seen late is named for what was before', async () => {
  const key = 'a-token-that-a-log-in-answers-with'
  const requestHeaders = [{ name: 'Authorization', value: `Bearer ${key}` }]
  const packed = {
    headers: [json, { name: 'Content-Encoding', value: 'gzip' }],
    body: whole(gzipSync(JSON.stringify(key))),
  }
  const { log, recorded } = await record(
    exchange('/login', { answers: { token: key } }),
    exchange('/v1/files', { requestHeaders, answers: { echo: key } }),
    exchange(`/v1/files?api_key=${key}`, { requestHeaders, ...packed }),
  )
  const lines = log.trimEnd().split('\n')
  expect(lines).toHaveLength(3)
  // What was written before the key was known has it; the reader of the log is told which lines these are.
  expect(recorded).toMatchObject({ secrets: [key], secretsUntil: 1, exchanges: 3 })
  expect(lines.slice(recorded.secretsUntil).join()).not.toContain(key.slice(0, 12))
  expect(JSON.parse(lines[2]!)).toMatchObject({ response: { body: '"[redacted]"' } })
  expect(JSON.stringify(recorded.report)).not.toContain(key.slice(0, 12))
})

test('what has no whole answer is written down and not judged', async () => {
  const half = {
    body: { bytes: Buffer.from('{"tp'), length: 4, ended: false },
    status: 404,
    error: 'broken off',
  }
  const none = { status: 0, headers: [], error: 'connection refused' }
  const { log, recorded } = await record(exchange('/v1/files/x', half), exchange('/v1/files', none))
  expect(failedIds(recorded)).toEqual([])
  expect(recorded.counts).toMatchObject({ judged: 1, unanswered: 1 })
  const [first, second] = log
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(first).toMatchObject({ error: 'broken off', response: { status: 404, body: '{"tp' } })
  expect(second).toMatchObject({ error: 'connection refused' })
  expect(second).not.toHaveProperty('response')
})

test('a body is judged whole though it is recorded cut', async () => {
  const content = 'x'.repeat(100_000)
  const pdf = (answers: unknown) =>
    exchange('/v1/tools/pdf-parser/f', { sends: { format: 'text' }, answers })
  const { recorded, log } = await record(pdf({ content }), pdf({ padding: content }))
  expect(failedIds(recorded)).toEqual(['pdf.parse/200-text'])
  expect(log.length).toBeLessThan(60_000)
})
