import type { RequirementResult } from '../report/model.ts'
import type { RunFacts } from './facts.ts'
import type { Plan } from './run.ts'

/** What a run tells while it goes on, in order: `planned` first, `ended` last. */
export type RunEvent =
  /** Nothing has been sent yet. */
  | { readonly kind: 'planned'; readonly plan: Plan }
  /**
   * One requirement; each of the catalogue is told once, unless the run ends before its time. At the end one that turned
   * out to leave its connection unusable is told again, as failed.
   */
  | { readonly kind: 'judged'; readonly result: RequirementResult }
  /** The target answered 429 or 503, and the operation is held back for so many ms. */
  | { readonly kind: 'throttled'; readonly operation: string; readonly pauseMs: number }
  | { readonly kind: 'ended'; readonly facts: RunFacts }

/** A queue that whoever iterates it reads at leisure; events wait in it. */
export interface EventQueue<T> extends AsyncIterable<T> {
  push(event: T): void
  /** No more events will come. */
  close(): void
}

export function createEventQueue<T>(): EventQueue<T> {
  const waiting: T[] = []
  let closed = false
  let wake: () => void = () => undefined
  return {
    push(event) {
      waiting.push(event)
      wake()
    },
    close() {
      closed = true
      wake()
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        for (let event = waiting.shift(); event !== undefined; event = waiting.shift()) yield event
        if (closed) return
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
  }
}
