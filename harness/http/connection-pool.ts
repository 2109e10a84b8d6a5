import type { Endpoint } from './dispatcher.ts'
import type { Ending } from './under-way.ts'
import { type ConnectionSlot, openConnectionSlot } from './connection-slot.ts'

/** At most `connections` slots; the one used last is given out first, so that connections stay warm. */
export interface ConnectionPool {
  /** Waits for a free slot, or for a new one if `fresh`; rejects with the reason of the ending. */
  take(ending: Ending, fresh?: boolean): Promise<ConnectionSlot>
  /** Gives a slot back; one that cannot be used again is hung up. */
  give(slot: ConnectionSlot, reusable: boolean): void
  /** How many slots wait for use. */
  idle(): number
  /** Hangs up the slots that wait for use: if one was closed by the other side, they are likely to be. */
  dropFree(): void
  /** Hangs up every slot. */
  close(): Promise<void>
}

export function createConnectionPool(endpoint: Endpoint, size: number): ConnectionPool {
  const open = new Set<ConnectionSlot>()
  const free: ConnectionSlot[] = []
  const waiting = new Set<() => void>()

  async function take(ending: Ending, wantsFresh = false): Promise<ConnectionSlot> {
    for (;;) {
      if (ending.aborted) {
        wake()
        throw ending.reason
      }
      if (wantsFresh && open.size >= size) dropOne()
      const slot = wantsFresh ? undefined : free.pop()
      if (slot) return slot
      if (open.size < size) {
        const fresh = openConnectionSlot(endpoint)
        open.add(fresh)
        return fresh
      }
      await turn(ending)
    }
  }

  /** Ends when a slot may have become free, or the exchange has to end. */
  function turn(ending: Ending): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        waiting.delete(end)
        forget()
        resolve()
      }
      waiting.add(end)
      const forget = ending.onEnd(end)
    })
  }

  function give(slot: ConnectionSlot, reusable: boolean): void {
    if (reusable) free.push(slot)
    else {
      open.delete(slot)
      void slot.hangUp()
    }
    wake()
  }

  function dropOne(): boolean {
    const slot = free.pop()
    if (!slot) return false
    open.delete(slot)
    void slot.hangUp()
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
    await Promise.all([...open].map((slot) => slot.hangUp()))
    open.clear()
    free.length = 0
  }

  return { take, give, dropFree, close, idle: () => free.length }
}
