import type { SendOptions } from './message.ts'

/** How often the deadlines of the exchanges under way are looked at, in ms. */
const lookMs = 20
/**
 * Time between two looks that counts, in ms. This process looks at its sockets once from one to the next: of the time in which it
 * stood still, on a busy machine, nothing more is counted, since an answer may lie there.
 */
const maxCountedMs = 2 * lookMs

/** The reason of an exchange that was ended by its deadline; any other is an interrupt. */
export const deadlinePassed = Symbol('deadline passed')

/** The exchanges under way: each ends at its deadline, when its own signal aborts, or when all are ended. */
export function createUnderWay() {
  /** Deadlines, on the clock of this process's own looks. */
  const endings = new Map<AbortController, number>()
  let isOver = false
  let counted = 0
  let lookedAt = 0
  let timer: NodeJS.Timeout | undefined
  const clock = (): number => counted + Math.min(performance.now() - lookedAt, maxCountedMs)
  const look = (): void => {
    counted = clock()
    lookedAt = performance.now()
    for (const [ending, deadline] of endings) if (deadline <= counted) ending.abort(deadlinePassed)
    if (endings.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
  return {
    /** `settle` is called when the exchange has ended by itself. */
    begin({ timeoutMs, signal }: SendOptions): { readonly ending: AbortSignal; settle(): void } {
      const ending = new AbortController()
      const stop = (): void => ending.abort(signal?.reason)
      if (timer === undefined) lookedAt = performance.now()
      timer ??= setInterval(look, lookMs)
      endings.set(ending, clock() + timeoutMs)
      const forget = signal && onAbort(signal, stop)
      if (signal?.aborted || isOver) stop()
      return {
        /** Says when the exchange has to end. */
        ending: ending.signal,
        settle() {
          endings.delete(ending)
          forget?.()
        },
      }
    },
    /** Ends every exchange under way, and each one that begins from now on. */
    endAll(): void {
      isOver = true
      for (const ending of endings.keys()) ending.abort()
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
