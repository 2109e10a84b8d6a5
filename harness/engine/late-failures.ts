import { grantedRow } from '../../catalogue/catalogue.ts'
import type { OperationId } from '../../catalogue/operations.ts'
import type { Failure } from '../report/model.ts'
import { perRun, type Run } from './run.ts'

/** What requests for other requirements showed of one that may have been judged before: told at the end of the run, by id. */
export const lateFailuresOf = perRun(() => new Map<string, Failure[]>())

/** Whether the requirement is judged in this run, and not only sent for others. */
export function isJudged({ plan }: Run, id: string): boolean {
  const entry = plan.get(id)
  return entry?.run === true && entry.leftOut === undefined
}

/** Fails the granted requirement of an operation once, if it is judged. */
export function failGrantedLate(run: Run, operation: OperationId, failure: () => Failure): void {
  const id = grantedRow[operation]
  if (isJudged(run, id) && !lateFailuresOf(run).has(id)) lateFailuresOf(run).set(id, [failure()])
}
