import { type CatalogueRow, requirement } from '../../catalogue/catalogue.ts'
import { isOperationId, type OperationId } from '../../catalogue/operations.ts'
import { grantedRow } from '../../catalogue/granted-rows.ts'
import { longestLookMs } from '../../suites/jobs/job-tracker.ts'
import type { Plan, RunOptions } from './run.ts'
import { isExclusive } from '../target/exclusive.ts'
import type { Scenario, Target } from '../target/model.ts'
import { sendsOf } from '../checks/registry.ts'
import { chatTries } from '../checks/control.ts'
import { grants } from './cost.ts'

/** Most that a run sends for one operation, as if each control were granted. */
export interface Estimate {
  readonly operation: string
  requests: number
  creations: number
  generations: number
}

type Runs = Pick<RunOptions, 'refusalRuns' | 'grantedRuns' | 'readOnly'>

/** Looks at a job while the pause between them grows to its longest. */
const growingPolls = 40

/** Most looks at one job until it ends. */
function pollsOf({ limits }: Target): number {
  return growingPolls + Math.ceil(limits.jobTimeoutMs / longestLookMs)
}

/** What a scenario sends beside its one probe: repeats, what stands around it, and the waiting for the control. */
function scenarioSends({ repeat = 1, before, after }: Scenario): number {
  return repeat - 1 + before.length + after.length
}

/** Each probe of an addition adds a file that is uploaded first. */
function uploadsFirst(target: Target): boolean {
  return (
    target.operations['files.upload']?.content !== undefined &&
    target.operations['graphs.add-file']?.fields['file'] !== undefined
  )
}

/** What the run would send, per operation, in catalogue order. Throttled requests, which are sent again, are not counted. */
export function estimate(plan: Plan, target: Target, runs: Runs): Estimate[] {
  const totals = new Map<string, Estimate>()
  const totalOf = (operation: string): Estimate => {
    const known = totals.get(operation)
    if (known) return known
    const total = { operation, requests: 0, creations: 0, generations: 0 }
    totals.set(operation, total)
    return total
  }
  const add = (operation: string, requests: number, effect: CatalogueRow['effect'], granted: number): void => {
    const total = totalOf(operation)
    total.requests += requests
    if (effect === 'creates') total.creations += granted
    if (effect === 'generates') total.generations += granted
    if (operation !== 'graphs.add-file' || !uploadsFirst(target)) return
    totalOf('files.upload').requests += requests
    totalOf('files.upload').creations += requests
  }
  const controlled = new Set<OperationId>()
  const control = (operation: OperationId): void => {
    if (controlled.has(operation)) return
    controlled.add(operation)
    const { effect } = requirement(grantedRow[operation])
    const reads = operation === 'jobs.retrieve'
    if (reads && target.resources.job === undefined) control('jobs.create')
    if (runs.readOnly && effect !== 'none' && !reads) return
    add(operation, operation === 'chat.create' ? chatTries : 1, reads ? 'none' : effect, 1)
  }
  add('files.list', 2, 'none', 0)
  for (const [id, entry] of plan) {
    if (!entry.run) continue
    const row = requirement(id as CatalogueRow['id'])
    const scenario = target.scenarios[id]
    const operation = scenario?.operation ?? row.operation
    if (isOperationId(operation)) control(operation)
    addRow(row, operation, scenario)
  }
  addJobs()
  addPdfs()
  return [...totals.values()].filter(({ requests }) => requests > 0)

  function addRow(row: CatalogueRow, operation: string, scenario: Scenario | undefined): void {
    const own = scenario ? 1 + scenarioSends(scenario) : sendsOf(row.id, { target, ...runs })
    const { generations } = grants(row, target, runs)
    const effect = generations > 0 ? 'generates' : row.effect
    add(operation, own, effect, effect === 'creates' ? own : generations)
    // After what it changed, the run asks until the valid request is granted again.
    if (scenario && isExclusive(scenario) && isOperationId(operation))
      add(operation, 1, requirement(grantedRow[operation]).effect, 1)
    if (row.id === 'files.upload/2xx-attached-to-graph') totalOf('graphs.add-file').requests += own / 2
  }

  /** Jobs are created by `jobs.create` whatever row asks for them, and looked at until they end. */
  function addJobs(): void {
    const reading = totalOf('jobs.retrieve')
    const creating = totalOf('jobs.create')
    creating.generations += reading.generations
    creating.requests += reading.generations
    reading.generations = 0
    reading.requests += creating.generations * pollsOf(target)
  }

  function addPdfs(): void {
    const parsing = (totals.get('pdf.parse')?.requests ?? 0) > 0
    if (!parsing) return
    const { pdfFile, corruptedPdfFile, encryptedPdfFile, oversizedPdfFile } = target.resources
    const declared = [pdfFile, corruptedPdfFile, encryptedPdfFile, oversizedPdfFile].filter(
      (file) => typeof file === 'string',
    ).length
    if (declared < 4) add('files.upload', 4 - declared, 'creates', 4 - declared)
  }
}
