import { conditionOf } from '../../catalogue/requirement.ts'
import type { Failure, RequirementResult } from '../../harness/report/index.ts'
import { responseOf, sayAnswers } from '../../harness/report/index.ts'
import { groupBy } from '../../harness/group-by.ts'
import type { LikelyCause } from './likely-causes.ts'

/** Failures that have one cause, as far as can be told from outside: the first of them is shown for all. */
export interface Cause {
  readonly first: RequirementResult
  /** The others, in report order. */
  readonly others: readonly RequirementResult[]
}

/**
 * Failed requirements of several operations that share level, expectation and what was wrong are one cause, and so are all that
 * failed on reused connections only; all others stand by themselves. In the order of the first of each.
 */
export function byCause(results: readonly RequirementResult[]): Cause[] {
  return [...groupBy(results, keyOf).values()].flatMap((group): Cause[] => {
    const [first, ...others] = group
    const { connection, noEnvelope }: Partial<Failure> = first!.failures[0] ?? {}
    const isOfServer = connection !== undefined || noEnvelope === true
    const isOne = isOfServer || new Set(group.map(({ operation }) => operation)).size > 1
    return isOne ? [{ first: first!, others }] : group.map((one) => ({ first: one, others: [] }))
  })
}

/** Selects the causes that a reader sees whole: one for each likely cause first, then what belongs to none. */
export function shownFirst(causes: readonly Cause[], likely: readonly LikelyCause[]): Cause[] {
  const explained = likely.map(({ results }) => new Set(results))
  const examples = explained.flatMap(
    (results) => causes.find(({ first }) => results.has(first)) ?? [],
  )
  return [
    ...examples,
    ...causes.filter(({ first }) => !explained.some((results) => results.has(first))),
  ]
}

export function idsOf({ first, others }: Cause): string[] {
  return [first, ...others].map(({ id }) => id)
}

/** Key that failures are compared by: the level, what was asked for, and what was wrong with the answer. */
function keyOf({ failures: [failure], id, level }: RequirementResult): string {
  if (!failure) return id
  // Whatever the requests were: how the server treats its connections is one cause, and what it takes them for another.
  if (failure.connection) return failure.connection
  // Whatever was asked for: the server has no handler that makes its errors envelopes.
  if (failure.noEnvelope) return `no envelope: ${level}`
  // Operations are described in different sections, which does not make it another expectation.
  const expected = failure.expected.slice(0, failure.expected.length - (failure.cites ?? '').length)
  return JSON.stringify([level, expected, ...receivedIn(failure, id), failure.familyOnly])
}

/**
 * An answer with a `tpe` is known by that, not by what its message says. The body of any other differs from one operation to the
 * next: if its status alone is wrong it is known by the condition (`400-malformed-json`) and the status.
 */
function receivedIn(failure: Failure, id: string): string[] {
  const response = responseOf(failure)
  if (response.tpe !== undefined) return [sayAnswers([response])]
  const condition = conditionOf(id)
  const { status } = response
  if (status !== null && status < 300 && failure.toRefuse) return ['granted', condition]
  if (status !== null && status >= 400) return [`${status}`, condition]
  return [failure.actual]
}
