import { isDeepStrictEqual } from 'node:util'
import type { Report } from './model.ts'
import { decide } from './exit-code.ts'
import { outcomeIn, summarize, verdictOf } from './verdict.ts'

/**
 * Where a report contradicts itself, one sentence each: verdicts, summary and outcomes are computed again from its
 * requirements. Nothing in a report that `conform` wrote and nobody changed.
 */
export function inconsistencies(report: Report): string[] {
  const { requirements, run, summary, verdict, verdicts } = report
  const found: string[] = []
  for (const mode of ['exact', 'family'] as const) {
    const computed = verdictOf(requirements, mode, run)
    // `not-judged` is right also if the key was refused, which the requirements alone do not show.
    if (verdicts[mode] !== computed && verdicts[mode] !== 'not-judged') {
      found.push(`verdicts.${mode} is ${verdicts[mode]}, but its requirements make it ${computed}`)
    }
  }
  if (verdict !== verdicts[run.tpe])
    found.push(`verdict is ${verdict}, but verdicts.${run.tpe} is ${verdicts[run.tpe]}`)
  for (const level of ['must', 'should'] as const) {
    if (!isDeepStrictEqual(summary[level], summarize(requirements, run.tpe)[level])) {
      found.push(`summary.${level} does not count its requirements`)
    }
  }
  const { code } = report.exit
  const least = decide(report).code
  if (code < 2 && least > code) found.push(`exit.code is ${code}, but its requirements make it ${least}`)
  const seen = new Set<string>()
  for (const result of requirements) {
    const outcome = outcomeIn(result, run.tpe)
    if (result.outcome !== outcome) found.push(`${result.id} is ${result.outcome}, but its failures make it ${outcome}`)
    if (result.outcome === 'failed' && result.failures.length === 0) found.push(`${result.id} failed without a failure`)
    if (seen.has(result.id)) found.push(`${result.id} is in it twice`)
    seen.add(result.id)
  }
  return found
}
