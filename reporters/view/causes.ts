import { answerOf, sayAnswers } from '../../harness/report/answer.ts'
import type { RequirementResult } from '../../harness/report/model.ts'

/** Failures that have one cause, as far as can be told from outside: the first of them is shown for all. */
export interface Cause {
  readonly first: RequirementResult
  /** The others, in report order. */
  readonly others: readonly RequirementResult[]
}

/**
 * Failed requirements of several operations that share level, expectation and answer are one cause; all others stand by
 * themselves. In the order of the first of each.
 */
export function byCause(results: readonly RequirementResult[]): Cause[] {
  const groups = new Map<string, RequirementResult[]>()
  for (const result of results) {
    const key = keyOf(result)
    const group = groups.get(key)
    if (group) group.push(result)
    else groups.set(key, [result])
  }
  return [...groups.values()].flatMap((group): Cause[] => {
    const operations = new Set(group.map(({ operation }) => operation))
    const [first, ...others] = group
    return operations.size > 1 ? [{ first: first!, others }] : group.map((one) => ({ first: one, others: [] }))
  })
}

export function idsOf({ first, others }: Cause): string[] {
  return [first, ...others].map(({ id }) => id)
}

/** What the failures are compared by. An answer with a `tpe` is known by that, not by what its message says. */
function keyOf({ failures: [failure], id, level }: RequirementResult): string {
  if (!failure) return id
  const answer = answerOf(failure)
  const received = answer.tpe === undefined ? failure.actual : sayAnswers([answer])
  return JSON.stringify([level, withoutSections(failure.expected), received, failure.familyOnly])
}

/** Operations are described in different sections, which does not make it another expectation. */
function withoutSections(expected: string): string {
  return expected.replace(/\s*\(§[^()]*\)$/, '')
}
