import { createHash } from 'node:crypto'

/** Bodies are recorded to this many bytes; length and SHA-256 of the whole are kept. */
export const recordedBytes = 16 * 1024

/**
 * Keys are looked for in what is kept and so many characters after it: one that begins in what is kept, however it is
 * written, is found there to its end, and the megabytes that follow need not be read.
 */
const overlap = 64 * 1024
const lookedAt = recordedBytes + overlap

export interface RecordedBody {
  body: string
  bodyEncoding?: 'base64'
  bodyLength?: number
  bodySha256?: string
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes)
  } catch {
    return undefined
  }
}

/** The longest prefix of `text` that takes at most `limit` bytes and splits no character. */
function cutText(text: string, limit: number): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= limit) return text
  return new TextDecoder().decode(bytes.subarray(0, limit), { stream: true })
}

/** A body as it is recorded: keys removed, then cut. Bytes that are no UTF-8 stand as base64. */
export function recordBody(body: string | Uint8Array | undefined, redact: (text: string) => string): RecordedBody {
  if (body === undefined || body.length === 0) return { body: '' }
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const text = typeof body === 'string' ? body : textOf(body)
  const whole = (): Pick<RecordedBody, 'bodyLength' | 'bodySha256'> => ({
    bodyLength: bytes.length,
    bodySha256: createHash('sha256').update(bytes).digest('hex'),
  })
  if (text !== undefined) {
    const shown = redact(text.slice(0, lookedAt))
    const kept = cutText(shown, recordedBytes)
    return kept.length < shown.length || text.length > lookedAt ? { body: kept, ...whole() } : { body: kept }
  }
  // Read as one character a byte, a key among other bytes is found and replaced as in text.
  const latin = Buffer.from(bytes.subarray(0, lookedAt)).toString('latin1')
  const shown = Buffer.from(redact(latin), 'latin1')
  const kept = shown.subarray(0, recordedBytes)
  const recorded: RecordedBody = { body: kept.toString('base64'), bodyEncoding: 'base64' }
  return kept.length < shown.length || bytes.length > lookedAt ? { ...recorded, ...whole() } : recorded
}
