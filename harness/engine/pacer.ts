import { setTimeout as sleep } from 'node:timers/promises'

export type Pacer = ReturnType<typeof createPacer>

/** Spaces requests evenly, at most `requestsPerSecond`; 0: no limit. Time that was not used is not saved up. */
export function createPacer(requestsPerSecond: number) {
  const interval = 1000 / requestsPerSecond
  const isLimited = requestsPerSecond > 0
  let next = 0
  /** When the next request may go; the one after it waits for one interval more. */
  const take = (now: number): number => {
    const due = Math.max(now, next)
    next = due + interval
    return due
  }
  return {
    /** Ends when the next request may be sent, or when the signal aborts; never rejects. Undefined if that is at once. */
    wait(signal?: AbortSignal): Promise<void> | undefined {
      if (!isLimited || signal?.aborted) return undefined
      const now = performance.now()
      const due = take(now)
      return due > now ? sleep(due - now, undefined, { signal }).catch(() => undefined) : undefined
    },
    /** A request goes at once: those after it wait for as much longer. */
    owe(): void {
      if (isLimited) take(performance.now())
    },
    /**
     * Waits for as long as that many requests take, before they go at once (`owe`): a target that counts in windows sees no more in
     * any of them, whether it begins or ends with these.
     */
    async saveUp(requests: number, signal: AbortSignal): Promise<void> {
      if (!isLimited) return
      next = Math.max(performance.now(), next) + requests * interval
      await sleep(next - performance.now(), undefined, { signal }).catch(() => undefined)
    },
  }
}
