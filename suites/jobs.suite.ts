import type { RequirementId } from '../catalogue/catalogue.ts'
import {
  applyScenario,
  byRecord,
  missingBody,
  pointerOf,
  suite,
  unknown,
  withBody,
} from '../harness/checks/index.ts'
import type { CheckContext, Exchange, Judge, Probe, Run, RunHook } from '../harness/engine/index.ts'
import { isPlanned, jsonOf, operationProbe } from '../harness/engine/index.ts'
import { historyOf } from '../harness/history/index.ts'
import { isExclusive } from '../harness/target-file/index.ts'
import { getAt, setAt } from '../schemas/json.ts'
import { eachAccepted, ofBodies, type Refusal } from './created/created-object.ts'
import { noEffect, once, onceAtOnce, ownId } from './created/relations.ts'
import { usable } from './created/usable.ts'
import { judgeAnyText } from './jobs/any-text.ts'
import { accessTo } from './jobs/applications.ts'
import { lookAtLast, provokeConflicts } from './jobs/drive.ts'
import { ids } from './jobs/held.ts'
import {
  malformedId,
  malformedInputs,
  unknownJob,
  withoutInput,
  withRequiredInputs,
} from './jobs/faults.ts'
import { followFailing, followFirst, readableJob, readFinalStates } from './jobs/follow.ts'
import { isEnded, jobsIn } from './jobs/jobs.ts'
import { byRule, judgeCreated, judgeFailed, judgeIdentity, judgeJobs } from './jobs/judge.ts'
import { provokeRefusals } from './jobs/refuse.ts'

// §4.2 Create application job

export const jobsCreate = suite('jobs.create', {
  '202-created': judgeCreated,
  '202-retrievable': byRule('jobs.create/202-retrievable', readableJob),
  '202-required-inputs-only': withRequiredInputs,
  '202-any-text': judgeAnyText,
  '400-missing-body': missingBody,
  '400-missing-inputs': byRecord(),
  '400-missing-required-inputs': withoutInput,
  '400-malformed-inputs': malformedInputs,
  '404-unknown-application': unknown('application_id'),
  '4xx-no-effect': byRule(ids.noEffect, provokeRefusals),
  '409-job-in-progress': byRule(ids.inProgress, provokeConflicts),
  '409-released': byRule(ids.released, provokeConflicts),
  '409-per-application': byRule(ids.perApplication, provokeConflicts),
  '409-atomic': byRule(ids.atomic, provokeConflicts),
})

// §4.3 Retrieve job. The spec names no error of an unknown or malformed id: any 4xx with an envelope will do.

export const jobsRetrieve = suite('jobs.retrieve', {
  '200-job': judgeJobs,
  '200-identity': judgeIdentity,
  '200-created-at': byRule('jobs.retrieve/200-created-at', followFirst),
  '200-outcome': byRule('jobs.retrieve/200-outcome', followFirst),
  '200-failed': judgeFailed,
  '200-stable': byRule('jobs.retrieve/200-stable', followFirst),
  '200-consistent': byRule('jobs.retrieve/200-consistent', followFirst),
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

// Create an application (§4.4, §7.3)

export const applicationsCreate = suite('applications.create', {
  '2xx-accepted': eachAccepted,
  '2xx-usable': usable,
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
  'jobs.create/202-created',
  'jobs.create/202-retrievable',
  'jobs.retrieve/200-job',
  'jobs.retrieve/200-identity',
  'jobs.retrieve/200-created-at',
  'jobs.retrieve/200-outcome',
  'jobs.retrieve/200-stable',
  'jobs.retrieve/200-consistent',
] as const

/** Brings about whatever the rules need, beside everything else that a run sends. */
async function createJobs(run: Run): Promise<void> {
  const { application, failingApplication } = run.target.resources
  const isWanted = (ids: readonly RequirementId[]): boolean => ids.some((id) => isPlanned(run, id))
  const drivers: (() => Promise<unknown>)[] = []
  if (application && !run.options.readOnly && isWanted(ofJobs)) drivers.push(() => followFirst(run))
  if (isWanted(conflicts)) drivers.push(() => provokeConflicts(run))
  if (isWanted([ids.noEffect])) drivers.push(() => provokeRefusals(run))
  if (failingApplication && isWanted(['jobs.retrieve/200-failed']))
    drivers.push(() => followFailing(run))
  await Promise.allSettled(drivers.map((drive) => drive()))
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
    const access = accessTo(run, application)
    if (probe.effect !== 'none') return access.sendWhenIdle(true, expects409, send)
    const refused = (): Promise<Exchange> => access.sendWhenIdle(false, expects409, send)
    // Whether a refused creation has an effect is looked at before any other refusal is sent there.
    const isLookedAtFirst =
      isPlanned(run, ids.noEffect) && run.target.resources.application?.id === application
    return isLookedAtFirst ? provokeRefusals(run).then(refused, refused) : refused()
  },
  start: createJobs,
  async finish(run) {
    if (isPlanned(run, ids.released)) await lookAtLast(run)
    await readFinalStates(run)
  },
  unfinished: (run) =>
    jobsIn(historyOf(run))
      .filter(({ twinOf, readings }) => !twinOf && !readings.some(isEnded))
      .map(({ id }) => id),
}
