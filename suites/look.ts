import { grantedRequirement } from '../catalogue/catalogue.ts'
import { isOperationId, operations } from '../catalogue/operations.ts'
import { placeholderRequest } from '../harness/checks/index.ts'
import {
  createRun,
  NotExercised,
  type Plan,
  type Run,
  type RunFacts,
  runOptionsOf,
  type RunParts,
  ask,
  startJudging,
} from '../harness/engine/index.ts'
import { leftOut } from '../harness/report/index.ts'
import type { Target } from '../harness/target-file/index.ts'
import { api } from './judge.ts'
import { judgeOf } from './suites.ts'

const nowhere = 'envelope/unknown-path'

/**
 * Looks at a server without judging it: one request an operation, with the full key, that makes nothing on a server which keeps the
 * interface, and requests to a path that no server has. Gives what was learned: which operations are absent, or why there was
 * no answer.
 */
export async function lookAt(
  target: Target,
  ports: Pick<RunParts, 'handler'> = {},
): Promise<RunFacts> {
  const looked = new Set<string>([nowhere, ...operations.map(({ id }) => grantedRequirement[id])])
  const plan: Plan = new Map(
    api.requirements.map(({ id }) => [
      id,
      looked.has(id)
        ? { run: true }
        : { run: false, outcome: 'not-exercised', ...leftOut('--only') },
    ]),
  )
  const options = runOptionsOf({ seed: 0, depth: 'quick' }, 'conform')
  const run: Run = createRun(target, options, { ...ports, api, plan, hooks: [] })
  const { done, facts } = startJudging(run, (id) =>
    id === nowhere
      ? judgeOf(id)
      : async ({ requirement: { operation } }) => {
          if (!isOperationId(operation)) return
          const probe = await placeholderRequest(run, operation)
          await ask(run, probe, { requirement: null, role: 'control' })
          throw new NotExercised('it was only looked at')
        },
  )
  await done
  return facts()
}
