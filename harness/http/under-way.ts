import { setMaxListeners } from 'node:events'
import type { SendOptions } from './message.ts'

/** Longest delay that a timer takes, in ms. */
const longestDelay = 2 ** 31 - 1

/** The reason of a signal that was aborted by a deadline; any other is an interrupt. */
export const deadlinePassed = Symbol('deadline passed')

/** The exchanges under way: each ends at its deadline, when its own signal aborts, or when all are ended. */
export interface UnderWay {
  /** `signal` aborts when the exchange has to end; `settle` is called when it has ended by itself. */
  begin(options: SendOptions): { readonly signal: AbortSignal; settle(): void }
  /** Ends every exchange under way, and each one that begins from now on. */
  endAll(): void
}

export function createUnderWay(): UnderWay {
  const endings = new Set<AbortController>()
  let isOver = false
  return {
    begin({ timeoutMs, signal: outer }) {
      const ending = new AbortController()
      const stop = (): void => ending.abort()
      const timer = setTimeout(() => ending.abort(deadlinePassed), Math.min(timeoutMs, longestDelay))
      endings.add(ending)
      if (outer) {
        setMaxListeners(0, outer) // one signal serves the whole run
        outer.addEventListener('abort', stop, { once: true })
      }
      if (outer?.aborted || isOver) stop()
      return {
        signal: ending.signal,
        settle() {
          clearTimeout(timer)
          endings.delete(ending)
          outer?.removeEventListener('abort', stop)
        },
      }
    },
    endAll() {
      isOver = true
      for (const ending of endings) ending.abort()
    },
  }
}
