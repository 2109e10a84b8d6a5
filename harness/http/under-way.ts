import type { SendOptions } from './message.ts'

/** Longest delay that a timer takes, in ms. */
const longestDelay = 2 ** 31 - 1

/** The reason of an exchange that was ended by its deadline; any other is an interrupt. */
export const deadlinePassed = Symbol('deadline passed')

/** Says when an exchange has to end. As an `AbortSignal`, which takes longer to make than the rest of an exchange. */
export class Ending {
  aborted = false
  reason: unknown
  readonly #calls = new Set<() => void>()

  /** Ends the exchange; only the first call counts. */
  end(reason: unknown): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    for (const call of this.#calls) call()
  }

  /** Calls when the exchange has to end, until the returned function is called. */
  onEnd(call: () => void): () => void {
    this.#calls.add(call)
    return () => this.#calls.delete(call)
  }

  /** A signal of the same deadline, for somebody who knows signals alone. */
  get signal(): AbortSignal {
    const controller = new AbortController()
    if (this.aborted) controller.abort(this.reason)
    this.onEnd(() => controller.abort(this.reason))
    return controller.signal
  }
}

/** The exchanges under way: each ends at its deadline, when its own signal aborts, or when all are ended. */
interface UnderWay {
  /** `settle` is called when the exchange has ended by itself. */
  begin(options: SendOptions): { readonly ending: Ending; settle(): void }
  /** Ends every exchange under way, and each one that begins from now on. */
  endAll(): void
}

export function createUnderWay(): UnderWay {
  const endings = new Set<Ending>()
  let isOver = false
  return {
    begin({ timeoutMs, signal }) {
      const ending = new Ending()
      const stop = (): void => ending.end(signal?.reason)
      const timer = setTimeout(() => ending.end(deadlinePassed), Math.min(timeoutMs, longestDelay))
      endings.add(ending)
      const forget = signal && onAbort(signal, stop)
      if (signal?.aborted || isOver) stop()
      return {
        ending,
        settle() {
          clearTimeout(timer)
          endings.delete(ending)
          forget?.()
        },
      }
    },
    endAll() {
      isOver = true
      for (const ending of endings) ending.end(undefined)
    },
  }
}

const waiting = new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Calls when the signal aborts, until the returned function is called. One listener of the signal serves all: a run has one
 * signal, and a signal goes through the list of its listeners for each one that it takes or lets go.
 */
export function onAbort(signal: AbortSignal, call: () => void): () => void {
  let calls = waiting.get(signal)
  if (calls === undefined) {
    const all = (calls = new Set())
    waiting.set(signal, all)
    signal.addEventListener('abort', () => all.forEach((each) => each()), { once: true })
  }
  calls.add(call)
  return () => calls.delete(call)
}
