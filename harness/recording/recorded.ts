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

/** Most lines of an answer's head that are recorded, and most characters of their names and values. */
const recordedLines = 100
const recordedCharacters = 16 * 1024

/** A key that begins in what is kept of a value is found to its end, and what follows need not be read. */
const overlapOfLine = 64 * 1024

const leftOut = 'conform-left-out'

/** Recorded wherever they stand among the headers: answers are judged by them, those of a recording too. */
const judged = new Set([
  'content-type',
  'content-encoding',
  'content-length',
  'location',
  'retry-after',
  'date',
])

/** A line as it may be shown, its name in lower case. */
export type Shown = (line: HeaderLine) => HeaderLine

/** Headers as they are recorded: keys removed, by name. */
export function recordHeaders(lines: readonly HeaderLine[], shown: Shown): RecordedHeaders {
  const recorded: RecordedHeaders = Object.create(null) as RecordedHeaders
  for (const line of lines) {
    const { name, value } = shown(line)
    recorded[name] = name in recorded ? `${recorded[name]}, ${value}` : value
  }
  return { ...recorded }
}

/** The headers of an answer. There may be any number of them, of any length: what is over the limits is only counted. */
export function recordHead(lines: readonly HeaderLine[], shown: Shown): RecordedHeaders {
  const room = roomOf(lines)
  const kept = lines.filter((line) => room.has(line))
  const recorded = recordHeaders(kept, (line) => cut(line, room.get(line)!, shown))
  if (kept.length < lines.length)
    recorded[leftOut] = `${lines.length - kept.length} of ${lines.length} header lines`
  return recorded
}

/** The lines that are recorded, with the characters that each value may take. */
function roomOf(lines: readonly HeaderLine[]): Map<HeaderLine, number> {
  const isJudged = ({ name }: HeaderLine): boolean => judged.has(name.toLowerCase())
  const room = new Map<HeaderLine, number>()
  let left = recordedCharacters
  for (const line of [...lines.filter(isJudged), ...lines.filter((other) => !isJudged(other))]) {
    if (room.size === recordedLines) break
    if (line.name.length + Math.min(1, line.value.length) > left) continue
    left -= line.name.length
    room.set(line, Math.min(left, line.value.length))
    left -= Math.min(left, line.value.length)
  }
  return room
}

function cut({ name, value }: HeaderLine, room: number, shown: Shown): HeaderLine {
  const line = shown({ name, value: value.slice(0, room + overlapOfLine) })
  // What is shown of a key may be longer than the key.
  if (room >= value.length) return line
  return {
    name: line.name,
    value: `${line.value.slice(0, room)} (cut: ${value.length} characters in all)`,
  }
}

/** Bodies are recorded to this many bytes; length and SHA-256 of the whole are kept. */
export const recordedBytes = 16 * 1024

/**
 * Keys are looked for in what is kept and so many characters after it: one that begins in what is kept, however it is
 * written, is found there to its end, and the megabytes that follow need not be read.
 */
const overlap = 64 * 1024
const lookedAt = recordedBytes + overlap

/** The longest prefix of `text` that takes at most `limit` bytes and splits no character. */
function cutText(text: string, limit: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= limit) return text
  return new TextDecoder().decode(bytes.subarray(0, limit), { stream: true })
}

/**
 * A body as it is recorded: keys removed, then cut. Bytes that are not UTF-8 are written as base64.
 * @param isWhole whether all of it was read: else it has no digest
 */
export function recordBody(
  body: string | Uint8Array | undefined,
  redact: (text: string) => string,
  isWhole = true,
): RecordedBody {
  if (body === undefined || body.length === 0) return { body: '' }
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const isCut = bytes.length > lookedAt
  // Only the beginning is read as text: megabytes of it would be as much garbage again.
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
  // Read as one character a byte, a key among other bytes is found and replaced as in text.
  const shown = Buffer.from(redact(start.toString('latin1')), 'latin1')
  const kept = shown.subarray(0, recordedBytes)
  const recorded: RecordedBody = { body: kept.toString('base64'), bodyEncoding: 'base64' }
  return kept.length < shown.length || isCut ? { ...recorded, ...whole() } : recorded
}

/** Longest text of a failure or a reason, in characters. */
const longestText = 2000

/** Reasons and failures may quote what the target sent: keys are removed from them, and they are cut. */
export function shownText(text: string, redact: (text: string) => string): string {
  const kept = redact(text.slice(0, overlap))
  return kept.length > longestText ? `${kept.slice(0, longestText)}…` : kept
}

const headers: Schema<Record<string, string>> = { type: 'object', additionalProperties: text }
/** Headers by name; several values of one name are joined with `, `. */
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
/** A body, keys removed. */
export type RecordedBody = Fitting<ReturnType<typeof object<typeof body, typeof ofBody>>>

const named = { headers: defined<RecordedHeaders>('headers') }
const request = object({ method: text, url: text, ...named, ...body }, ofBody)
/** The request, keys removed. */
export type RecordedRequest = Fitting<typeof request>

const response = object({ status: integer, ...named, ...body }, ofBody)
/** The response, keys removed, decoded. */
export type RecordedResponse = Fitting<typeof response>

const exchange = object(
  { request: defined<RecordedRequest>('request'), curl: text },
  { response: described('Absent if no answer came.', defined<RecordedResponse>('response')) },
)
export type FailureExchange = Fitting<typeof exchange>

/** The record of an exchange in a schema: keys removed, bodies cut. */
export const exchangeDefinitions = { exchange, headers, request, response }

export type ExchangeRole = 'probe' | 'control' | 'poll' | 'setup' | 'cleanup' | 'liveness'

/** One line of the run's exchange log (NDJSON), from which HAR and HTML are made. */
export interface RecordedExchange extends FailureExchange {
  /** Order in which the exchanges ended, from 0. */
  n: number
  /** The requirement that sent it; null for a request of the suite's own (liveness, awaiting jobs, clean-up). */
  requirement: string | null
  operation: string | null
  role: ExchangeRole
  startedAt: string
  durationMs: number
  /** Reason in words, if no answer came. */
  error?: string
  /** `1.1` */
  httpVersion?: string
}

/** Mark in the place of a secret that has no name of its own. */
export const redacted = '[redacted]'

/** Placeholder for the base URL of a handler in the same process: nothing listens there. */
export const inProcessUrl = 'http://in-process.localhost'
