import type { RequirementResult } from '../report/model.ts'
import type { RunFacts } from './facts.ts'
import type { Plan } from './run.ts'

/** Nothing has been sent yet. */
export interface PlannedEvent {
  readonly kind: 'planned'
  readonly plan: Plan
}

/**
 * One requirement. Each requirement of the catalogue has one such event, unless the run ends early. If it turns out that its
 * requests left their connections unusable, it has a second one at the end, as failed.
 */
export interface JudgedEvent {
  readonly kind: 'judged'
  readonly result: RequirementResult
}

/** The target answered 429 or 503, and the operation is held back for that many ms. */
export interface ThrottledEvent {
  readonly kind: 'throttled'
  readonly operation: string
  readonly pauseMs: number
}

export interface EndedEvent {
  readonly kind: 'ended'
  readonly facts: RunFacts
}

/** What happens in a run, in order: `planned` first, `ended` last. */
export type RunEvent = PlannedEvent | JudgedEvent | ThrottledEvent | EndedEvent

/** A queue: events wait in it until its reader iterates over them. */
export interface EventQueue<T> extends AsyncIterable<T> {
  push(event: T): void
  /** No more events will come; with an error, the reader gets it after the last one. */
  close(error?: Error): void
}

export function createEventQueue<T>(): EventQueue<T> {
  const waiting: T[] = []
  let end: { readonly error: Error | undefined } | undefined
  let wake: () => void = () => undefined
  return {
    push(event) {
      waiting.push(event)
      wake()
    },
    close(error) {
      end ??= { error }
      wake()
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        for (let event = waiting.shift(); event !== undefined; event = waiting.shift()) yield event
        if (end) {
          if (end.error) throw end.error
          return
        }
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
  }
}
