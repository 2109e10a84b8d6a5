import type { MustId, RequirementId, ShouldId } from '../../spec/catalogue.ts'
import type { Story } from './story.ts'

/** How a requirement is judged: returns where it holds, throws `Failed` or `NotExercised` where it does not. */
export type Judge = (story: Story) => Promise<void>

const judges = new Map<string, Judge>()

/** Says how one requirement is judged. A mistyped id does not compile; a second check of one id is a mistake of ours. */
export function requirement(id: RequirementId, judge: Judge): void {
  if (judges.has(id)) throw new Error(`${id} has two checks`)
  judges.set(id, judge)
}

/** As `requirement`, with the level said where it is read: passing a `should` as a `must` does not compile. */
export const must = (id: MustId, judge: Judge): void => requirement(id, judge)
export const should = (id: ShouldId, judge: Judge): void => requirement(id, judge)

export function judgeOf(id: string): Judge | undefined {
  return judges.get(id)
}
