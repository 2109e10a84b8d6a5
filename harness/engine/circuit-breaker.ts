import { NotExercised } from './outcome.ts'

/** Opens for an operation that gave no answer to two requests in a row: it is asked no more. */
export interface CircuitBreaker {
  /** Throws `NotExercised` if the operation is asked no more. */
  check(operation: string): void
  count(operation: string): void
  reset(operation: string): void
}

const enough = 2

export function createCircuitBreaker(): CircuitBreaker {
  const inARow = new Map<string, number>()
  return {
    check(operation) {
      if ((inARow.get(operation) ?? 0) >= enough) {
        throw new NotExercised(`${operation} gave no answer to two requests in a row and is asked no more`)
      }
    },
    count: (operation) => void inARow.set(operation, (inARow.get(operation) ?? 0) + 1),
    // Once silent it stays so: an answer to an older request does not open it again.
    reset: (operation) => {
      if ((inARow.get(operation) ?? 0) < enough) inARow.delete(operation)
    },
  }
}
