import { setTimeout as sleep } from 'node:timers/promises'
import { onAbort } from '../http/index.ts'

interface Turn {
  /** Places that are taken at once, so that a burst starts together. */
  readonly count?: number
  /** Before all who wait already and are in no hurry. */
  readonly urgent?: boolean
}

/**
 * A counting semaphore, first come first served among those of equal urgency. The semaphore on requests under way is one; with one
 * place it is a lock, and whoever takes all places of several has them to itself.
 */
export type Semaphore = ReturnType<typeof createSemaphore>

interface Waiting {
  readonly count: number
  readonly urgent: boolean
  readonly signal: AbortSignal
  enter(release: () => void): void
  reject(reason: unknown): void
}

export function createSemaphore(size: number) {
  let free = size
  let queue: Waiting[] = []
  const take = (count: number): (() => void) => {
    let taken = count
    free -= count
    return () => {
      free += taken
      taken = 0
      next()
    }
  }
  const next = (): void => {
    for (let [first] = queue; first && first.count <= free; [first] = queue)
      queue.shift()?.enter(take(first.count))
  }
  const rejectAllOf = (signal: AbortSignal): void => {
    const ended = queue.filter((waiting) => waiting.signal === signal)
    queue = queue.filter((waiting) => waiting.signal !== signal)
    for (const { reject } of ended) reject(signal.reason)
    next()
  }
  return {
    size,
    /** Waits for its places, or rejects with the reason of the signal; the returned function gives all of them back. */
    acquire(signal: AbortSignal, { count = 1, urgent = false }: Turn = {}): Promise<() => void> {
      if (queue.length === 0 && count <= free && !signal.aborted)
        return Promise.resolve(take(count))
      return new Promise((enter, reject) => {
        if (signal.aborted) return reject(signal.reason as Error)
        onAbort(signal, rejectAllOf)
        const behind = urgent ? queue.findIndex((other) => !other.urgent) : -1
        const waiting = { count: Math.min(count, size), urgent, signal, enter, reject }
        queue.splice(behind < 0 ? queue.length : behind, 0, waiting)
        next()
      })
    },
  }
}

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
