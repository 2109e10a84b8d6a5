import type { Report, RequirementResult } from '../../harness/report/model.ts'
import { decisive } from '../../harness/report/exit-code.ts'

export interface FailedResults {
  /** Failed and not expected to by a baseline: musts first, in report order. */
  readonly unexpected: RequirementResult[]
  /** Failed as the baseline expects. */
  readonly expected: RequirementResult[]
}

export function failed(report: Report): FailedResults {
  const known = new Set(report.run.baseline?.expected)
  const all = report.requirements.filter((result) => result.outcome === 'failed')
  const ranked = [...all.filter(isMust), ...all.filter((result) => !isMust(result))]
  return {
    unexpected: ranked.filter((result) => !known.has(result.id)),
    expected: ranked.filter((result) => known.has(result.id)),
  }
}

function isMust(result: RequirementResult): boolean {
  return result.level === 'must'
}

/** The ids that decide the exit code because they were not exercised (`--require-exercised`). */
export function requiredButMissed(report: Report): string[] {
  return decisive(report)
    .filter(({ outcome }) => outcome === 'not-exercised')
    .map(({ id }) => id)
}
