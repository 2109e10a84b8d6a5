import type { Transform } from 'node:stream'
import zlib from 'node:zlib'
import { onAbort } from './under-way.ts'

interface Decoded {
  readonly body: Uint8Array
  /** The decoded body was longer than the limit, or its end was missing already. */
  readonly cut: boolean
  /** Why it could not be decoded; `body` then holds the bytes as they came. */
  readonly undecodable?: string
}

export interface Encoded {
  readonly body: Uint8Array
  /** The value of `content-encoding`: codings in the order in which they were applied. */
  readonly encoding: string
  /** True if only the beginning of the body was read. */
  readonly cut: boolean
}

const maxCodings = 5

/** Names of the codings that have to be undone; `identity` changes nothing. */
function codingsOf(encoding: string): string[] {
  const names = encoding.split(',').map((name) => name.trim().toLowerCase())
  return names.filter((name) => name !== '' && name !== 'identity')
}

/**
 * Undoes the content codings (gzip, x-gzip, deflate with or without its zlib frame, br), the last one first.
 * Each step ends at `limit` bytes, so that neither memory nor time depends on what a bomb would unpack to.
 * Rejects only if the exchange has to end.
 */
export async function decode({ body, encoding, cut }: Encoded, limit: number, ending: AbortSignal): Promise<Decoded> {
  const codings = codingsOf(encoding)
  if (codings.length === 0 || body.length === 0) return { body, cut }
  if (codings.length > maxCodings) {
    return { body, cut, undecodable: `${codings.length} content codings in a row, more than ${maxCodings}` }
  }
  let decoded: Decoded = { body, cut }
  for (const coding of codings.reverse()) {
    decoded = await undo(coding, decoded, limit, ending)
    if (decoded.undecodable !== undefined) return { body, cut, undecodable: decoded.undecodable }
  }
  return decoded
}

function undo(coding: string, { body, cut }: Decoded, limit: number, ending: AbortSignal): Promise<Decoded> {
  const decoder = decoderFor(coding, body, cut)
  if (!decoder) {
    return Promise.resolve({ body, cut, undecodable: `unknown content coding ${JSON.stringify(coding.slice(0, 40))}` })
  }
  return new Promise((resolve, reject) => {
    const collected = collect(limit)
    const abort = () => {
      decoder.destroy()
      reject(new Error('ended', { cause: ending.reason }))
    }
    const settle = (decoded: Decoded) => {
      forget()
      resolve(decoded)
    }
    const forget = onAbort(ending, abort)
    decoder.on('data', (chunk: Uint8Array) => {
      if (collected.add(chunk)) return
      decoder.destroy()
      settle({ body: collected.bytes(), cut: true })
    })
    decoder.on('end', () => settle({ body: collected.bytes(), cut }))
    decoder.on('error', (error) => settle({ body, cut, undecodable: `not valid ${coding}: ${error.message}` }))
    decoder.end(body)
    if (ending.aborted) abort()
  })
}

/** A body whose end is missing is decoded as far as it goes, not refused for its missing end. */
function decoderFor(coding: string, body: Uint8Array, cut: boolean): Transform | undefined {
  const flushing = cut ? { finishFlush: zlib.constants.Z_SYNC_FLUSH } : {}
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return zlib.createGunzip(flushing)
    case 'deflate':
      return hasZlibFrame(body) ? zlib.createInflate(flushing) : zlib.createInflateRaw(flushing)
    case 'br':
      return zlib.createBrotliDecompress(cut ? { finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH } : {})
    default:
      return undefined
  }
}

/** `deflate` means the zlib format (RFC 9110 §8.4.1.2), but bare deflate is seen as often: its first byte never says "8". */
const hasZlibFrame = (body: Uint8Array) => ((body[0] ?? 0) & 0x0f) === 8

/** Gathers bytes up to a limit, in one buffer: a body that comes byte by byte takes no more memory than one that comes whole. */
export type Collector = ReturnType<typeof collect>

export function collect(limit: number) {
  let buffer = new Uint8Array(0)
  let length = 0
  return {
    get length() {
      return length
    },
    /** Takes what still fits; false if the chunk held more than that. */
    add(chunk: Uint8Array): boolean {
      const fitting = chunk.subarray(0, limit - length)
      const needed = length + fitting.length
      if (needed > buffer.length) {
        const grown = new Uint8Array(Math.min(limit, Math.max(needed, buffer.length * 2)))
        grown.set(buffer.subarray(0, length))
        buffer = grown
      }
      buffer.set(fitting, length)
      length = needed
      return fitting.length === chunk.length
    },
    bytes: (): Uint8Array => buffer.subarray(0, length),
  }
}
