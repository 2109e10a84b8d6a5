import type { HttpResult } from '../http/index.ts'

/** Least and most tries of one request that prove that it is lost each time, and by no chance of the network. */
const least = 2
const most = 12
/** A run sends thousands of requests: chance explains what comes more often than this. */
const chance = 1e-7
/** A body of so many bytes is met by a loss twice as often as none. */
const bytesOnTheWay = 16 * 1024

/** Counts the answers of a run that were lost: reset, closed or cut off. */
export function createLosses() {
  let sent = 0
  let lost = 0
  return {
    /** Requests that were sent again since no answer came, or a gateway's. */
    retried: 0,
    note(result: HttpResult): void {
      sent++
      if (isLost(result)) lost++
    },
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

/** The connection was closed, before the answer or in the middle of it: what a network does now and then. */
export function isLost(result: HttpResult): boolean {
  return result.kind === 'no-answer' && result.cause === 'reset'
}
