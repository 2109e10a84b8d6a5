import type { RequirementResult } from './model.ts'

const beginning = 'a mistake of the suite: '

/** The reason of a requirement whose check threw what it should not. */
export function mistakeReason(error: unknown): string {
  return `${beginning}${error instanceof Error ? error.message : String(error)}`
}

/** True if the suite itself failed to judge the requirement: nothing is known of the target then. */
export function isMistake({ outcome, reason }: Pick<RequirementResult, 'outcome' | 'reason'>): boolean {
  return outcome === 'not-exercised' && reason?.startsWith(beginning) === true
}
