export interface Turn {
  /** Places that are taken at once, so that a burst starts together. */
  readonly count?: number
  /** Before all who wait already and are in no hurry. */
  readonly urgent?: boolean
}

/** The ceiling on requests under way: a counting semaphore, first come first served among those of equal urgency. */
export interface Ceiling {
  readonly size: number
  /** Waits for a place; the returned function gives one back. */
  acquire(signal: AbortSignal, turn?: Turn): Promise<() => void>
}

interface Waiting {
  readonly count: number
  readonly urgent: boolean
  resolve(): void
}

export function createCeiling(size: number): Ceiling {
  let free = size
  const queue: Waiting[] = []
  const release = (): void => {
    free++
    next()
  }
  const next = (): void => {
    while (queue[0] && queue[0].count <= free) {
      const waiting = queue.shift() as Waiting
      free -= waiting.count
      waiting.resolve()
    }
  }
  return {
    size,
    acquire(signal, { count = 1, urgent = false } = {}) {
      if (queue.length === 0 && count <= free && !signal.aborted) {
        free -= count
        return Promise.resolve(release)
      }
      return new Promise((resolve, reject) => {
        const waiting: Waiting = {
          count: Math.min(count, size),
          urgent,
          resolve: () => {
            signal.removeEventListener('abort', abort)
            resolve(release)
          },
        }
        const abort = (): void => {
          const at = queue.indexOf(waiting)
          if (at >= 0) queue.splice(at, 1)
          reject(signal.reason as Error)
          next()
        }
        if (signal.aborted) return abort()
        signal.addEventListener('abort', abort, { once: true })
        const behind = urgent ? queue.findIndex((other) => !other.urgent) : -1
        queue.splice(behind < 0 ? queue.length : behind, 0, waiting)
        next()
      })
    },
  }
}
