import type { CatalogueRow } from '../../spec/catalogue.ts'
import { requirement } from '../../spec/catalogue.ts'
import { insideCases } from '../../spec/query-config.ts'
import { isOperationId } from '../../spec/operations.ts'
import { grantedRow } from '../control/granted-rows.ts'
import { looks } from '../jobs/gate.ts'
import type { RunOptions } from '../run/run.ts'
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
  'jobs.create/202-any-text': ({ grantedRuns }) => grantedRuns,
  'jobs.create/409-job-in-progress': () => looks,
  'jobs.create/409-released': () => 1,
  'jobs.create/409-atomic': () => looks,
  'jobs.retrieve/200-job': () => 0,
  'jobs.retrieve/200-identity': () => 0,
  'jobs.retrieve/200-created-at': () => 0,
  'jobs.retrieve/200-outcome': () => 0,
  'jobs.retrieve/200-stable': () => 0,
  'chat.create/200-query-config': ({ grantedRuns }) => insideCases + grantedRuns,
  'graphs.query/2xx-query-config': ({ grantedRuns }) => insideCases + grantedRuns,
}

/** How many generations a requirement costs a conforming target. */
export function grants(row: CatalogueRow, target: Target, runs: Runs): Grants {
  if (!isOperationId(row.operation)) return { generations: 0, control: 0 }
  const reads = row.operation === 'jobs.retrieve'
  if (reads && target.resources.job !== undefined && row.id !== 'jobs.retrieve/200-failed')
    return { generations: 0, control: 0 }
  const granted = requirement(grantedRow[row.operation])
  const control = granted.effect === 'generates' ? 1 : 0
  const counted = own[row.id]?.(runs)
  const generations = counted ?? (row.effect === 'generates' && row.id !== granted.id ? 1 : 0)
  return { generations, control }
}
