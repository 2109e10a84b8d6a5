/** Many readers or one writer, first come first served. */
export interface ReadWriteLock {
  /** Waits for the lock; the returned function gives it back. Rejects with the signal's reason. */
  acquire(exclusive: boolean, signal: AbortSignal): Promise<() => void>
}

interface Waiting {
  readonly exclusive: boolean
  start(): void
}

export function createReadWriteLock(): ReadWriteLock {
  let readers = 0
  let writing = false
  const queue: Waiting[] = []
  const next = (): void => {
    for (let first = queue[0]; first && !writing && (!first.exclusive || readers === 0); first = queue[0]) {
      queue.shift()
      if (first.exclusive) writing = true
      else readers++
      first.start()
    }
  }
  return {
    acquire(exclusive, signal) {
      return new Promise((resolve, reject) => {
        const release = (): void => {
          if (exclusive) writing = false
          else readers--
          next()
        }
        const abort = (): void => {
          const at = queue.indexOf(waiting)
          if (at >= 0) queue.splice(at, 1)
          reject(signal.reason as Error)
          next()
        }
        const waiting: Waiting = {
          exclusive,
          start: () => {
            signal.removeEventListener('abort', abort)
            resolve(release)
          },
        }
        if (signal.aborted) return abort()
        signal.addEventListener('abort', abort, { once: true })
        queue.push(waiting)
        next()
      })
    },
  }
}
