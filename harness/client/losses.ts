import type { HttpResult } from '../http/index.ts'
import { type Exchange, NotExercised, Throttled } from '../journal/index.ts'

/** Minimum and maximum attempts that prove a systematic loss. */
const least = 2
const most = 12
/** A run sends thousands of requests: more frequent events may be chance. */
const chance = 1e-7
/** Below this share, unanswered requests are few. */
const nowAndThen = 0.1

export class Losses {
  #sent = 0
  #lost = 0
  #hung = 0
  retried = 0

  note(result: HttpResult): void {
    this.#sent++
    if (isLost(result)) this.#lost++
    if (result.kind === 'no-answer' && result.cause === 'timeout') this.#hung++
  }

  /**
   * How many attempts in a row without an answer rule out chance: two; of timeouts three, if a few other requests timed
   * out; of resets more, the more others were reset.
   * @param own the attempts so far
   */
  proof(own: number, isReset: boolean): number {
    const others = (isReset ? this.#lost : this.#hung) - own
    if (others <= 0) return least
    const share = others / this.#sent
    if (!isReset) return share < nowAndThen ? least + 1 : least
    const needed = Math.ceil(Math.log(chance) / Math.log(Math.min(0.5, share)))
    return Math.min(most, Math.max(least + 1, needed))
  }
}

export function isLost(result: HttpResult): boolean {
  return result.kind === 'no-answer' && result.cause === 'reset'
}

/** After this many consecutive unanswered requests, an operation gets no more. */
export const mostUnanswered = 2

export class Breaker {
  readonly #inARow = new Map<string, number>()
  readonly #open = new Map<string, number>()
  readonly #unanswered = new Map<string, Exchange>()
  readonly #throttled = new Set<string>()

  check(operation: string): void {
    const stops = ': the suite stops sending it requests'
    if (this.#throttled.has(operation))
      throw new Throttled(`${operation} returned only 429 or 503 for more than 30 s${stops}`)
    const row = this.#open.get(operation)
    if (row !== undefined)
      throw new NotExercised(`${operation} did not answer ${row} requests in a row${stops}`)
  }

  isOpen(operation: string): boolean {
    return this.#open.has(operation)
  }

  /** @param proof how many in a row rule out chance, given their number so far */
  count(operation: string, exchange: Exchange, proof: (row: number) => number): void {
    const row = (this.#inARow.get(operation) ?? 0) + 1
    this.#inARow.set(operation, row)
    if (row >= proof(row) && !this.#open.has(operation)) this.#open.set(operation, row)
    if (exchange.unansweredTwice && exchange.purpose.role !== 'probe')
      this.#unanswered.set(operation, exchange)
  }

  stop(operation: string): void {
    this.#throttled.add(operation)
  }

  unanswered(operation: string): Exchange | undefined {
    return this.#unanswered.get(operation)
  }

  /** Once open it stays open: late answers do not close it. */
  reset(operation: string): void {
    this.#inARow.delete(operation)
  }
}
