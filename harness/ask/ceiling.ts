/** The ceiling on requests under way: a counting semaphore, first come first served. */
export interface Ceiling {
  readonly size: number
  /** Waits for `count` places at once (so that a burst starts together); the returned function gives one place back. */
  enter(signal: AbortSignal, count?: number): Promise<() => void>
}

interface Waiting {
  count: number
  resolve(): void
}

export function createCeiling(size: number): Ceiling {
  let free = size
  const queue: Waiting[] = []
  const leave = (): void => {
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
    enter(signal, count = 1) {
      return new Promise((resolve, reject) => {
        const waiting: Waiting = {
          count: Math.min(count, size),
          resolve: () => {
            signal.removeEventListener('abort', abort)
            resolve(leave)
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
        queue.push(waiting)
        next()
      })
    },
  }
}
