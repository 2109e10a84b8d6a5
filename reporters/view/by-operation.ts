import type { Report, RequirementResult } from '../../harness/report/model.ts'

export interface OperationGroup {
  readonly operation: string
  readonly results: readonly RequirementResult[]
}

/** The requirements by operation, in report order. */
export function byOperation(report: Report): OperationGroup[] {
  const groups = new Map<string, RequirementResult[]>()
  for (const result of report.requirements) {
    const group = groups.get(result.operation)
    if (group) group.push(result)
    else groups.set(result.operation, [result])
  }
  return [...groups].map(([operation, results]) => ({ operation, results }))
}
