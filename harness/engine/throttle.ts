import { setTimeout as sleep } from 'node:timers/promises'
import { createGrantRate, type Kind } from './grant-rate.ts'
import type { HttpResponse } from './response.ts'
import { createSemaphore, type Semaphore } from './semaphore.ts'

/** Most tries of one throttled request, after the first. */
const maxTries = 5
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

interface HoldOptions {
  /** How often the request is tried at most, after the first time. Default 5. */
  readonly tries?: number
  /** Whether the answer is counted as throttled. Default true. */
  readonly counted?: boolean
  /** What a limit may count the request as. Default: one of the operation, with the full key. */
  readonly kind?: Kind
}

/** A time in which every answer was a throttled one. */
export interface Wall {
  /** Operations that gave them. */
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
  const giveUp = new Set<string>()
  const suspected = new Set<string>()
  const listeners: ((operation: string, pauseMs: number) => void)[] = []
  let count = 0
  const grants = createGrantRate()
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
    /** Requests a minute that the target grants between throttled answers; undefined if nothing shows it. */
    grantsPerMinute: grants.perMinute,
    /** Waits until the operation may be asked again. */
    async pass(operation: string, signal: AbortSignal): Promise<void> {
      for (;;) {
        const wait = (heldUntil.get(operation) ?? 0) - performance.now()
        if (wait <= 0) return
        await sleep(wait, undefined, { signal }).catch(() => undefined)
        signal.throwIfAborted()
      }
    },
    /** Most tries of one throttled request after the first: 5, or none if patience is known not to help. */
    tries: (operation: string): number => (giveUp.has(operation) ? 0 : maxTries),
    /** Stops waiting for an operation of which only the probe was throttled. */
    giveUp: (operation: string): void => void giveUp.add(operation),
    /** Stops waiting for an operation that was throttled for 30 s: its limit, or its answer to the faults that were sent. */
    suspect(operation: string): void {
      giveUp.add(operation)
      suspected.add(operation)
    },
    isSuspected: (operation: string): boolean => suspected.has(operation),
    /**
     * A throttled answer, the `attempt`th in a row to one request (from 0): the operation is held back. Gives the pause in ms; undefined if it is too long to be waited for.
     */
    hold(
      operation: string,
      response: HttpResponse,
      attempt: number,
      { tries = maxTries, counted = true, kind = { operation, shown: 'full' } }: HoldOptions = {},
    ): number | undefined {
      if (counted) count++
      const asked = retryAfter(response, Date.now())
      grants.limited(kind, asked ?? 0, response.status)
      met(operation, response, asked ?? 0)
      // After the last try the suite waits only if the target asked for it.
      const own = attempt < tries ? baseMs * 2 ** attempt : 0
      const pause = asked || own
      if (pause > longestPauseMs) return undefined
      if (suspected.has(operation)) return pause
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
    /** An answer that is not a throttled one: counted, and the end of the throttle timeout. */
    answered(kind: Kind, sentAt: number): void {
      grants.answered(kind, sentAt)
      release()
    },
    /** The end of the throttle timeout, at the end of the run. */
    release,
  }
}

export type Throttle = ReturnType<typeof createThrottle>
