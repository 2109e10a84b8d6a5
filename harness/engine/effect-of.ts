import type { OperationId } from '../../catalogue/operations.ts'
import { requirement } from '../../catalogue/catalogue.ts'
import type { Effect } from '../../catalogue/requirement.ts'
import { grantedRow } from '../../catalogue/granted-rows.ts'
import type { Run } from './run.ts'

/** What a conforming target does when it grants the operation's valid request. Reading a declared job generates none. */
export function effectOf(run: Run, operation: OperationId): Effect {
  if (operation === 'jobs.retrieve') return run.target.resources.job === undefined ? 'generates' : 'none'
  return requirement(grantedRow[operation]).effect
}
