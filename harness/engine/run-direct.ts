import type { RequirementResult } from '../report/model.ts'
import { catalogue } from '../../catalogue/catalogue.ts'
import { finishRun } from './finish.ts'
import { judgeRequirement } from './judge-requirement.ts'
import { phasesOf } from './phases.ts'
import type { Run } from './run.ts'

/** Runs everything without a test runner: what the suite's own tests do by the hundred. Results in catalogue order. */
export async function runDirect(run: Run): Promise<RequirementResult[]> {
  const phases = phasesOf(run.target)
  const results = new Map<string, RequirementResult>()
  await run.liveness.first()
  const judge = async (row: (typeof catalogue)[number]): Promise<void> => {
    results.set(row.id, await judgeRequirement(run, row))
  }
  await Promise.all(phases.concurrent.map(judge))
  for (const row of phases.exclusive) await judge(row)
  for (const row of phases.passive) await judge(row)
  await finishRun(run)
  return catalogue.map(({ id }) => results.get(id) as RequirementResult)
}
