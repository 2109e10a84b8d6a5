import { createHash, type Hash } from 'node:crypto'

/** A body as it passed by: its first bytes, and how long all of it was. */
export interface CapturedBody {
  readonly bytes: Uint8Array
  readonly length: number
  /** In hex, of the whole body, if `bytes` is not all of it. */
  readonly sha256?: string
  /** False if its end did not come. */
  readonly ended: boolean
}

/** Keeps at most that many bytes of a body that passes by. */
export interface Capture {
  add(chunk: Uint8Array): void
  end(): void
  body(): CapturedBody
}

export function createCapture(limit: number): Capture {
  const kept: Uint8Array[] = []
  let length = 0
  let hash: Hash | undefined
  let ended = false
  return {
    add(chunk) {
      length += chunk.length
      if (hash) return void hash.update(chunk)
      if (length <= limit) return void kept.push(chunk)
      hash = createHash('sha256')
      for (const one of [...kept, chunk]) hash.update(one)
      kept.push(chunk.subarray(0, limit - (length - chunk.length)))
    },
    end: () => void (ended = true),
    body() {
      const bytes = new Uint8Array(Math.min(length, limit))
      let at = 0
      for (const one of kept) {
        bytes.set(one, at)
        at += one.length
      }
      return { bytes, length, ended, ...(hash && { sha256: hash.copy().digest('hex') }) }
    },
  }
}
