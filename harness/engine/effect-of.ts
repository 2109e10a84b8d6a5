import type { OperationId } from '../../catalogue/operations.ts'
import { readsDeclared } from '../target/declared.ts'
import { requirement } from '../../catalogue/catalogue.ts'
import type { Effect } from '../../catalogue/requirement.ts'
import { grantedRow } from '../../catalogue/granted-rows.ts'
import type { Run } from './run.ts'

/** What a conforming target does when it grants the operation's valid request. Reading a declared object makes none. */
export function effectOf(run: Run, operation: OperationId): Effect {
  return readsDeclared(operation, run.target.file) ? 'none' : requirement(grantedRow[operation]).effect
}
