import { AsyncLocalStorage } from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'
import timersPromises from 'node:timers/promises'

/**
 * Time that stands still while anything is being done, and jumps to the next timer when nothing is: whoever waits does
 * not wait, and how busy the machine is makes no difference. Good for work in this process alone; sockets need real time.
 */
export interface VirtualTime {
  /** Tells of work that may leave the event loop for a moment, to have a signature verified, say: time stands still. */
  during<T>(work: () => Promise<T>): Promise<T>
}

interface Timer {
  readonly callback: () => void
  readonly every: number | undefined
  at: number
}

/** Turns of the event loop in a row without anything under way, after which nothing more will happen by itself. */
const quietTurns = 3
/** Work that waits for something other than a timer is not waited for any longer than this, in real ms. */
const longestStillMs = 5000

/** Work under way. While it sleeps itself, time goes on without it. */
interface Work {
  /** In real ms. */
  readonly since: number
  sleeps: number
}

/** Does the work in virtual time. One at a time: the clock is the whole process's. */
export async function inVirtualTime<T>(work: (time: VirtualTime) => Promise<T>): Promise<T> {
  const done = { yet: false }
  const real = { setTimeout, clearTimeout, setInterval, clearInterval, now: performance.now, date: Date.now }
  const sleep = timersPromises.setTimeout
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  const began = { at: performance.now(), date: Date.now() }
  const timers: Timer[] = []
  const underWay = new Set<Work>()
  const works = new AsyncLocalStorage<Work>()
  /** ms of virtual time since it began. */
  let now = 0

  const place = (timer: Timer): void => {
    const at = timers.findIndex((other) => other.at > timer.at)
    timers.splice(at < 0 ? timers.length : at, 0, timer)
  }
  const start = (callback: () => void, ms: number | undefined, repeats: boolean): object => {
    const delay = Math.max(1, ms ?? 1)
    const timer: Timer = { callback, every: repeats ? delay : undefined, at: now + delay }
    place(timer)
    const handle = { timer, ref: () => handle, unref: () => handle, hasRef: () => true }
    return handle
  }
  const stop = (handle: unknown): void => {
    const at = timers.indexOf((handle as { timer?: Timer } | undefined)?.timer as Timer)
    if (at >= 0) timers.splice(at, 1)
  }
  const sleepVirtually = <V>(ms?: number, value?: V, { signal }: { signal?: AbortSignal } = {}): Promise<V> => {
    const sleeper = works.getStore()
    if (sleeper) sleeper.sleeps++
    return new Promise<V>((resolve, reject) => {
      const abort = (): void => (stop(handle), reject(signal?.reason as Error))
      const handle = start(() => (signal?.removeEventListener('abort', abort), resolve(value as V)), ms, false)
      signal?.addEventListener('abort', abort, { once: true })
      if (signal?.aborted) abort()
    }).finally(() => sleeper && sleeper.sleeps--)
  }
  const realNow = (): number => real.now.call(performance)
  const isWorking = (): boolean => {
    const earliest = realNow() - longestStillMs
    return [...underWay].some(({ since, sleeps }) => sleeps === 0 && since > earliest)
  }
  const stillness = async (): Promise<void> => {
    for (let quiet = 0; quiet < quietTurns && !done.yet;) {
      await turn()
      quiet = isWorking() ? 0 : quiet + 1
    }
  }
  const advance = (): void => {
    const timer = timers.shift()
    if (!timer) return
    now = Math.max(now, timer.at)
    if (timer.every !== undefined) place(Object.assign(timer, { at: now + timer.every }))
    timer.callback()
  }

  Object.assign(globalThis, {
    setTimeout: (call: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) =>
      start(() => call(...args), ms, false),
    setInterval: (call: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) =>
      start(() => call(...args), ms, true),
    clearTimeout: stop,
    clearInterval: stop,
  })
  performance.now = () => began.at + now
  Date.now = () => Math.floor(began.date + now)
  timersPromises.setTimeout = sleepVirtually
  syncBuiltinESMExports()
  try {
    const result = work({
      async during(part) {
        const work: Work = { since: realNow(), sleeps: 0 }
        underWay.add(work)
        return works.run(work, part).finally(() => underWay.delete(work))
      },
    }).finally(() => (done.yet = true))
    result.catch(() => undefined)
    while (!done.yet) {
      await stillness()
      // Its end may have come meanwhile; then nobody looks at the time any more.
      advance()
    }
    return await result
  } finally {
    const { now: nowOfAll, date, ...globals } = real
    Object.assign(globalThis, globals)
    performance.now = nowOfAll
    Date.now = date
    timersPromises.setTimeout = sleep
    syncBuiltinESMExports()
  }
}
