import type { RequirementResult } from './model.ts'

/** What can leave a requirement out; it stands behind `left out: ` at the beginning of the reason. */
export type LeftOutBy = '--only' | '--skip' | '--read-only' | '--shard' | '--bail' | 'interrupted'

const PREFIX = 'left out: '

/** The reason of a requirement that an option, or the end of the run, left out: `left out: --shard`. */
export function leftOut(by: LeftOutBy): string {
  return PREFIX + by
}

/** Whether the result was left out: by anything, or by this. What was left out is never held against a target. */
export function isLeftOut(result: RequirementResult, by?: LeftOutBy): boolean {
  if (result.outcome !== 'not-exercised' || result.reason === undefined) return false
  if (!result.reason.startsWith(PREFIX)) return false
  return by === undefined || result.reason.startsWith(PREFIX + by)
}
