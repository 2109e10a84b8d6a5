import type { Counts, Outcome, Report, RequirementResult, TpeMode } from './model.ts'
import { outcomeIn } from './mode.ts'

const member = {
  passed: 'passed',
  failed: 'failed',
  'not-exercised': 'notExercised',
  'not-applicable': 'notApplicable',
} as const satisfies Record<Outcome, keyof Counts>

/** How many requirements of each level had each outcome in that mode. */
export function summarize(results: readonly RequirementResult[], mode: TpeMode): Report['summary'] {
  const of = (level: string) =>
    countOutcomes(
      results.filter((result) => result.level === level),
      mode,
    )
  return { must: of('must'), should: of('should') }
}

export function countOutcomes(results: readonly RequirementResult[], mode: TpeMode): Counts {
  const counts: Counts = { passed: 0, failed: 0, notExercised: 0, notApplicable: 0 }
  for (const result of results) counts[member[outcomeIn(result, mode)]] += 1
  return counts
}
