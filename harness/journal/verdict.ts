import type { Pairs } from '../../catalogue/answers.ts'
import type { Exchange } from './exchange.ts'
import type { Reason, TakesState } from '../report/index.ts'
import type { Ask } from './ask.ts'
import type { History } from './journal.ts'

export interface Evidence {
  readonly exchange: Exchange
  /** Continues the request line: `with a valid body`. */
  readonly what: string
  readonly expected: string | Pairs
  readonly actual?: string | undefined
  readonly against?: Exchange | undefined
  /** The request that created the wrong state: a curl line sends it first. */
  readonly before?: Exchange | undefined
  /** What the failure depends on, if different from others of the requirement; null: on its request alone. */
  readonly takes?: TakesState | null | undefined
  /** The requirement whose requests created the wrong state, needed to reproduce the failure. */
  readonly shownBy?: string | null | undefined
  readonly path?: string | null
}

/** A rule's conclusion. `open`: neither proven nor disproven. */
export type Verdict =
  | { readonly outcome: 'held'; readonly cases: number }
  | {
      readonly outcome: 'broken'
      readonly cases: number
      /** The first one is reported; each further one strengthens it. */
      readonly evidence: readonly [Evidence, ...Evidence[]]
    }
  | {
      readonly outcome: 'open'
      readonly why: string
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
    get why() {
      return typeof why === 'string' ? why : why()
    },
  }
}

/**
 * A rule about each of several things; reports the first wrong one.
 * @param show what is wrong with one, `held`, or undefined if inconclusive
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
