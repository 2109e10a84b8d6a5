import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import {
  defined,
  described,
  type Fitting,
  integer,
  object,
  type Schema,
  text,
} from '../../schemas/closed.ts'
import type { HeaderLine } from '../http/index.ts'

const recordedLines = 100
const recordedCharacters = 1000

/** Always recorded, because answers, also recorded ones, are judged by them. */
const judged = new Set([
  'content-type',
  'content-encoding',
  'content-length',
  'location',
  'retry-after',
  'date',
])

export type Shown = (line: HeaderLine) => HeaderLine

export function recordHeaders(lines: readonly HeaderLine[], shown: Shown): RecordedHeaders {
  const recorded: RecordedHeaders = Object.create(null) as RecordedHeaders
  for (const line of lines) {
    const { name, value } = shown(line)
    recorded[name] = name in recorded ? `${recorded[name]}, ${value}` : value
  }
  return { ...recorded }
}

export function recordHead(lines: readonly HeaderLine[], shown: Shown): RecordedHeaders {
  const isJudged = (line: HeaderLine): boolean => judged.has(line.name.toLowerCase())
  const inOrder = [...lines.filter(isJudged), ...lines.filter((line) => !isJudged(line))]
  const kept = new Set(inOrder.slice(0, recordedLines))
  const recorded = recordHeaders(
    lines.filter((line) => kept.has(line)),
    (line) => {
      const { name, value } = shown(line)
      const isLong = value.length > recordedCharacters
      const rest = isLong ? ` (cut: ${value.length} characters in all)` : ''
      return {
        name: name.slice(0, recordedCharacters),
        value: value.slice(0, recordedCharacters) + rest,
      }
    },
  )
  if (kept.size < lines.length)
    recorded['conform-left-out'] = `${lines.length - kept.size} of ${lines.length} header lines`
  return recorded
}

/** Recorded part of a body in bytes; length and SHA-256 of the whole are kept. */
export const recordedBytes = 16 * 1024

/**
 * Keys are searched in the recorded part and this many characters after it: one that begins in that part is found to
 * its end, and the megabytes that follow need not be read.
 */
const overlap = 64 * 1024
const lookedAt = recordedBytes + overlap

/** The longest prefix of at most `limit` bytes that splits no character. */
function cutText(text: string, limit: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= limit) return text
  return new TextDecoder().decode(bytes.subarray(0, limit), { stream: true })
}

/**
 * Records a body: keys removed, then truncated; bytes that are not UTF-8 as base64.
 * @param isWhole whether all of it was read, so that it has a digest
 */
export function recordBody(
  body: string | Uint8Array | undefined,
  redact: (text: string) => string,
  isWhole = true,
): RecordedBody {
  if (body === undefined || body.length === 0) return { body: '' }
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const isCut = bytes.length > lookedAt
  const start = Buffer.from(isCut ? bytes.subarray(0, lookedAt) : bytes)
  const whole = (): Pick<RecordedBody, 'bodyLength' | 'bodySha256'> => ({
    bodyLength: bytes.length,
    ...(isWhole && { bodySha256: createHash('sha256').update(bytes).digest('hex') }),
  })
  if (isUtf8(bytes)) {
    const shown = redact(
      new TextDecoder('utf-8', { ignoreBOM: true }).decode(start, { stream: isCut }),
    )
    const kept = cutText(shown, recordedBytes)
    return kept.length < shown.length || isCut ? { body: kept, ...whole() } : { body: kept }
  }
  // With one character per byte, keys among other bytes are found and replaced as in text.
  const shown = Buffer.from(redact(start.toString('latin1')), 'latin1')
  const kept = shown.subarray(0, recordedBytes)
  const recorded: RecordedBody = { body: kept.toString('base64'), bodyEncoding: 'base64' }
  return kept.length < shown.length || isCut ? { ...recorded, ...whole() } : recorded
}

const longestText = 2000

/** Reasons and failures may quote the target: keys are removed, and the text is truncated. */
export function shownText(text: string, redact: (text: string) => string): string {
  const kept = redact(text.slice(0, overlap))
  return kept.length > longestText ? `${kept.slice(0, longestText)}…` : kept
}

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

export const redacted = '[redacted]'

export const inProcessUrl = 'http://in-process.localhost'
