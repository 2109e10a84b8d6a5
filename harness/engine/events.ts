import type { RequirementResult } from '../report/model.ts'
import type { RunFacts } from './facts.ts'
import type { Plan } from './run.ts'

/** Nothing has been sent yet. */
export interface PlannedEvent {
  readonly kind: 'planned'
  readonly plan: Plan
}

/**
 * One requirement; each of the catalogue is told once, unless the run ends before its time. At the end one whose requests
 * turned out to leave their connections unusable is told again, as failed.
 */
export interface JudgedEvent {
  readonly kind: 'judged'
  readonly result: RequirementResult
}

/** The target answered 429 or 503, and the operation is held back for so many ms. */
export interface ThrottledEvent {
  readonly kind: 'throttled'
  readonly operation: string
  readonly pauseMs: number
}

export interface EndedEvent {
  readonly kind: 'ended'
  readonly facts: RunFacts
}

/** What a run tells while it goes on, in order: `planned` first, `ended` last. */
export type RunEvent = PlannedEvent | JudgedEvent | ThrottledEvent | EndedEvent

/** A queue that whoever iterates it reads at leisure; events wait in it. */
export interface EventQueue<T> extends AsyncIterable<T> {
  push(event: T): void
  /** No more events will come; with an error, whoever reads gets it after the last one. */
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
