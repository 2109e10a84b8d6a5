import { decisive } from '../../harness/report/exit-code.ts'
import type { Report, RequirementResult } from '../../harness/report/model.ts'
import { isLeftOutByOption, parseReason } from '../../harness/report/reason.ts'
import { isSelected } from '../../harness/report/selection.ts'
import { summarize } from '../../harness/report/verdict.ts'

/** The requirements that the options left in; one that is not applicable anyway is not left out by its reason. */
export function selectedResults({ requirements, run }: Report): RequirementResult[] {
  return requirements.filter(
    (result) => !isLeftOutByOption(result) && (result.outcome !== 'not-applicable' || isSelected(result.id, run)),
  )
}

/** How many requirements each option left out: `286 by --only, 3 by --read-only`; undefined if none did. */
export function leftOutSentence({ requirements }: Report): string | undefined {
  const times = new Map<string, number>()
  for (const result of requirements) {
    if (!isLeftOutByOption(result)) continue
    const option = parseReason(result.reason!).detail
    times.set(option, (times.get(option) ?? 0) + 1)
  }
  return times.size === 0 ? undefined : [...times].map(([option, number]) => `${number} by ${option}`).join(', ')
}

/** The summary of what the options left in. */
export function selectedSummary(report: Report): Report['summary'] {
  return summarize(selectedResults(report), report.run.tpe)
}

interface FailedResults {
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
