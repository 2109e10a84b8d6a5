/** Exchanges of a client in few words, and what its judge says of them: no socket, no clock. */
import { Redactor } from '../../harness/recording/redactor.ts'
import { createClientJudge } from '../../traffic/client/client-judge.ts'
import type { ClientReport } from '../../traffic/client/client-report.ts'
import type { RecordedEntry } from '../../traffic/recorded-entry.ts'

export const baseUrl = 'http://127.0.0.1:8080'
export const key = 'a-key-that-nobody-may-see'
const expiredKey = 'a-key-that-has-expired'

export interface Exchange {
  readonly method?: string
  readonly path: string
  readonly status?: number
  /** JSON, or a text as it stands; a request that has one is a POST. */
  readonly sent?: unknown
  readonly answer?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly answered?: Readonly<Record<string, string>>
  /** When it was sent, and how long its answer took, in ms. */
  readonly at?: number
  readonly ms?: number
  /** When its connection was opened. */
  readonly opened?: number
  readonly isAborted?: boolean
}

const json = { 'content-type': 'application/json' }

const bytesOf = (value: unknown) => ({
  state: 'whole' as const,
  bytes: Buffer.from(
    value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value),
  ),
})

const linesOf = (headers: Readonly<Record<string, string>>) =>
  Object.entries(headers).map(([name, value]) => ({ name, value }))

export function entryOf(exchange: Exchange, n = 1): RecordedEntry {
  const { answer, answered = {}, at = 0, headers = {}, ms = 1, path, sent, status = 200 } = exchange
  const { isAborted = false, method = sent === undefined ? 'GET' : 'POST', opened = 0 } = exchange
  return {
    ...{ index: n - 1, startedAt: at, durationMs: ms, httpVersion: '1.1', status, method },
    url: baseUrl + path,
    requestHeaders: linesOf({
      authorization: `Bearer ${key}`,
      ...(sent !== undefined && json),
      ...headers,
    }),
    requestBody: bytesOf(sent),
    headers: linesOf(answered),
    body: bytesOf(answer),
    witnessed: { n, sentAt: at, answeredAt: at + ms, connectionOpenedAt: opened, isAborted },
  }
}

/** How the reference is brought to a condition, as its target file says it. */
const scenarios = {
  'jobs.create/429-quota-exceeded': {
    headers: { 'x-simulate': '429-quota-exceeded 429-QuotaExceeded 429-TooManyRequests' },
  },
}

interface Judged {
  readonly report: ClientReport
  /** Each finding as `fault: rule`, in the order in which it was told. */
  readonly told: string[]
}

/** Judges exchanges in that order; with the reference, unless the server is another one. */
export function judged(
  exchanges: readonly Exchange[],
  server: 'reference' | 'another' = 'reference',
): Judged {
  const told: string[] = []
  const script = { played: [], left: () => 0 }
  const reference = { scenarios, script }
  const judge = createClientJudge({
    ...{ baseUrl, redactor: new Redactor(), wrongKeys: [expiredKey] },
    ...(server === 'reference' && { reference }),
    onFinding: ({ fault, kind }) => void told.push(`${kind}: ${fault.rule}`),
  })
  for (const [at, exchange] of exchanges.entries()) judge.see(entryOf(exchange, at + 1))
  return { report: judge.end({ startedAt: new Date(0), durationMs: 5 }), told }
}

export const envelope = (tpe: string, description = 'No') => ({
  tpe,
  errors: [{ description }],
  extras: {},
})

export const jobId = '2e8d7a10-6c0b-4b9f-8f2d-5d3c9b7e2001'
export const jobOf = (status: string) => ({ id: jobId, status })
export const creation = { path: '/v1/applications/a/jobs', sent: { inputs: [] } }
export const created = { ...creation, status: 202, answer: jobOf('in_progress') }
export const conflict = { ...creation, status: 409, answer: envelope('BadRequest') }
export const read = (status: string, at = 0): Exchange => ({
  ...{ path: `/v1/applications/jobs/${jobId}`, answer: jobOf(status), at },
})
