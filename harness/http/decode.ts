import type { Transform } from 'node:stream'
import zlib from 'node:zlib'

interface Decoded {
  readonly body: Uint8Array
  readonly cut: boolean
  readonly undecodable?: string
}

export interface Encoded {
  readonly body: Uint8Array
  readonly encoding: string
  readonly cut: boolean
}

const maxCodings = 5
const none = new Uint8Array(0)

/**
 * Decodes content codings (gzip, x-gzip, deflate with or without its zlib frame, br), the last one first. Each step
 * stops at `limit` bytes, so that memory and time do not depend on what a bomb would unpack to.
 */
export async function decode({ body, encoding, cut }: Encoded, limit: number): Promise<Decoded> {
  const names = encoding.split(',').map((name) => name.trim().toLowerCase())
  const codings = names.filter((name) => name !== '' && name !== 'identity')
  const failed = (undecodable: string): Decoded => ({ body, cut, undecodable })
  if (codings.length === 0 || body.length === 0) return { body, cut }
  if (codings.length > maxCodings)
    return failed(`${codings.length} content codings in a row, more than ${maxCodings}`)
  let decoded: Decoded = { body, cut }
  for (const coding of codings.reverse()) {
    const decoder = decoderFor(coding, decoded)
    if (!decoder) return failed(`unknown content coding ${JSON.stringify(coding.slice(0, 40))}`)
    try {
      decoded = await undo(decoder, decoded, limit)
    } catch (error) {
      return failed(`not valid ${coding}: ${(error as Error).message}`)
    }
  }
  return decoded
}

async function undo(decoder: Transform, decoded: Decoded, limit: number): Promise<Decoded> {
  const collected = new Collector(limit)
  decoder.end(decoded.body)
  for await (const chunk of decoder)
    if (!collected.add(chunk as Uint8Array)) return { body: collected.bytes(), cut: true }
  return { body: collected.bytes(), cut: decoded.cut }
}

function decoderFor(coding: string, decoded: Decoded): Transform | undefined {
  const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH } = zlib.constants
  // Small chunks take four times as long for what unpacks to megabytes, as a bomb does.
  const chunkSize = decoded.body.length > 4096 ? 262_144 : 16_384
  const flushing = { chunkSize, ...(decoded.cut && { finishFlush: Z_SYNC_FLUSH }) }
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return zlib.createGunzip(flushing)
    case 'deflate':
      // The zlib format is correct (RFC 9110 §8.4.1.2), but bare deflate is as common: its first byte never has the low
      // half 8.
      return ((decoded.body[0] ?? 0) & 0x0f) === 8
        ? zlib.createInflate(flushing)
        : zlib.createInflateRaw(flushing)
    case 'br':
      return zlib.createBrotliDecompress({
        chunkSize,
        ...(decoded.cut && { finishFlush: BROTLI_OPERATION_FLUSH }),
      })
    default:
      return undefined
  }
}

/**
 * Collects bytes up to a limit in one buffer: a body that arrives byte by byte takes no more memory than a whole one.
 */
export class Collector {
  readonly #limit: number
  #buffer: Uint8Array = none
  length = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** False if not all of it fits. */
  add(chunk: Uint8Array): boolean {
    const fitting = chunk.subarray(0, this.#limit - this.length)
    const needed = this.length + fitting.length
    if (needed > this.#buffer.length) {
      // Memory that is not written costs nothing, and copying megabytes does.
      const larger = this.#buffer.length * (this.#buffer.length < 2 ** 20 ? 2 : 8)
      const grown = Buffer.allocUnsafe(Math.min(this.#limit, Math.max(needed, larger)))
      grown.set(this.bytes())
      this.#buffer = grown
    }
    this.#buffer.set(fitting, this.length)
    this.length = needed
    return fitting.length === chunk.length
  }

  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.length)
  }
}
