import { defined, described, type Fitting, integer, object, type Schema, text } from './closed.ts'

/** A request and its answer as reports and logs show them, without keys. */
const headers: Schema<Record<string, string>> = { type: 'object', additionalProperties: text }
export type RecordedHeaders = Fitting<typeof headers>

const body = {
  body: described(
    'Text; bytes that are not UTF-8 are given as base64. Cut if bodyLength is present.',
    text,
  ),
}
const ofBody = {
  bodyEncoding: { const: 'base64' } as Schema<'base64'>,
  bodyLength: described<number>('Bytes of the whole body.', { type: 'integer', minimum: 0 }),
  bodySha256: described<string>('Of the whole body.', {
    type: 'string',
    pattern: '^[0-9a-f]{64}$',
  }),
}
export type RecordedBody = Fitting<ReturnType<typeof object<typeof body, typeof ofBody>>>

const named = { headers: defined<RecordedHeaders>('headers') }
const request = object({ method: text, url: text, ...named, ...body }, ofBody)
export type RecordedRequest = Fitting<typeof request>

const response = object({ status: integer, ...named, ...body }, ofBody)
export type RecordedResponse = Fitting<typeof response>

const exchange = object(
  { request: defined<RecordedRequest>('request'), curl: text },
  { response: described('Absent if no answer came.', defined<RecordedResponse>('response')) },
)
export type FailureExchange = Fitting<typeof exchange>

export const exchangeDefinitions = { exchange, headers, request, response }

export type ExchangeRole = 'probe' | 'control' | 'poll' | 'setup' | 'cleanup' | 'liveness'

export interface RecordedExchange extends FailureExchange {
  n: number
  /** The requirement that sent it; null for the suite's own requests (liveness, waiting for jobs, clean-up). */
  requirement: string | null
  operation: string | null
  role: ExchangeRole
  startedAt: string
  durationMs: number
  error?: string
  httpVersion?: string
}
