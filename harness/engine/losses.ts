import type { HttpResult, NoResponse } from '../http/index.ts'
import type { Exchange } from './exchange.ts'
import { NotExercised, Throttled } from './outcome.ts'

/** Minimum and maximum attempts that prove a systematic loss. */
const least = 2
const most = 12
/** A run sends thousands of requests: more frequent events may be chance. */
const chance = 1e-7
/** Below this share, unanswered requests are few. */
const nowAndThen = 0.1
/** A body of this size doubles the probability of a loss. */
const bytesOnTheWay = 16 * 1024

/** Counts lost answers: reset, closed or truncated. */
export function createLosses() {
  let sent = 0
  let lost = 0
  let hung = 0
  return {
    /** Requests repeated without an answer, or after a gateway's. */
    retried: 0,
    note(result: HttpResult): void {
      sent++
      if (isLost(result)) lost++
      if (isHung(result)) hung++
    },
    /**
     * Whether chance may explain this many unanswered attempts in a row: two timeouts, if a few other requests timed
     * out.
     */
    mayBeChance(last: NoResponse, own: number, bytes: number): boolean {
      if (isLost(last)) return own < this.proof(own, bytes)
      return isHung(last) && own <= least && hung > own && hung - own < nowAndThen * sent
    },
    /**
     * How many consecutive losses of one request rule out chance: two without other losses, more with others or a
     * longer body.
     * @param own its own lost answers so far
     */
    proof(own: number, bytes: number): number {
      const others = lost - own
      if (others <= 0) return least
      const share = Math.min(0.5, (others / sent) * (1 + bytes / bytesOnTheWay))
      return Math.min(most, Math.max(least + 1, Math.ceil(Math.log(chance) / Math.log(share))))
    },
  }
}

export type Losses = ReturnType<typeof createLosses>

function isHung(result: HttpResult): boolean {
  return result.kind === 'no-answer' && result.cause === 'timeout'
}

/** The connection was closed before or during the answer, as networks sometimes do. */
export function isLost(result: HttpResult): boolean {
  return result.kind === 'no-answer' && result.cause === 'reset'
}

/**
 * Opens for an operation with two consecutive unanswered requests (more, if chance may explain that), or constant
 * throttling: it gets no more requests.
 */
export function createCircuitBreaker() {
  const inARow = new Map<string, number>()
  const open = new Map<string, number>()
  const unanswered = new Map<string, Exchange>()
  const throttled = new Set<string>()
  return {
    /** Throws `NotExercised` if the operation gets no more requests. */
    check(operation: string): void {
      if (throttled.has(operation))
        throw new Throttled(
          `${operation} returned only 429 or 503 for more than 30 s: the suite stops sending it requests`,
        )
      if (open.has(operation)) {
        throw new NotExercised(
          `${operation} did not answer ${open.get(operation)} requests in a row: the suite stops sending it requests`,
        )
      }
    },
    isOpen: (operation: string): boolean => open.has(operation),
    /**
     * Counts an unanswered request.
     * @param proof how many in a row rule out chance, given their number so far
     */
    count(operation: string, exchange: Exchange, proof: (row: number) => number): void {
      const row = (inARow.get(operation) ?? 0) + 1
      inARow.set(operation, row)
      if (row >= proof(row) && !open.has(operation)) open.set(operation, row)
      if (exchange.unansweredTwice && exchange.purpose.role !== 'probe')
        unanswered.set(operation, exchange)
    },
    /** A valid request was throttled too long. */
    stop: (operation: string): void => void throttled.add(operation),
    /** A valid request of the operation without an answer on two connections. */
    unanswered: (operation: string): Exchange | undefined => unanswered.get(operation),
    // Once open it stays open: late answers do not close it.
    reset: (operation: string): void => {
      if (!open.has(operation)) inARow.delete(operation)
    },
  }
}

export type CircuitBreaker = ReturnType<typeof createCircuitBreaker>
