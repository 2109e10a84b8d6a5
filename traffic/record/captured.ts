import type { HeaderLine } from '../../harness/http/message.ts'
import type { Report } from '../../harness/report/model.ts'
import type { Target } from '../../harness/target/model.ts'
import type { Counts } from '../recording-judge.ts'
import type { CapturedBody } from './capture.ts'

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

/** What a recording is judged by, and where its exchanges are written. */
export interface RecordingOptions {
  readonly target: Target
  /** The log of exchanges, a line each. */
  readonly log: string
  /** The command that shows a failure again. */
  readonly rerun: string
}

/** What was learned of all that was recorded. */
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
