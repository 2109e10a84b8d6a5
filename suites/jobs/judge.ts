import {
  byScenario,
  control,
  controlExchange,
  declaredResource,
  grantedByScenario,
  judgeTries,
  judgeVerdict,
  once,
  validRequest,
} from '../../harness/checks/index.ts'
import type { Judge, Run } from '../../harness/engine/index.ts'
import { jsonValue, judgeGranted, judgeShape, NotExercised } from '../../harness/engine/index.ts'
import { historyOf, type Verdict } from '../../harness/history/index.ts'
import { leftOut } from '../../harness/report/index.ts'
import { provokeConflicts } from './drive.ts'
import { followFailing, readNewJob } from './follow.ts'
import { failedFault, failedRule, isSomeRight, ofFailing } from './readings.ts'
import { provokeRefusals } from './refuse.ts'
import { awaitEnd, verdictOn } from './application.ts'
import { ids, type JobRuleId, jobRules } from './rules.ts'

/** States of jobs, each brought about once a run, whoever asks first. */
const states = {
  readable: readNewJob,
  ended: async (run: Run) => awaitEnd(run, await reach(run, 'readable')),
  conflicts: provokeConflicts,
  refusals: provokeRefusals,
  failing: followFailing,
}
type State = keyof typeof states

export function reach(run: Run, state: 'readable'): Promise<string>
export function reach(run: Run, state: State): Promise<unknown>
export function reach(run: Run, state: State): Promise<unknown> {
  const begin: (run: Run) => Promise<unknown> = states[state]
  return once(run, `jobs: ${state}`, () => begin(run))
}

/** The state that a rule speaks of. */
export const stateFor: Readonly<Record<JobRuleId, State>> = {
  'jobs.create/202-created': 'ended',
  'jobs.create/202-retrievable': 'ended',
  'jobs.create/409-job-in-progress': 'conflicts',
  'jobs.create/409-released': 'conflicts',
  'jobs.create/409-per-application': 'conflicts',
  'jobs.create/409-atomic': 'conflicts',
  'jobs.create/4xx-no-effect': 'refusals',
  'jobs.retrieve/200-job': 'ended',
  'jobs.retrieve/200-identity': 'ended',
  'jobs.retrieve/200-created-at': 'ended',
  'jobs.retrieve/200-outcome': 'ended',
  'jobs.retrieve/200-stable': 'ended',
  'jobs.retrieve/200-consistent': 'ended',
}

/** The requirements that say when there is no conflict: a scenario brings about the state without one. */
const granting: readonly string[] = [ids.released, ids.perApplication, ids.noEffect]

/** Judges a requirement by its rule, on all that the run saw. If that shows nothing, why its state could not be reached is the reason. */
export function byRule(id: JobRuleId): Judge {
  return async (context) => {
    if (context.scenario) return (granting.includes(id) ? grantedByScenario : byScenario)(context)
    const { run } = context
    const verdict = verdictOn(run, id)
    if (verdict.outcome === 'open') await reach(run, stateFor[id])
    if (id === ids.inProgress || id === ids.noEffect) context.control = 'granted'
    if (verdict.outcome !== 'open' || stateFor[id] !== 'conflicts')
      return judgeVerdict(context, verdict)
    throw new NotExercised(
      id === ids.atomic && run.target.limits.concurrency === 1
        ? 'concurrent creations need limits.concurrency of 2 or more'
        : `three attempts proved nothing: ${verdict.why}`,
    )
  }
}

/** Every creation of the run that should be granted gives 202 and the shape shown. */
export const judgeCreated: Judge = async (context) => {
  const verdictNow = (): Verdict => jobRules['jobs.create/202-created'](historyOf(context.run))
  const exchange = await controlExchange(context.run, 'jobs.create').catch((error: unknown) => {
    const verdict = verdictNow()
    // What the run has made itself is nobody else's: that a declared one is busy is no reason to know nothing.
    if (verdict.outcome === 'broken' && !context.run.life.ended) judgeVerdict(context, verdict)
    throw error
  })
  const expected = '202 with the id, status and created_at of the new job'
  const verdict = verdictNow()
  judgeGranted(context, exchange, expected, 'with a valid body')
  judgeShape(context, exchange, 'created-job', 'with a valid body')
  judgeVerdict(context, verdict)
}

/** A reading of the declared job, or of the first one of the run, and every other. */
export const judgeJobs: Judge = async (context) => {
  const { run } = context
  const { exchange } = await control(run, 'jobs.retrieve')
  if (!exchange) throw new NotExercised(leftOut('--read-only'))
  if (!isSomeRight(historyOf(run))) context.takes = null
  judgeGranted(context, exchange, '200 with a job', '')
  judgeShape(context, exchange, 'job', '')
  const verdict = jobRules['jobs.retrieve/200-job'](historyOf(run))
  if (verdict.outcome !== 'open') judgeVerdict(context, verdict)
}

/** A job of the application that is declared for it, or a retrieval that the target's scenario leads to a failed job. */
export const judgeFailed: Judge = async (context) => {
  const { run } = context
  if (context.scenario)
    return judgeTries(context, {
      make: () => validRequest(run, 'jobs.retrieve'),
      what: ofFailing.what,
      tries: 1,
      check(_, exchange, what) {
        const fault = failedFault(jsonValue(exchange.response))
        if (fault) context.fail(exchange, ofFailing.expected, what, fault.actual)
      },
    })
  const verdict = failedRule(declaredResource(run, 'failingApplication').id)(historyOf(run))
  if (verdict.outcome === 'open') await reach(run, 'failing')
  judgeVerdict(context, verdict)
}
