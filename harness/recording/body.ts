import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import type { RecordedBody } from './recorded.ts'

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

/** A body as it is recorded: keys removed, then cut. Bytes that are not UTF-8 are written as base64. */
export function recordBody(body: string | Uint8Array | undefined, redact: (text: string) => string): RecordedBody {
  if (body === undefined || body.length === 0) return { body: '' }
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const isCut = bytes.length > lookedAt
  // Only the beginning is read as text: megabytes of it would be as much garbage again.
  const start = Buffer.from(isCut ? bytes.subarray(0, lookedAt) : bytes)
  const whole = (): Pick<RecordedBody, 'bodyLength' | 'bodySha256'> => ({
    bodyLength: bytes.length,
    bodySha256: createHash('sha256').update(bytes).digest('hex'),
  })
  if (isUtf8(bytes)) {
    const shown = redact(new TextDecoder('utf-8', { ignoreBOM: true }).decode(start, { stream: isCut }))
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
