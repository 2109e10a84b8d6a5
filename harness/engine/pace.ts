import { setTimeout as sleep } from 'node:timers/promises'
import type { Exchange } from './exchange.ts'
import { type HttpResponse, isThrottled } from './response.ts'

export interface Turn {
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
  /** A run has one signal and thousands of waits on it: one listener serves all. */
  const watched = new WeakSet<AbortSignal>()
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
  const watch = (signal: AbortSignal): void => {
    if (watched.has(signal)) return
    watched.add(signal)
    signal.addEventListener('abort', () => rejectAllOf(signal), { once: true })
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
        watch(signal)
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

/** Most tries of one throttled request, after the first. */
export const maxTries = 5
/** The longest `Retry-After` that the suite waits for, in ms. */
export const longestPauseMs = 60_000
/** For this long after a pause an operation's requests go one at a time, in ms. */
const serializedMs = 10_000
/**
 * A run in which every answer was a throttled one for this long beyond what they asked to wait (60 s at most) waits no more for the
 * operations that gave them, in ms.
 */
const throttleTimeoutMs = 30_000
/** Where answers ask to wait for longer than anybody does, it is over after so many ms. */
const longQuotaMs = 1000

/** `Retry-After` in ms, of either form (RFC 9110 §10.2.3); undefined if absent or unreadable. */
export function retryAfter(
  response: Pick<HttpResponse, 'header'>,
  nowMs: number,
): number | undefined {
  const value = response.header('retry-after')?.trim()
  if (value === undefined) return undefined
  if (/^\d{1,9}(\.\d{1,9})?$/.test(value)) return Number(value) * 1000
  // Anything else that begins otherwise is no date of HTTP: some parsers read a year into every number.
  if (!/^[A-Za-z]{3,9},? /.test(value)) return undefined
  const date = Date.parse(value)
  if (Number.isNaN(date)) return undefined
  // A date is read on the target's own clock if it tells it: that clock may be hours off.
  const theirs = Date.parse(response.header('date') ?? '')
  return Math.max(0, date - (Number.isNaN(theirs) ? nowMs : theirs))
}

/** A time in which every answer was a throttled one. */
export interface Wall {
  readonly operations: readonly string[]
  readonly ms: number
  /** The longest `Retry-After`, in ms. */
  readonly askedMs: number
  readonly statuses: ReadonlySet<number>
}

interface ThrottleSettings {
  /** First pause in ms if the target names none; it doubles with each try. */
  readonly baseMs: number
  /** Called when every answer was a throttled one for too long. */
  onTimeout(wall: Wall): void
}

/** Holds back an operation's requests while its target asks for patience. */
export function createThrottle({ baseMs, onTimeout }: ThrottleSettings) {
  const heldUntil = new Map<string, number>()
  const queues = new Map<string, Semaphore>()
  const listeners: ((operation: string, pauseMs: number) => void)[] = []
  let count = 0
  let longestAskedMs = 0
  /** The throttled answers that no other has followed. */
  let wall:
    | { operations: Set<string>; statuses: Set<number>; askedMs: number; begunAt: number }
    | undefined
  let waitUntil = 0
  let timeout: NodeJS.Timeout | undefined
  const release = (): void => {
    clearTimeout(timeout)
    wall = undefined
    waitUntil = 0
  }
  const met = (operation: string, { status }: HttpResponse, askedMs: number): void => {
    const now = performance.now()
    wall ??= { operations: new Set(), statuses: new Set(), askedMs: 0, begunAt: now }
    const { begunAt, operations, statuses } = wall
    operations.add(operation)
    statuses.add(status)
    wall.askedMs = Math.max(wall.askedMs, askedMs)
    // What is longer than anybody waits for is not waited for.
    const isLong = wall.askedMs > longestPauseMs
    // Each answer may ask for more, and 60 s in all are granted.
    const asked = askedMs > 0 ? Math.min(now + askedMs, begunAt + longestPauseMs) : begunAt
    const until = isLong ? begunAt + longQuotaMs : asked + throttleTimeoutMs
    if (until <= waitUntil && !isLong) return
    waitUntil = until
    clearTimeout(timeout)
    timeout = setTimeout(
      () =>
        wall &&
        onTimeout({ ...wall, operations: [...operations], ms: performance.now() - begunAt }),
      Math.max(0, waitUntil - now),
    ).unref()
  }
  return {
    /** Throttled answers so far, without those of a status that the requirement asks for: they may be its answer by another name. */
    get count(): number {
      return count
    },
    /** The longest pause that an answer asked for, in ms; 0: none did. */
    get longestAskedMs(): number {
      return longestAskedMs
    },
    /** Waits until the operation may be asked again. */
    async pass(operation: string, signal: AbortSignal): Promise<void> {
      for (;;) {
        const wait = (heldUntil.get(operation) ?? 0) - performance.now()
        if (wait <= 0) return
        await sleep(wait, undefined, { signal }).catch(() => undefined)
        signal.throwIfAborted()
      }
    },
    /**
     * A throttled answer, the `attempt`th in a row to one request (from 0): the operation is held back. Gives the pause in ms;
     * undefined if it is too long to be waited for.
     */
    hold(
      operation: string,
      response: HttpResponse,
      attempt: number,
      isCounted = true,
    ): number | undefined {
      if (isCounted) count++
      const asked = retryAfter(response, Date.now()) ?? 0
      longestAskedMs = Math.max(longestAskedMs, asked)
      met(operation, response, asked)
      // After the last try the suite waits only if the target asked for it.
      const own = attempt < maxTries ? baseMs * 2 ** attempt : 0
      const pause = asked || own
      if (pause > longestPauseMs) return undefined
      heldUntil.set(operation, Math.max(heldUntil.get(operation) ?? 0, performance.now() + pause))
      for (const call of listeners) call(operation, pause)
      return pause
    },
    /** True if the operation was throttled a short while ago: its requests then go one at a time. */
    isSerialized: (operation: string): boolean =>
      performance.now() - (heldUntil.get(operation) ?? -Infinity) < serializedMs,
    /**
     * One place for all requests of an operation, first come first served: what was throttled keeps it through its tries,
     * so that those who wait do not use the limit up among themselves. The returned function gives it back.
     */
    queue(operation: string, signal: AbortSignal): Promise<() => void> {
      const one = queues.get(operation) ?? createSemaphore(1)
      queues.set(operation, one)
      return one.acquire(signal)
    },
    /** Calls back each time an operation is held back, with the pause in ms. */
    onHold: (call: (operation: string, pauseMs: number) => void): void => void listeners.push(call),
    /** An answer that is not a throttled one is the end of the throttle timeout. */
    see({ response }: Pick<Exchange, 'response'>): void {
      if (response && !isThrottled(response)) release()
    },
    release,
  }
}

export type Throttle = ReturnType<typeof createThrottle>
