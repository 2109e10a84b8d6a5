import {
  byScenario,
  control,
  controlExchange,
  declaredResource,
  grantedByScenario,
  tryUntilGranted,
  judgeVerdict,
  validRequest,
} from '../../harness/checks/index.ts'
import { type Judge, judgeGranted, judgeShape } from '../../harness/run/index.ts'
import { isGranted, jsonValue, NotExercised } from '../../harness/engine/index.ts'
import { leftOut } from '../../harness/report/index.ts'
import { clientOf, type JobClient } from './client.ts'
import { isSomeCreated } from './creations.ts'
import { provokeConflicts } from './drive.ts'
import { followFailing, readNewJob } from './follow.ts'
import { failedFault, failedRule, isSomeRight, ofFailing } from './readings.ts'
import { provokeRefusals } from './refuse.ts'
import { ids, type JobRuleId, jobRules, type State } from './rules.ts'

const states: Readonly<Record<State, (client: JobClient) => Promise<unknown>>> = {
  readable: readNewJob,
  ended: async (client) => client.awaitEnd(await reach(client, 'readable')),
  conflicts: provokeConflicts,
  refusals: provokeRefusals,
  failing: followFailing,
}

/** Creates a state once per run, for the first caller. */
export function reach(client: JobClient, state: 'readable'): Promise<string>
export function reach(client: JobClient, state: State): Promise<unknown>
export function reach(client: JobClient, state: State): Promise<unknown> {
  return client.once(state, () => {
    const reached = states[state](client)
    reached.catch(() => undefined)
    return reached
  })
}

/** Requirements without a conflict: a scenario creates the state without one. */
const granting: readonly string[] = [ids.released, ids.perApplication, ids.noEffect]

function byRule(id: JobRuleId): Judge {
  return async (context) => {
    if (context.scenario) return (granting.includes(id) ? grantedByScenario : byScenario)(context)
    const client = clientOf(context.run)
    const verdict = client.verdict(id)
    const { state } = jobRules[id]
    if (verdict.outcome === 'open') await reach(client, state)
    if (id === ids.inProgress || id === ids.noEffect) context.control = 'granted'
    if (verdict.outcome !== 'open' || state !== 'conflicts') return judgeVerdict(context, verdict)
    throw new NotExercised(
      id === ids.atomic && context.run.target.limits.concurrency === 1
        ? 'concurrent creations need limits.concurrency of 2 or more'
        : `three attempts proved nothing: ${verdict.why}`,
    )
  }
}

type RulesOf<O extends string> = {
  readonly [Id in JobRuleId as Id extends `${O}/${infer Name}` ? Name : never]: Judge
}

export const byRules = <O extends 'jobs.create' | 'jobs.retrieve'>(operation: O): RulesOf<O> =>
  Object.fromEntries(
    (Object.keys(jobRules) as JobRuleId[])
      .filter((id) => id.startsWith(operation))
      .map((id) => [id.slice(operation.length + 1), byRule(id)]),
  ) as RulesOf<O>

/** Every valid creation of the run returns 202 in the documented form. */
export const eachCreated: Judge = async (context) => {
  const client = clientOf(context.run)
  const exchange = await controlExchange(context.run, 'jobs.create').catch((error: unknown) => {
    const verdict = client.verdict('jobs.create/202-created')
    // Objects of the run belong to nobody else, so a busy declared application does not matter.
    if (verdict.outcome === 'broken' && !context.run.life.ended) judgeVerdict(context, verdict)
    throw error
  })
  const verdict = client.verdict('jobs.create/202-created')
  const expected = '202 with the id, status and created_at of the new job'
  const { response } = exchange
  if (response && isGranted(response) && !isSomeCreated(client.history)) context.again.takes = null
  judgeGranted(context, exchange, expected, 'with a valid body')
  judgeShape(context, exchange, 'created-job', 'with a valid body')
  judgeVerdict(context, verdict)
}

/** A reading of the declared job, or of the first one of the run, and all others. */
export const eachRead: Judge = async (context) => {
  const client = clientOf(context.run)
  const { exchange } = await control(context.run, 'jobs.retrieve')
  if (!exchange) throw new NotExercised(leftOut('--read-only'))
  if (!isSomeRight(client.history)) context.again.takes = null
  judgeGranted(context, exchange, '200 with a job', '')
  judgeShape(context, exchange, 'job', '')
  const verdict = client.verdict('jobs.retrieve/200-job')
  if (verdict.outcome !== 'open') judgeVerdict(context, verdict)
}

/** A job of the application declared for it, or a retrieval that a scenario directs to a failed job. */
export const failsAsDeclared: Judge = async (context) => {
  const { run } = context
  if (context.scenario)
    return tryUntilGranted(context, {
      make: () => validRequest(run, 'jobs.retrieve'),
      what: ofFailing.what,
      tries: 1,
      check(_, exchange, what) {
        const fault = failedFault(jsonValue(exchange.response))
        if (fault) context.fail(exchange, ofFailing.expected, what, fault.actual)
      },
    })
  const client = clientOf(run)
  const verdict = failedRule(declaredResource(run, 'failingApplication').id)(client.history)
  if (verdict.outcome === 'open') await reach(client, 'failing')
  judgeVerdict(context, verdict)
}
