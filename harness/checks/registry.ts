import type { Judge } from '../engine/story.ts'
import type { Suite } from './suite.ts'

const judges = new Map<string, Judge>()

/** Makes the suites those by which requirements are judged. */
export function register(suites: readonly Suite[]): void {
  for (const [id, judge] of suites.flat()) judges.set(id, judge)
}

/** How a requirement is judged; undefined where no suite says it. */
export function judgeOf(id: string): Judge | undefined {
  return judges.get(id)
}
