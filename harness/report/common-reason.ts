import { isLeftOut } from './reason.ts'
import type { RequirementResult } from './model.ts'

/** The reason that most of the requirements share that were not exercised although no option left them out. */
export function commonReason(results: readonly RequirementResult[]): string | undefined {
  const times = new Map<string, number>()
  for (const result of results) {
    const { outcome, reason } = result
    if (outcome !== 'not-exercised' || reason === undefined || isLeftOut(result)) continue
    times.set(reason, (times.get(reason) ?? 0) + 1)
  }
  return [...times].sort((a, b) => b[1] - a[1])[0]?.[0]
}
