import type { Transform } from 'node:stream'
import zlib from 'node:zlib'
import type { Ending } from './under-way.ts'

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
 * Rejects only if the exchange has to end before.
 */
export async function decode(
  { body, encoding, cut }: Encoded,
  limit: number,
  ending: Pick<Ending, 'cause' | 'drop'> = {},
): Promise<Decoded> {
  const codings = codingsOf(encoding)
  if (codings.length === 0 || body.length === 0) return { body, cut }
  if (codings.length > maxCodings) {
    return {
      body,
      cut,
      undecodable: `${codings.length} content codings in a row, more than ${maxCodings}`,
    }
  }
  let decoded: Decoded = { body, cut }
  for (const coding of codings.reverse()) {
    const decoder = decoderFor(coding, decoded)
    if (!decoder)
      return {
        body,
        cut,
        undecodable: `unknown content coding ${JSON.stringify(coding.slice(0, 40))}`,
      }
    ending.drop = () => void decoder.destroy(dropped)
    if (ending.cause !== undefined) ending.drop()
    try {
      decoded = await undo(decoder, decoded, limit)
    } catch (error) {
      if (error === dropped) throw error
      return { body, cut, undecodable: `not valid ${coding}: ${(error as Error).message}` }
    }
  }
  return decoded
}

const dropped = new Error('the exchange is over')

async function undo(decoder: Transform, { body, cut }: Decoded, limit: number): Promise<Decoded> {
  const collected = collect(limit)
  decoder.end(body)
  for await (const chunk of decoder)
    if (!collected.add(chunk as Uint8Array)) return { body: collected.bytes(), cut: true }
  return { body: collected.bytes(), cut }
}

/** A body whose end is missing is decoded as far as it goes, not refused for its missing end. */
function decoderFor(coding: string, { body, cut }: Decoded): Transform | undefined {
  const flushing = cut ? { finishFlush: zlib.constants.Z_SYNC_FLUSH } : {}
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return zlib.createGunzip(flushing)
    case 'deflate':
      return hasZlibFrame(body) ? zlib.createInflate(flushing) : zlib.createInflateRaw(flushing)
    case 'br':
      return zlib.createBrotliDecompress(
        cut ? { finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH } : {},
      )
    default:
      return undefined
  }
}

/** `deflate` means the zlib format (RFC 9110 §8.4.1.2), but bare deflate is seen as often: its first byte never says "8". */
const hasZlibFrame = (body: Uint8Array) => ((body[0] ?? 0) & 0x0f) === 8

const nothing = new Uint8Array(0)
/** The first bytes are kept as they are, and not copied, if what they lie in is less than so many times as large. */
const mostAround = 8

/** Gathers bytes up to a limit, in one buffer: a body that comes byte by byte takes no more memory than one that comes whole. */
export type Collector = ReturnType<typeof collect>

export function collect(limit: number) {
  let buffer: Uint8Array = nothing
  let length = 0
  return {
    get length() {
      return length
    },
    /** Takes what still fits; false if the chunk held more than that. */
    add(chunk: Uint8Array): boolean {
      const fitting = chunk.length <= limit - length ? chunk : chunk.subarray(0, limit - length)
      const needed = length + fitting.length
      if (length === 0 && needed * mostAround > chunk.buffer.byteLength) {
        buffer = fitting
        length = needed
        return fitting.length === chunk.length
      }
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
