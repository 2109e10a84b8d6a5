import type { MustId, RequirementId, ShouldId } from '../../catalogue/catalogue.ts'
import type { Target } from '../target/model.ts'
import type { Judge } from '../engine/story.ts'

/** What the number of a requirement's requests depends on. */
export interface SendOptions {
  readonly target: Target
  readonly refusalRuns: number
  readonly grantedRuns: number
}

/** Most requests that a check sends beyond its control, where every answer is the expected one. */
export type SendCount = (options: SendOptions) => number

/** All that is judged is the control, or was sent for others. */
export const nothingMore: SendCount = () => 0

interface Check {
  readonly judge: Judge
  readonly sends: SendCount
}

const checks = new Map<string, Check>()

/** Says how one requirement is judged. A mistyped id does not compile; a second check of one id is a mistake of ours. */
export function requirement(id: RequirementId, judge: Judge, sends: SendCount = () => 1): void {
  if (checks.has(id)) throw new Error(`${id} has two checks`)
  checks.set(id, { judge, sends })
}

/** As `requirement`, with the level said where it is read: passing a `should` as a `must` does not compile. */
export const must = (id: MustId, judge: Judge, sends?: SendCount): void => requirement(id, judge, sends)
export const should = (id: ShouldId, judge: Judge, sends?: SendCount): void => requirement(id, judge, sends)

export function judgeOf(id: string): Judge | undefined {
  return checks.get(id)?.judge
}

/** Most requests of the requirement's own; 0 where it has no check. */
export function sendsOf(id: string, options: SendOptions): number {
  return checks.get(id)?.sends(options) ?? 0
}
