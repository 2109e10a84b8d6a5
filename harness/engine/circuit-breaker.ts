import type { Exchange } from './exchange.ts'
import { NotExercised } from './outcome.ts'

/** Opens for an operation that gave no answer to two requests in a row: it gets no more requests. */
export interface CircuitBreaker {
  /** Throws `NotExercised` if the operation gets no more requests. */
  check(operation: string): void
  /** A request that got no answer. */
  count(operation: string, exchange: Exchange): void
  /** A request of the operation that should have succeeded, and got no answer on two connections. */
  unanswered(operation: string): Exchange | undefined
  reset(operation: string): void
}

const enough = 2

export function createCircuitBreaker(): CircuitBreaker {
  const inARow = new Map<string, number>()
  const unanswered = new Map<string, Exchange>()
  return {
    check(operation) {
      if ((inARow.get(operation) ?? 0) >= enough) {
        throw new NotExercised(`${operation} gave no answer to two requests in a row: the suite sends it no more`)
      }
    },
    count(operation, exchange) {
      inARow.set(operation, (inARow.get(operation) ?? 0) + 1)
      if (exchange.unansweredTwice && exchange.purpose.role !== 'probe') unanswered.set(operation, exchange)
    },
    unanswered: (operation) => unanswered.get(operation),
    // Once open it stays open: an answer to an older request does not close it.
    reset: (operation) => {
      if ((inARow.get(operation) ?? 0) < enough) inARow.delete(operation)
    },
  }
}
