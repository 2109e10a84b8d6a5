import { onAbort } from '../http/under-way.ts'

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
export interface Semaphore {
  readonly size: number
  /** Waits for its places, or rejects with the reason of the signal; the returned function gives all of them back. */
  acquire(signal: AbortSignal, turn?: Turn): Promise<() => void>
}

interface Waiting {
  readonly count: number
  readonly urgent: boolean
  enter(): void
}

export function createSemaphore(size: number): Semaphore {
  let free = size
  const queue: Waiting[] = []
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
    while (queue[0] && queue[0].count <= free) queue.shift()?.enter()
  }
  return {
    size,
    acquire(signal, { count = 1, urgent = false } = {}) {
      if (queue.length === 0 && count <= free && !signal.aborted) return Promise.resolve(take(count))
      return new Promise((resolve, reject) => {
        const waiting: Waiting = {
          count: Math.min(count, size),
          urgent,
          enter() {
            forget()
            resolve(take(waiting.count))
          },
        }
        const abort = (): void => {
          const at = queue.indexOf(waiting)
          if (at >= 0) queue.splice(at, 1)
          reject(signal.reason as Error)
          next()
        }
        if (signal.aborted) return abort()
        const forget = onAbort(signal, abort)
        const behind = urgent ? queue.findIndex((other) => !other.urgent) : -1
        queue.splice(behind < 0 ? queue.length : behind, 0, waiting)
        next()
      })
    },
  }
}

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
