import type { Pairs } from '../../catalogue/expected.ts'
import type { Exchange } from '../engine/index.ts'
import type { Reason, TakesState } from '../report/index.ts'
import type { Ask } from './ask.ts'
import type { History } from './journal.ts'

/** What breaks a requirement: an exchange, and what should have come. */
export interface Evidence {
  readonly exchange: Exchange
  /** The request, in words that follow the request line: `with a valid body`. */
  readonly what: string
  /** What the spec asks for: in words, or the pairs that answer the request. */
  readonly expected: string | Pairs
  /** What came, if it is more than status and name. */
  readonly actual?: string | undefined
  /** JSON Pointer to the member that is wrong. */
  readonly at?: string | undefined
  /** The exchange that this one contradicts. */
  readonly against?: Exchange | undefined
  /** The request that made the state that is wrong: a curl line sends it before. */
  readonly before?: Exchange | undefined
  /** What the failure takes to show again, if not what others of the requirement take. */
  readonly takes?: TakesState | undefined
  /** The requirement whose requests made the state that is wrong: a failure needs it to show again. */
  readonly shownBy?: string | null | undefined
  /** The path of a generated case, by which it is found again. */
  readonly path?: string | null
}

/** What a history says of a requirement. `open`: it shows neither that it holds nor that it does not. */
export type Verdict =
  | { readonly outcome: 'held'; readonly cases: number }
  | {
      readonly outcome: 'broken'
      readonly cases: number
      /** The first is what fails; the more of them, the more is shown. */
      readonly evidence: readonly [Evidence, ...Evidence[]]
    }
  | {
      readonly outcome: 'open'
      readonly why: string
      /** The same, if something depends on its kind. */
      readonly reason?: Reason
      readonly cases?: number
    }
  /** More requests would tell; `atEnd`: when everything else was sent. */
  | {
      readonly outcome: 'asks'
      readonly cases: number
      readonly asks: readonly Ask[]
      readonly atEnd?: true
    }

/** Judges one requirement: pure, the same for a live run, a recording and a test. */
export type Rule = (history: History) => Verdict

/** Broken by any evidence, held if there is a case without, else open. @param why nothing is known if there is neither */
export function verdictOf(
  evidence: readonly Evidence[],
  cases: number,
  why: string | (() => string),
): Verdict {
  const [first, ...more] = evidence
  if (first) return { outcome: 'broken', cases, evidence: [first, ...more] }
  if (cases > 0) return { outcome: 'held', cases }
  return {
    outcome: 'open',
    // Most of those who ask whether it is open do not ask why.
    get why() {
      return typeof why === 'string' ? why : why()
    },
  }
}

/**
 * A rule about each of several things, of which the first that is wrong is told.
 * @param show gives what is wrong with one; `held` if nothing is, undefined if it shows neither
 */
export const eachOf =
  <T>(
    itemsOf: (history: History) => readonly T[],
    show: (item: T, history: History) => Evidence | 'held' | undefined,
    why: (history: History) => string,
  ): Rule =>
  (history) => {
    const shown = itemsOf(history).flatMap((item) => show(item, history) ?? [])
    const wrong = shown.filter((one) => one !== 'held')
    return verdictOf(wrong.slice(0, 1), shown.length, () => why(history))
  }
