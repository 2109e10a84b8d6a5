import { createHash, type Hash } from 'node:crypto'
import type { HeaderLine } from '../../harness/http/message.ts'
import type { Report } from '../../harness/report/model.ts'
import type { Target } from '../../harness/target-file/model.ts'
import type { Counts } from '../recording-judge.ts'

/** An exchange that went through the proxy. It may hold keys: it is neither printed nor stored as it is. */
export interface CapturedExchange {
  readonly method: string
  /** The address in full, under the base URL. */
  readonly url: string
  /** Epoch ms. */
  readonly startedAt: number
  readonly durationMs: number
  readonly requestHeaders: readonly HeaderLine[]
  readonly requestBody: CapturedBody
  /** 0 if no answer came. */
  readonly status: number
  readonly headers: readonly HeaderLine[]
  readonly body: CapturedBody
  /** Why no answer came, or none that is whole. */
  readonly error?: string
}

/** A failure of a requirement that was not seen before. */
export interface Finding {
  readonly requirement: string
  /** Which exchange of the recording showed it, from 0. */
  readonly exchange: number
  readonly sent: string
  readonly expected: string
  readonly received: string
}

/** The target that a recording is judged by, and the file its exchanges are written to. */
export interface RecordingOptions {
  readonly target: Target
  /** The log of exchanges, a line each. */
  readonly log: string
  /** The command that shows a failure again. */
  readonly rerun: string
}

/** The findings on all that was recorded. */
export interface Recorded {
  readonly report: Report
  readonly counts: Counts
  readonly exchanges: number
  /** Credentials that were seen, and how many exchanges had been written when the last of them was. */
  readonly secrets: readonly string[]
  readonly secretsUntil: number
  /** Why exchanges could not be written down. */
  readonly problem?: string
}

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
