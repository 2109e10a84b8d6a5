import type { Endpoint } from './dispatcher.ts'
import { type Line, openLine } from './line.ts'

/** At most `connections` lines; the one used last is given out first, so that connections stay warm. */
export interface LinePool {
  /** Waits for a free line, or for a new one if `fresh`; rejects with the reason of the signal. */
  take(signal: AbortSignal, fresh?: boolean): Promise<Line>
  /** Gives a line back; one that cannot be used again is hung up. */
  give(line: Line, reusable: boolean): void
  /** Hangs up the lines that wait for use: if one was closed by the other side, they are likely to be. */
  dropFree(): void
  /** Hangs up every line. */
  close(): Promise<void>
}

export function createLinePool(endpoint: Endpoint, size: number): LinePool {
  const open = new Set<Line>()
  const free: Line[] = []
  const waiting = new Set<() => void>()

  async function take(signal: AbortSignal, wantsFresh = false): Promise<Line> {
    for (;;) {
      if (signal.aborted) {
        wake()
        throw signal.reason
      }
      if (wantsFresh && open.size >= size) dropOne()
      const line = wantsFresh ? undefined : free.pop()
      if (line) return line
      if (open.size < size) {
        const fresh = openLine(endpoint)
        open.add(fresh)
        return fresh
      }
      await turn(signal)
    }
  }

  /** Ends when a line may have become free, or the signal aborts. */
  function turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        waiting.delete(end)
        signal.removeEventListener('abort', end)
        resolve()
      }
      waiting.add(end)
      signal.addEventListener('abort', end, { once: true })
    })
  }

  function give(line: Line, reusable: boolean): void {
    if (reusable) free.push(line)
    else {
      open.delete(line)
      void line.hangUp()
    }
    wake()
  }

  function dropOne(): boolean {
    const line = free.pop()
    if (!line) return false
    open.delete(line)
    void line.hangUp()
    return true
  }

  function dropFree(): void {
    while (dropOne());
    wake()
  }

  /** One waiter at a time; one that was woken but is past its deadline wakes the next. */
  function wake(): void {
    const [next] = waiting
    next?.()
  }

  async function close(): Promise<void> {
    await Promise.all([...open].map((line) => line.hangUp()))
    open.clear()
    free.length = 0
  }

  return { take, give, dropFree, close }
}
