import type { RunEvent } from '../harness/engine/events.ts'

/** A sentence for the author of the target file: nothing is wrong, but something may be meant differently. Comes before `planned`. */
export interface WarnedEvent {
  readonly kind: 'warned'
  readonly warning: string
}

/** What a run tells while it goes on. */
export type ConformanceEvent = RunEvent | WarnedEvent
