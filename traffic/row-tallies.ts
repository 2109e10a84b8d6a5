import type { Exchange } from '../harness/engine/exchange.ts'
import type { RequirementId } from '../catalogue/catalogue.ts'

/** What recorded answers say of one requirement. */
export interface RowTally {
  cases: number
  readonly failures: { readonly exchange: Exchange; readonly expected: string; readonly actual?: string }[]
  /** Why answers that could have been judged were not. */
  unjudged?: string
}

/** First failures kept a row. */
const mostKept = 3

/** Called with a failure that is kept. @param actual if it is not the answer as a whole */
export type OnFailure = (row: RequirementId, exchange: Exchange, expected: string, actual?: string) => void

/** What was seen of each requirement, while the recording is read. */
export interface RowTallies {
  pass(id: RequirementId): void
  /** @param actual if it is not the answer as a whole */
  fail(id: RequirementId, exchange: Exchange, expected: string, actual?: string): void
  skip(id: RequirementId, reason: string): void
  tally(id: RequirementId): RowTally | undefined
  copyTo(others: RowTallies): void
}

export function createRowTallies(onFailure?: OnFailure): RowTallies {
  const tallies = new Map<RequirementId, RowTally>()
  const of = (id: RequirementId): RowTally => {
    const known = tallies.get(id) ?? { cases: 0, failures: [] }
    tallies.set(id, known)
    return known
  }
  return {
    pass: (id) => void of(id).cases++,
    fail(id, exchange, expected, actual) {
      const tally = of(id)
      tally.cases++
      if (tally.failures.length < mostKept) {
        onFailure?.(id, exchange, expected, actual)
        tally.failures.push({ exchange, expected, ...(actual === undefined ? {} : { actual }) })
      }
    },
    skip(id, reason) {
      of(id).unjudged ??= reason
    },
    tally: (id) => tallies.get(id),
    copyTo(others) {
      for (const [id, { cases, failures, unjudged }] of tallies) {
        for (let passed = failures.length; passed < cases; passed++) others.pass(id)
        for (const { exchange, expected, actual } of failures) others.fail(id, exchange, expected, actual)
        if (unjudged !== undefined) others.skip(id, unjudged)
      }
    },
  }
}
