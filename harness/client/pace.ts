import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Exchange,
  type HttpResponse,
  type Left,
  maxTries,
  open,
  type Purpose,
} from '../journal/index.ts'

/**
 * A counting semaphore, first come first served among equal urgency. With one place it is a lock; taking all places
 * excludes others.
 */
export type Semaphore = ReturnType<typeof createSemaphore>

interface Waiting {
  readonly count: number
  readonly urgent: boolean
  enter(release: () => void): void
  reject(reason: unknown): void
}

/** @param signal of the run, which ends all waits */
export function createSemaphore(size: number, signal: AbortSignal) {
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
    for (let first = queue[0]; first && first.count <= free; first = queue[0])
      queue.shift()?.enter(take(first.count))
  }
  const rejectAll = (): void => {
    for (const { reject } of queue.splice(0)) reject(signal.reason)
  }
  signal.addEventListener('abort', rejectAll, { once: true })
  return {
    size,
    /** Returns a function to release the places, at once if they are free. */
    acquire(count = 1, urgent = false): (() => void) | Promise<() => void> {
      if (queue.length === 0 && count <= free && !signal.aborted) return take(count)
      return new Promise((enter, reject) => {
        if (signal.aborted) return reject(signal.reason as Error)
        const behind = urgent ? queue.findIndex((other) => !other.urgent) : -1
        const waiting = { count: Math.min(count, size), urgent, enter, reject }
        queue.splice(behind < 0 ? queue.length : behind, 0, waiting)
        next()
      })
    },
  }
}

/** Spaces requests evenly, at most `requestsPerSecond`. Unused time is not saved up. */
export function createPacer(requestsPerSecond: number) {
  const interval = 1000 / requestsPerSecond
  let next = 0
  const take = (now: number): number => {
    const due = Math.max(now, next)
    next = due + interval
    return due
  }
  return {
    wait(signal?: AbortSignal): Promise<void> | undefined {
      if (signal?.aborted) return undefined
      const now = performance.now()
      const due = take(now)
      return due > now ? sleep(due - now, undefined, { signal }).catch(() => undefined) : undefined
    },
    owe(): void {
      take(performance.now())
    },
    /** Waits in advance for a burst (`owe`), so that no rate window contains more requests than allowed. */
    async saveUp(requests: number, signal: AbortSignal): Promise<void> {
      next = Math.max(performance.now(), next) + requests * interval
      await sleep(next - performance.now(), undefined, { signal }).catch(() => undefined)
    },
  }
}

export const longestPauseMs = 60_000
/** So many operations throttled in a row, with no other answer between them, share a limit: all are held. */
const sharingLimit = 3
/** After a pause, an operation's requests go one at a time for this long, in ms. */
const serializedMs = 10_000
/**
 * After this long with nothing but throttled answers, besides requested waits of up to 60 s, the run stops waiting for
 * those operations, in ms.
 */
const throttleTimeoutMs = 30_000
/** Give up after this long if every Retry-After exceeds `longestPauseMs`, in ms. */
const longQuotaMs = 1000

/** `Retry-After` in ms, in either form (RFC 9110 §10.2.3); undefined if absent or invalid. */
export function retryAfter(
  response: Pick<HttpResponse, 'header'>,
  nowMs: number,
): number | undefined {
  const value = response.header('retry-after')?.trim()
  if (value === undefined) return undefined
  if (/^\d{1,9}(\.\d{1,9})?$/.test(value)) return Number(value) * 1000
  // Other beginnings are not HTTP dates: some parsers find a year in every number.
  if (!/^[A-Za-z]{3,9},? /.test(value)) return undefined
  const date = Date.parse(value)
  if (Number.isNaN(date)) return undefined
  // A date is relative to the target's own clock, if known, which may be hours off.
  const theirs = Date.parse(response.header('date') ?? '')
  return Math.max(0, date - (Number.isNaN(theirs) ? nowMs : theirs))
}

export interface Wall {
  readonly operations: readonly string[]
  readonly ms: number
  readonly askedMs: number
  readonly statuses: ReadonlySet<number>
}

/** What a request keeps through its tries: its place in a queue of throttled requests, until `leave`. */
export interface Turn {
  queue?: string
  leave?: (() => void) | undefined
}

interface ThrottleSettings {
  readonly baseMs: number
  readonly onPause?: ((operation: string, pauseMs: number) => void) | undefined
  onTimeout(wall: Wall): void | Promise<void>
}

export type Throttle = ReturnType<typeof createThrottle>

export function createThrottle(throttleSettings: ThrottleSettings) {
  const heldUntil = new Map<string, number>()
  let allHeldUntil = -Infinity
  /** A limit may be on wrong keys alone. */
  const wrongKeys = { operations: new Set<string>(), heldUntil: -Infinity }
  const queues = new Map<string, Semaphore>()
  /** Throttled answers, except those with an expected status, which may be the answer under another name. */
  const totals = { throttled: 0, longestAskedMs: 0 }
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
  const expire = async (): Promise<void> => {
    if (!wall) return
    const ms = performance.now() - wall.begunAt
    await throttleSettings.onTimeout({ ...wall, operations: [...wall.operations], ms })
  }
  const met = (operation: string, response: HttpResponse, askedMs: number): void => {
    const now = performance.now()
    wall ??= { operations: new Set(), statuses: new Set(), askedMs: 0, begunAt: now }
    const { begunAt } = wall
    wall.operations.add(operation)
    wall.statuses.add(response.status)
    wall.askedMs = Math.max(wall.askedMs, askedMs)
    const isLong = wall.askedMs > longestPauseMs
    // Each answer may ask for more, up to 60 s in all.
    const asked = askedMs > 0 ? Math.min(now + askedMs, begunAt + longestPauseMs) : begunAt
    const until = isLong ? begunAt + longQuotaMs : asked + throttleTimeoutMs
    if (until <= waitUntil && !isLong) return
    waitUntil = until
    clearTimeout(timeout)
    timeout = setTimeout(() => void expire(), Math.max(0, waitUntil - now)).unref()
  }
  return {
    totals,
    /** Waits as long as the operation is held; undefined if it is not. */
    pass(operation: string, signal: AbortSignal): Promise<void> | undefined {
      const until = Math.max(heldUntil.get(operation) ?? -Infinity, allHeldUntil)
      const now = performance.now()
      if (until <= now) {
        // One request tries whether a shared limit has passed: it would use up a try of each.
        if (wall && wall.operations.size >= sharingLimit)
          allHeldUntil = now + throttleSettings.baseMs
        return undefined
      }
      return sleep(until - now, undefined, { signal })
        .catch(() => signal.throwIfAborted())
        .then(() => this.pass(operation, signal))
    },
    /**
     * Pauses the operation after the `attempt`th consecutive throttled answer (from 0). Returns the pause in ms;
     * undefined if too long.
     */
    hold(
      operation: string,
      response: HttpResponse,
      attempt: number,
      { isCounted = true, isKeyRight = true } = {},
    ): number | undefined {
      if (isCounted) totals.throttled++
      const asked = retryAfter(response, Date.now()) ?? 0
      totals.longestAskedMs = Math.max(totals.longestAskedMs, asked)
      met(operation, response, asked)
      // After the last retry, only a requested pause is kept. One that was too short is lengthened.
      const own =
        attempt < maxTries && (asked === 0 || attempt > 0)
          ? throttleSettings.baseMs * 2 ** attempt
          : 0
      if (asked > longestPauseMs) return undefined
      const pause = asked + own
      const until = performance.now() + pause
      heldUntil.set(operation, Math.max(heldUntil.get(operation) ?? 0, until))
      if (wall && wall.operations.size >= sharingLimit) allHeldUntil = Math.max(allHeldUntil, until)
      if (!isKeyRight && wrongKeys.operations.add(operation).size >= sharingLimit)
        wrongKeys.heldUntil = Math.max(wrongKeys.heldUntil, until)
      throttleSettings.onPause?.(operation, pause)
      return pause
    },
    /**
     * After a pause, one place for all requests of an operation, or for all with a wrong key, first come first served: a
     * throttled request keeps it through its retries, so that waiting ones do not use up the limit. It changes to the
     * queue of wrong keys once there is one, which would leave nothing to others.
     */
    wait(
      operation: string,
      signal: AbortSignal,
      isKeyRight: boolean,
      turn: Turn,
    ): Promise<void> | undefined {
      const since = performance.now() - serializedMs
      const isShared = !isKeyRight && wrongKeys.heldUntil > since
      if (!isShared && (turn.leave || (heldUntil.get(operation) ?? -Infinity) <= since))
        return undefined
      const name = isShared ? 'wrong keys' : operation
      if (turn.leave && turn.queue === name) return undefined
      turn.leave?.()
      turn.leave = undefined
      const one = queues.get(name) ?? createSemaphore(1, signal)
      queues.set(name, one)
      return Promise.resolve(one.acquire()).then((leave) => {
        turn.leave = leave
        turn.queue = name
      })
    },
    see(exchange: Pick<Exchange, 'response' | 'sentAt'>, isKeyRight = true): void {
      if (!exchange.response || exchange.response.isThrottled) return
      if (!isKeyRight) wrongKeys.operations.clear()
      // What was under way before says nothing.
      if (wall && exchange.sentAt > wall.begunAt) release()
    },
    /** At the end of a run, a quota of hours counts as spent at once. */
    endIfSpent: async (): Promise<void> => {
      if (wall && wall.askedMs > longestPauseMs) await expire()
    },
    release,
  }
}

/** Minimum and maximum attempts that prove a systematic loss. */
const leastTries = 2
const mostTries = 12
/** A run sends thousands of requests: more frequent events may be chance. */
const chance = 1e-7

/** Counts requests without an answer: how many of them rule out chance, and which operations get no more. */
export class Breaker {
  sent = 0
  /** Requests that got no answer, or a gateway's, and were answered by the service when they were sent again. */
  lostByChance = 0
  retried = 0
  readonly #inARow = new Map<string, number>()
  readonly #open = new Map<string, number>()
  readonly #throttled = new Set<string>()

  /**
   * How many requests without an answer rule out chance: two; more, the more requests of the run were lost by chance. What
   * a target never answers is not one of these.
   * @param attempts of which they were lost, if they did not come in a row
   */
  proof(attempts = 0): number {
    if (this.lostByChance === 0) return leastTries
    const share = Math.min(0.5, this.lostByChance / this.sent)
    let needed = leastTries + 1
    // An upper bound of the probability that so many are lost.
    while (
      needed < mostTries &&
      (share * Math.max(1, (Math.E * attempts) / needed)) ** needed > chance
    )
      needed++
    return needed
  }

  /**
   * Why the suite sends this operation no more requests, if so, except the control: that it gets no answer, either, is
   * what the operation is failed for.
   */
  check(operation: string, role: Purpose['role'] = 'probe'): Left {
    const row = role === 'control' ? undefined : this.#open.get(operation)
    const what = this.#throttled.has(operation)
      ? `throttled: ${operation} returned only 429 or 503 for more than 30 s`
      : row !== undefined && `${operation} did not answer ${row} requests in a row`
    return what ? open(`${what}: the suite stops sending it requests`) : undefined
  }

  isOpen(operation: string): boolean {
    return this.#open.has(operation)
  }

  /** @param byChance it may have been lost by chance */
  count(operation: string, byChance: boolean): void {
    const row = (this.#inARow.get(operation) ?? 0) + 1
    this.#inARow.set(operation, row)
    if (row >= (byChance ? this.proof() : leastTries) && !this.#open.has(operation))
      this.#open.set(operation, row)
  }

  stop(operation: string): void {
    this.#throttled.add(operation)
  }

  /** Once open it stays open: late answers do not close it. */
  reset(operation: string): void {
    this.#inARow.delete(operation)
  }
}
