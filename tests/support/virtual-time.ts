import { webcrypto } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import timersPromises from 'node:timers/promises'

interface Timer {
  readonly callback: () => void
  readonly every: number | undefined
  at: number
}

/** Turns of the event loop in a row in which nothing is under way, after which nothing more will happen by itself. */
const quietTurns = 3
/** A jump over that many ms is more likely to be a mistake: it takes more turns. */
const longJumpMs = 250
const turnsBeforeLongJump = 30

/** Loads what the reference loads when it first needs it. Nobody waits for a disk while time stands still. */
async function loadLate(): Promise<void> {
  const { getResolvedPDFJS } = await import('unpdf')
  // Another import, by the first document that is read.
  await getResolvedPDFJS()
}

/** Functions that leave the event loop for a moment: the reference verifies signatures. */
const leaving = ['digest', 'importKey', 'sign', 'verify'] as const

/**
 * Does the work in time that stands still while anything is being done, and jumps to the next timer when nothing is:
 * anyone who waits does not wait, and how busy the machine is makes no difference. Good for work in this process alone;
 * sockets need real time. One at a time: the clock is the whole process's.
 */
export async function inVirtualTime<T>(work: () => Promise<T>): Promise<T> {
  await loadLate()
  const done = { yet: false }
  const real = {
    setTimeout,
    clearTimeout,
    setInterval,
    clearInterval,
    now: performance.now,
    date: Date.now,
  }
  const { setTimeout: sleep, setImmediate: nextTurn } = timersPromises
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  const began = { at: performance.now(), date: Date.now() }
  const timers: Timer[] = []
  let away = 0
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
    // A connection that is kept began before time stood still: its timer would call something that is gone.
    else real.clearTimeout(handle as NodeJS.Timeout)
  }
  const sleepVirtually = <V>(
    ms?: number,
    value?: V,
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<V> => {
    return new Promise<V>((resolve, reject) => {
      const abort = (): void => (stop(handle), reject(signal?.reason as Error))
      const handle = start(
        () => (signal?.removeEventListener('abort', abort), resolve(value as V)),
        ms,
        false,
      )
      signal?.addEventListener('abort', abort, { once: true })
      if (signal?.aborted) abort()
    })
  }
  const stillness = async (): Promise<void> => {
    const isLong = (): boolean => timers[0] === undefined || timers[0].at - now > longJumpMs
    for (let quiet = 0; quiet < (isLong() ? turnsBeforeLongJump : quietTurns) && !done.yet;) {
      await turn()
      quiet = away > 0 ? 0 : quiet + 1
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
  // Who waits for a turn of the event loop will go on.
  const waitForTurn: typeof nextTurn = (...args) => (
    away++,
    nextTurn(...args).finally(() => away--)
  )
  timersPromises.setImmediate = waitForTurn
  syncBuiltinESMExports()
  const subtle = webcrypto.subtle as unknown as Record<
    string,
    (...args: unknown[]) => Promise<unknown>
  >
  for (const name of leaving) {
    const leave = subtle[name]!.bind(subtle)
    subtle[name] = (...args) => (away++, leave(...args).finally(() => away--))
  }
  try {
    const result = work().finally(() => (done.yet = true))
    result.catch(() => undefined)
    while (!done.yet) {
      await stillness()
      // Its end may have come meanwhile; then nobody looks at the time any more.
      advance()
    }
    return await result
  } finally {
    for (const name of leaving) delete subtle[name]
    const { now: realNow, date, ...globals } = real
    Object.assign(globalThis, globals)
    performance.now = realNow
    Date.now = date
    Object.assign(timersPromises, { setTimeout: sleep, setImmediate: nextTurn })
    syncBuiltinESMExports()
  }
}
