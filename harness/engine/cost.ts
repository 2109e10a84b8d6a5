import type { CatalogueRow } from '../../catalogue/catalogue.ts'
import { requirement } from '../../catalogue/catalogue.ts'
import { insideCases } from '../../catalogue/query-config.ts'
import { isOperationId, type OperationId } from '../../catalogue/operations.ts'
import { grantedRow } from '../../catalogue/granted-rows.ts'
import { burstSize } from '../../suites/jobs/burst.ts'
import { looks } from '../../suites/jobs/gate.ts'
import { isExclusive } from '../target/exclusive.ts'
import type { RunOptions } from './run.ts'
import type { Target } from '../target/model.ts'

/** What a requirement makes a conforming target generate: by its own requests, and by its operation's control (shared by all of them). */
export interface Grants {
  readonly generations: number
  readonly control: number
}

type Runs = Pick<RunOptions, 'grantedRuns'>

/** Requirements that generate more often than once beyond the control, or not at all beyond it. */
const own: Readonly<Record<string, (runs: Runs) => number>> = {
  'jobs.create/202-created': () => 0,
  'jobs.create/202-retrievable': () => 0,
  'jobs.create/202-any-text': ({ grantedRuns }) => grantedRuns + 1,
  // Jobs that end at once make every creation of the story a granted one.
  'jobs.create/409-job-in-progress': () => 2 * looks,
  'jobs.create/409-released': () => looks,
  'jobs.create/409-per-application': () => 2 * looks,
  'jobs.create/409-atomic': () => burstSize * looks,
  'jobs.retrieve/200-job': () => 0,
  'jobs.retrieve/200-identity': () => 0,
  'jobs.retrieve/200-created-at': () => 0,
  'jobs.retrieve/200-outcome': () => 0,
  'jobs.retrieve/200-stable': () => 0,
  'chat.create/200-query-config': ({ grantedRuns }) => insideCases + grantedRuns,
  'graphs.query/2xx-query-config': ({ grantedRuns }) => insideCases + grantedRuns,
}

/** The operation whose valid request a requirement's probes are made from: that of its scenario, where it is no operation's own. */
export function operationOf(row: CatalogueRow, target: Target): OperationId | undefined {
  const operation = target.scenarios[row.id]?.operation ?? row.operation
  return isOperationId(operation) ? operation : undefined
}

/** How many generations a requirement costs a conforming target. */
export function grants(row: CatalogueRow, target: Target, runs: Runs): Grants {
  const operation = operationOf(row, target)
  if (operation === undefined) return { generations: 0, control: 0 }
  const reads = operation === 'jobs.retrieve'
  if (reads && target.resources.job !== undefined && row.id !== 'jobs.retrieve/200-failed')
    return { generations: 0, control: 0 }
  const granted = requirement(grantedRow[operation])
  const control = granted.effect === 'generates' ? 1 : 0
  const scenario = target.scenarios[row.id]
  if (scenario) {
    // Repeats are granted until the condition shows; after an exclusive one the control is asked again.
    const own = scenario.repeat ?? (row.effect === 'generates' && row.id !== granted.id ? 1 : 0)
    return { generations: control * (own + (isExclusive(scenario) ? 1 : 0)), control }
  }
  const generations = own[row.id]?.(runs) ?? (row.effect === 'generates' && row.id !== granted.id ? 1 : 0)
  return { generations, control }
}
