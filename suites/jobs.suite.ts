import type { CheckContext, Exchange, Judge, Probe, Run, RunHook } from '../harness/engine/index.ts'
import { isBreakdown, isPlanned, jsonOf, operationProbe } from '../harness/engine/index.ts'
import { ids } from './jobs/findings.ts'
import { gateOf } from './jobs/gate.ts'
import { isEnded, jobsOf } from './jobs/job-tracker.ts'
import {
  failingLifecycle,
  mainLifecycle,
  readableJob,
  seeLaterJob,
  seeOldestAgain,
} from './jobs/lifecycle.ts'
import { judgeNoEffect, noEffectFindings } from './jobs/no-effect.ts'
import { provokeConflicts } from './jobs/provoke-conflicts.ts'
import {
  applyScenario,
  byRecord,
  missingBody,
  pointerOf,
  suite,
  unknown,
  withBody,
} from '../harness/checks/index.ts'
import { judgeAnyText, judgeConflicts, judgeCreated, judgeRetrievable } from './jobs/creation.ts'
import {
  malformedId,
  malformedInputs,
  unknownJob,
  withoutInput,
  withRequiredInputs,
} from './jobs/faults.ts'
import {
  judgeCreatedAt,
  judgeFailedJob,
  judgeIdentity,
  judgeJobs,
  judgeOutcome,
  judgeStable,
} from './jobs/retrieval.ts'
import { isExclusive } from '../harness/target-file/index.ts'
import { getAt, setAt } from '../schemas/json.ts'
import { eachAccepted, ofBodies, type Refusal } from './created/created-object.ts'
import { noEffect, once, onceAtOnce, ownId } from './created/relations.ts'
import { usable } from './created/usable.ts'

// §4.2 Create application job

export const jobsCreate = suite('jobs.create', {
  '202-created': judgeCreated,
  '202-retrievable': judgeRetrievable,
  '202-required-inputs-only': withRequiredInputs,
  '202-any-text': judgeAnyText,
  '400-missing-body': missingBody,
  '400-missing-inputs': byRecord(),
  '400-missing-required-inputs': withoutInput,
  '400-malformed-inputs': malformedInputs,
  '404-unknown-application': unknown('application_id'),
  '4xx-no-effect': judgeNoEffect,
  '409-job-in-progress': judgeConflicts,
  '409-released': judgeConflicts,
  '409-per-application': judgeConflicts,
  '409-atomic': judgeConflicts,
})

// §4.3 Retrieve job. The spec names no error of an unknown or malformed id: any 4xx with an envelope will do.

export const jobsRetrieve = suite('jobs.retrieve', {
  '200-job': judgeJobs,
  '200-identity': judgeIdentity,
  '200-created-at': judgeCreatedAt,
  '200-outcome': judgeOutcome,
  '200-failed': judgeFailedJob,
  '200-stable': judgeStable,
  '4xx-unknown-job': unknownJob,
  '4xx-malformed-id': malformedId,
})

/** Refused for its blueprint, as the scenario of that requirement says, and with the name of the valid one. */
function refusedByBlueprint({ run }: CheckContext): Refusal[] {
  const scenario = run.target.scenarios['applications.create/400-invalid-blueprint']
  const pointer = pointerOf(run, 'applications.create', 'name')
  if (!scenario || scenario.raw || isExclusive(scenario) || pointer === undefined) return []
  const change = async (valid: Probe): Promise<Probe> => {
    const probe = await applyScenario(run, scenario, 'applications.create', async () => valid)
    return withBody(probe, setAt(jsonOf(probe), pointer, getAt(jsonOf(valid), pointer)))
  }
  return [
    { requirement: '400-invalid-blueprint', what: 'for its blueprint', statuses: ofBodies, change },
  ]
}

const withoutEffect: Judge = (context) => noEffect(context, refusedByBlueprint(context))

/** Records the jobs of created applications, since nothing else does, so that the run waits for their end. */
const usableForJobs: Judge = (context) =>
  usable(context, (run, id, exchange) => void jobsOf(run).track(exchange, id))

// Create an application (§4.4, §7.3)

export const applicationsCreate = suite('applications.create', {
  '2xx-accepted': eachAccepted,
  '2xx-usable': usableForJobs,
  '2xx-own-id': ownId,
  '4xx-no-effect': withoutEffect,
  '400-atomic': onceAtOnce,
  '400-malformed-parameters': byRecord(),
  '400-duplicate-name': once,
})

// What the engine knows of jobs

const conflicts = [ids.inProgress, ids.released, ids.perApplication, ids.atomic] as const

/** Requirements that are judged on all jobs of a run. */
const ofJobs = [
  ...['jobs.create/202-created', 'jobs.retrieve/200-job', 'jobs.retrieve/200-identity'],
  ...['jobs.retrieve/200-created-at', 'jobs.retrieve/200-outcome', 'jobs.retrieve/200-stable'],
] as const satisfies readonly string[]

/** Makes the jobs on which the last requirements are judged, in every state that the target declares. */
async function createJobs(run: Run): Promise<void> {
  const { application, failingApplication } = run.target.resources
  const planned = (id: string): boolean => run.plan.get(id)?.run === true
  const wanted: (() => Promise<unknown>)[] = []
  if (application && !run.options.readOnly && ofJobs.some(planned))
    wanted.push(() => mainLifecycle(run))
  if (conflicts.some((id) => isPlanned(run, id))) wanted.push(() => provokeConflicts(run))
  if (isPlanned(run, ids.noEffect)) wanted.push(() => noEffectFindings(run))
  if (failingApplication && isPlanned(run, 'jobs.retrieve/200-failed'))
    wanted.push(() => failingLifecycle(run))
  await Promise.allSettled(wanted.map((see) => see()))
}

/**
 * Sees what can be seen only once all jobs are made, and have ended: before any of the last requirements is judged, so that each
 * of them sees all readings.
 */
async function readFinalStates(run: Run): Promise<void> {
  const deadline = performance.now() + run.target.limits.jobTimeoutMs
  const { all, awaitEnd } = jobsOf(run)
  await Promise.all(all.map((job) => awaitEnd(job, deadline).catch(() => false)))
  if (isPlanned(run, 'jobs.retrieve/200-created-at')) await seeLaterJob(run).catch(() => undefined)
  if (isPlanned(run, 'jobs.retrieve/200-identity')) await seeOldestAgain(run).catch(() => undefined)
}

/** The declared application that a creation names; undefined for any other request. */
function applicationOf(run: Run, { operation, params }: Probe): string | undefined {
  const application = operation === 'jobs.create' ? params['application_id'] : undefined
  return application !== undefined && run.target.applicationIds.has(application)
    ? application
    : undefined
}

/** All that the engine knows about jobs: which one can be read, that an application takes one creation at a time, and their end. */
export const jobsHook: RunHook = {
  requests: {
    'jobs.retrieve': async (run) => {
      const id = run.target.resources.job ?? (await readableJob(run))
      return operationProbe(run, 'jobs.retrieve', { params: { job_id: id } })
    },
  },
  intercept(run, probe, purpose, send) {
    const application = applicationOf(run, probe)
    if (application === undefined) return undefined
    const expects409 = purpose.expects?.some(([status]) => status === 409) ?? false
    const gate = gateOf(run, application)
    if (probe.effect !== 'none') return gate.sendWhenIdle(true, expects409, send)
    const refused = (): Promise<Exchange> => gate.sendWhenIdle(false, expects409, send)
    // Whether a refused creation has an effect is judged before any other refusal is sent there.
    const isJudgedFirst =
      isPlanned(run, ids.noEffect) && run.target.resources.application?.id === application
    return isJudgedFirst ? noEffectFindings(run).then(refused, refused) : refused()
  },
  observe(run, exchange) {
    const application = applicationOf(run, exchange.probe)
    if (application === undefined) return
    gateOf(run, application).record(exchange)
    const { response, probe } = exchange
    if (response && probe.effect !== 'none' && isBreakdown(response))
      jobsOf(run).broken.push(exchange)
  },
  unanswered(run, { probe, endedAt }) {
    // On an application that the run created, too.
    const application =
      probe.operation === 'jobs.create' ? probe.params['application_id'] : undefined
    if (application !== undefined) gateOf(run, application).lostAt = endedAt
  },
  start: createJobs,
  finish: readFinalStates,
  unfinished: (run) =>
    jobsOf(run)
      .all.filter((job) => !isEnded(job.readings.at(-1)))
      .map(({ id }) => id),
}
