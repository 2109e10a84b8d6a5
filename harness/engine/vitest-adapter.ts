import { afterAll, beforeAll, describe, inject, test } from 'vitest'
import type { CatalogueRow } from '../../catalogue/catalogue.ts'
import type { RequirementResult } from '../report/model.ts'
import { finishRun } from './finish.ts'
import { judgeRequirement } from './judge-requirement.ts'
import { phasesOf } from './phases.ts'
import { openWorkerRun, type WorkerInput } from './worker-run.ts'

declare module 'vitest' {
  interface ProvidedContext {
    conform: WorkerInput
  }
  interface TaskMeta {
    /** What was found of one requirement. */
    conform?: RequirementResult
  }
}

/** The one place where requirements become vitest's tests: the id stands in the task's meta, with the whole result. */
export function runInVitest(): void {
  const input = inject('conform')
  const { run, report, close } = openWorkerRun(input)
  const phases = phasesOf(input.target)
  const judge = (row: CatalogueRow): void => {
    test(`${row.id} ${row.statement}`, async ({ task, skip }) => {
      const result = await judgeRequirement(run, row)
      task.meta.conform = result
      report()
      if (result.outcome === 'failed') throw new Error(result.failures[0]?.message)
      if (result.outcome !== 'passed') skip(result.reason)
    })
  }
  beforeAll(async () => void (await run.liveness.first()), 0)
  describe.concurrent('requirements', () => phases.concurrent.forEach(judge))
  describe('scenarios that need the target to themselves', { concurrent: false }, () => phases.exclusive.forEach(judge))
  describe('every response', { concurrent: false }, () => phases.passive.forEach(judge))
  afterAll(async () => {
    await finishRun(run)
    report()
    close()
  }, 0)
}
