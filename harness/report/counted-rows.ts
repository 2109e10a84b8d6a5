import { isLeftOut } from './reason.ts'
import type { Report, RequirementResult } from './model.ts'
import { isSelected, type Selection } from './selection.ts'

/** At least one of these rows must have passed or failed: those outside `envelope/`, or all if only those are selected. */
export function countedRows(results: readonly RequirementResult[], selection: Selection): RequirementResult[] {
  const outside = results.filter((result) => result.operation !== 'envelope')
  const selected = results.filter((result) => isSelected(result.id, selection))
  const onlyEnvelope = selected.length > 0 && selected.every((result) => result.operation === 'envelope')
  return onlyEnvelope ? selected : outside
}

/** A shard to which nothing was dealt that counts for a verdict: it has none, and that is no fault of the target's. */
export function isEmptyShard(report: Pick<Report, 'run' | 'requirements'>): boolean {
  if (report.run.shard === null) return false
  return countedRows(report.requirements, report.run).every(
    (result) => result.outcome === 'not-applicable' || isLeftOut(result),
  )
}
