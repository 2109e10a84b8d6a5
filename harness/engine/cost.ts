import { type CatalogueRow, requirement, grantedRow } from '../../catalogue/catalogue.ts'
import { isOperationId, type OperationId } from '../../catalogue/operations.ts'
import type { Count } from '../../catalogue/row.ts'
import { isExclusive, type Target } from '../target/model.ts'
import { readsDeclared } from '../target/declared.ts'
import type { RunOptions } from './run.ts'

/** What a requirement makes a conforming target generate: by its own requests, and by its operation's control (shared by all of them). */
export interface Grants {
  readonly generations: number
  readonly control: number
}

/** Cases that a run sends for a refusal, and for a granted request. */
export type Runs = Pick<RunOptions, 'refusalRuns' | 'grantedRuns' | 'depth'>

/** Whether every form of a wrong key is sent to every operation. */
export function credentialProbesIn(
  { limits }: Pick<Target, 'limits'>,
  { depth }: Pick<RunOptions, 'depth'>,
): 'all' | 'few' {
  return depth === 'quick' ? 'few' : limits.credentialProbes
}

/** How many that are in a run. */
export function countIn(count: Count, { refusalRuns, grantedRuns, depth }: Runs): number {
  if (typeof count === 'number') return count
  return (
    (depth === 'quick' ? Math.min(1, count.named) : count.named) +
    (count.generated === 'refusals' ? refusalRuns : grantedRuns)
  )
}

/** The operation whose valid request a requirement's probes are made from: that of its scenario, if it is no operation's own. */
export function operationOf(row: CatalogueRow, target: Target): OperationId | undefined {
  const operation = target.scenarios[row.id]?.operation ?? row.operation
  return isOperationId(operation) ? operation : undefined
}

function generatedBy(generates: NonNullable<CatalogueRow['generates']>, target: Target, runs: Runs): number {
  if (typeof generates !== 'function') return countIn(generates, runs)
  return runs.depth === 'quick' ? Math.min(1, generates(target)) : generates(target)
}

/** How many generations a requirement costs a conforming target. */
export function grants(row: CatalogueRow, target: Target, runs: Runs): Grants {
  const operation = operationOf(row, target)
  if (operation === undefined) return { generations: 0, control: 0 }
  const { effect } = requirement(grantedRow[operation])
  const control = effect === 'generates' && !readsDeclared(operation, target.file) ? 1 : 0
  const usual = row.effect === 'generates' && !row.control ? 1 : 0
  const scenario = target.scenarios[row.id]
  if (!scenario) return { generations: generatedBy(row.generates ?? usual, target, runs), control }
  // Repeats are granted until the condition shows; after an exclusive one the control is asked again.
  return { generations: control * ((scenario.repeat ?? usual) + (isExclusive(scenario) ? 1 : 0)), control }
}
