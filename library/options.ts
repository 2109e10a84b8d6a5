import type { RequirementId } from '../catalogue/catalogue.ts'
import type { TpeMode } from '../harness/report/model.ts'
import type { Limits } from '../harness/target/target-file.ts'
import type { RunEvent } from '../harness/engine/events.ts'

/** A requirement id, or a pattern of them: `*` is any characters. */
export type IdPattern = RequirementId | (string & Record<never, never>)

/** What may be said of a run; what is left out is as on the command line. */
export interface ConformanceOptions {
  /** Ends the run: the report says `interrupted`. */
  readonly signal?: AbortSignal
  /** Stands before the target's own `baseUrl`. */
  readonly baseUrl?: string
  /** Folder that relative paths in a target object are relative to; default: the current one. */
  readonly dir?: string
  /** Key with full rights; else `keys.full` of the target, else the environment variable `CONFORM_API_KEY`. */
  readonly key?: string
  /** Requirements to run. */
  readonly only?: readonly IdPattern[]
  /** Requirements to leave out, after `only`. */
  readonly skip?: readonly IdPattern[]
  /** Seed of the generated inputs, a 32-bit integer; drawn if not given, and in the report. */
  readonly seed?: number
  /** Cases of each generated requirement; default 25 for refusals, 5 for granted requests. */
  readonly runs?: number
  /** A failed `should` counts like a failed `must`. */
  readonly strict?: boolean
  /** Sends nothing that a conforming target would answer by creating or generating. */
  readonly readOnly?: boolean
  /** Which of the two verdicts decides; default `exact`. */
  readonly tpe?: TpeMode
  /** Stops at the first `must` that fails. */
  readonly bail?: boolean
  /** Accepts certificates that do not verify. */
  readonly insecure?: boolean
  /** Stand before the target's own limits. */
  readonly limits?: Partial<Limits>
  /** File that gets each exchange as a line of JSON, keys removed; without it none is kept beyond those of failures. */
  readonly exchangeLog?: string
}

/** A sentence for the author of the target file: nothing is wrong, but something may be meant differently. Comes before `planned`. */
export interface WarnedEvent {
  readonly kind: 'warned'
  readonly warning: string
}

/** What a run tells while it goes on. */
export type ConformanceEvent = RunEvent | WarnedEvent
