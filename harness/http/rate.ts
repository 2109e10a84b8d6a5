import { onAbort } from './under-way.ts'

export interface Pacer {
  /** Ends when the next request may be sent, or at once when the signal aborts; never rejects. */
  wait(signal?: AbortSignal): Promise<void>
}

/** Spaces requests evenly, at most `requestsPerSecond`; 0: no limit. Time that was not used is not saved up. */
export function createPacer(requestsPerSecond: number): Pacer {
  if (requestsPerSecond <= 0) return { wait: () => Promise.resolve() }
  const interval = 1000 / requestsPerSecond
  let next = 0
  return {
    async wait(signal) {
      if (signal?.aborted) return
      const now = performance.now()
      const due = Math.max(now, next)
      next = due + interval
      if (due > now) await pause(due - now, signal)
    },
  }
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      forget?.()
      resolve()
    }
    const timer = setTimeout(end, ms)
    const forget = signal && onAbort(signal, end)
  })
}
