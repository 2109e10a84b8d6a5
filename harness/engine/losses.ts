import type { HttpResult } from '../http/index.ts'
import type { Exchange } from './exchange.ts'
import { NotExercised, Throttled } from './outcome.ts'

/** Least and most tries of one request that prove that it is lost each time, and by no chance of the network. */
const least = 2
const most = 12
/** A run sends thousands of requests: chance explains what comes more often than this. */
const chance = 1e-7
/** A share of requests without an answer below which they are few. */
const nowAndThen = 0.1
/** A body of so many bytes is met by a loss twice as often as none. */
const bytesOnTheWay = 16 * 1024

/** Counts the answers of a run that were lost: reset, closed or cut off. */
export function createLosses() {
  let sent = 0
  let lost = 0
  let hung = 0
  return {
    /** Requests that were sent again since no answer came, or a gateway's. */
    retried: 0,
    note(result: HttpResult): void {
      sent++
      if (isLost(result)) lost++
      if (isHung(result)) hung++
    },
    /**
     * Whether a few of all requests get no answer in time, other ones than this: chance may explain two of them in a row.
     * @param own how many of its own
     */
    hangsNowAndThen: (own: number): boolean => hung > own && hung - own < nowAndThen * sent,
    /**
     * How many losses in a row of one request prove that no chance explains them: two if the run lost no other, more the more others
     * were lost, and the longer its body is.
     * @param own how many of its own answers were lost so far
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

export function isHung(result: HttpResult): boolean {
  return result.kind === 'no-answer' && result.cause === 'timeout'
}

/** The connection was closed, before the answer or in the middle of it: what a network does now and then. */
export function isLost(result: HttpResult): boolean {
  return result.kind === 'no-answer' && result.cause === 'reset'
}

/**
 * Opens for an operation that gave no answer to two requests in a row, to more of them if chance may explain that, or is throttled all
 * the time: it gets no more requests.
 */
export function createCircuitBreaker() {
  const inARow = new Map<string, number>()
  /** How many requests in a row each did not answer. */
  const open = new Map<string, number>()
  const unanswered = new Map<string, Exchange>()
  const throttled = new Set<string>()
  return {
    /** Throws `NotExercised` if the operation gets no more requests. */
    check(operation: string): void {
      if (throttled.has(operation))
        throw new Throttled(
          `${operation} was answered 429 or 503 for more than 30 s: the suite sends it no more requests`,
        )
      if (open.has(operation)) {
        throw new NotExercised(
          `${operation} did not answer ${open.get(operation)} requests in a row: the suite sends it no more requests`,
        )
      }
    },
    isOpen: (operation: string): boolean => open.has(operation),
    /**
     * A request that got no answer.
     * @param proof how many of them in a row are no matter of chance, given their number so far
     */
    count(operation: string, exchange: Exchange, proof: (row: number) => number): void {
      const row = (inARow.get(operation) ?? 0) + 1
      inARow.set(operation, row)
      if (row >= proof(row) && !open.has(operation)) open.set(operation, row)
      if (exchange.unansweredTwice && exchange.purpose.role !== 'probe')
        unanswered.set(operation, exchange)
    },
    /** A request that should be granted was throttled for so long that it is no matter of time. */
    stop: (operation: string): void => void throttled.add(operation),
    /** A request of the operation that should have succeeded, and got no answer on two connections. */
    unanswered: (operation: string): Exchange | undefined => unanswered.get(operation),
    // Once open it stays open: an answer to an older request does not close it.
    reset: (operation: string): void => {
      if (!open.has(operation)) inARow.delete(operation)
    },
  }
}

export type CircuitBreaker = ReturnType<typeof createCircuitBreaker>
