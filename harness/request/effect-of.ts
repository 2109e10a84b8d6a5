import type { OperationId } from '../../spec/operations.ts'
import { requirement } from '../../spec/catalogue.ts'
import type { Effect } from '../../spec/requirement.ts'
import { grantedRow } from '../control/granted-rows.ts'
import type { Run } from '../run/run.ts'

/** What a conforming target does when it grants the operation's valid request. Reading a declared job generates none. */
export function effectOf(run: Run, operation: OperationId): Effect {
  if (operation === 'jobs.retrieve') return run.target.resources.job === undefined ? 'generates' : 'none'
  return requirement(grantedRow[operation]).effect
}
