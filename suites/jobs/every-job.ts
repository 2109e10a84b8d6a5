import { declaredResource } from '../../harness/checks/valid-request.ts'
import { isEnded, type Job, jobRequest, jobsOf } from './job-tracker.ts'
import { sendThroughGate } from '../../harness/engine/check-context.ts'
import { pause } from '../../harness/engine/outcome.ts'
import type { Exchange } from '../../harness/engine/exchange.ts'
import { isPlanned, type Run, type RunHook } from '../../harness/engine/run.ts'
import { apartMs, timesDiffer } from './seen-jobs.ts'
import { provokeConflicts } from './provoke-conflicts.ts'
import { conflictId } from './conflict.ts'
import { failingLifecycle, mainLifecycle, readableJob } from './lifecycle.ts'
import { noEffect, noEffectAtOnce } from './no-effect.ts'
import { isBreakdown } from '../../harness/engine/response.ts'
import type { Probe } from '../../harness/engine/probe.ts'
import { operationProbe } from '../../harness/engine/operation-probe.ts'
import { gatesOf } from './gate.ts'

const conflicts = Object.values(conflictId)
const failing = 'jobs.retrieve/200-failed'

/** Rows that are judged on all jobs of a run. */
const ofJobs = [
  ...['jobs.create/202-created', 'jobs.retrieve/200-job', 'jobs.retrieve/200-identity'],
  ...['jobs.retrieve/200-created-at', 'jobs.retrieve/200-outcome', 'jobs.retrieve/200-stable'],
] as const satisfies readonly string[]

/** Makes the jobs on which the last rows are judged, in every state that the target declares. */
async function createJobs(run: Run): Promise<void> {
  const { application, failingApplication } = run.target.resources
  const planned = (id: string): boolean => run.plan.get(id)?.run === true
  const wanted: (() => Promise<unknown>)[] = []
  if (application && !run.options.readOnly && ofJobs.some(planned)) wanted.push(() => mainLifecycle(run))
  if (conflicts.some((id) => isPlanned(run, id))) wanted.push(() => provokeConflicts(run))
  if (isPlanned(run, 'jobs.create/4xx-no-effect')) wanted.push(() => noEffect(run))
  if (failingApplication && isPlanned(run, failing)) wanted.push(() => failingLifecycle(run))
  await Promise.allSettled(wanted.map((see) => see()))
}

/** The jobs of the run; what a wrong key was granted may belong to nobody. */
export function ownJobs(run: Run): Job[] {
  return jobsOf(run).all.filter(({ creation }) => creation.probe.credential.full)
}

/**
 * Sees what can be seen only once all jobs are made, and have ended: before any of the last rows is judged, so that each
 * of them sees all readings.
 */
async function readFinalStates(run: Run): Promise<void> {
  const deadline = performance.now() + run.target.limits.jobTimeoutMs
  const { all, awaitEnd } = jobsOf(run)
  await Promise.all(all.map((job) => awaitEnd(job, deadline).catch(() => false)))
  if (isPlanned(run, 'jobs.retrieve/200-created-at')) await seeLaterJob(run).catch(() => undefined)
  if (isPlanned(run, 'jobs.retrieve/200-identity')) await seeOldestAgain(run).catch(() => undefined)
}

/** The first job of each application that has had a newer one: a server may know the newest alone. */
export function oldestJobs(run: Run): Job[] {
  const jobs = ownJobs(run)
  return jobs.filter(
    ({ application }, at) =>
      jobs.findIndex((job) => job.application === application) === at &&
      (at === 0 || jobs.slice(at + 1).some((job) => job.application === application)),
  )
}

/** They are read once more when all are made: one that was read before is there still, at the latest `settleMs` after its creation. */
export function seeOldestAgain(run: Run): Promise<void> {
  return run.once('oldest jobs again', async () => {
    if (ownJobs(run).length < 2) return
    const { limits } = run.target
    await Promise.all(
      oldestJobs(run).map(async (job) => {
        const { exchange } = await jobsOf(run).read(job, 'jobs.retrieve/200-identity')
        if (!isGone(exchange)) return
        await pause(run, Math.max(0, job.createdAtMs + limits.settleMs - performance.now()))
        await jobsOf(run).read(job, 'jobs.retrieve/200-identity')
      }),
    )
  })
}

/** Unknown, or no longer there. */
export function isGone({ response }: Exchange): boolean {
  return response?.status === 404 || response?.status === 410
}

/**
 * One more job, long enough after the last one, unless the others show already whether the clock stands still. A quick run
 * does not wait for it.
 */
export function seeLaterJob(run: Run): Promise<void> {
  return run.once('later job', async () => {
    const last = ownJobs(run).at(-1)
    if (!last || run.life.ended || run.options.depth === 'quick' || timesDiffer(ownJobs(run))) return
    await pause(run, Math.max(0, last.creation.endedAt + apartMs - performance.now()))
    const purpose = { requirement: 'jobs.retrieve/200-created-at', role: 'setup' } as const
    const make = () => jobRequest(run, declaredResource(run, 'application'))
    const exchange = await sendThroughGate(run, make, purpose)
    const job = ownJobs(run).find(({ creation }) => creation.response === exchange.response)
    if (job) await jobsOf(run).awaitEnd(job, performance.now() + run.target.limits.jobTimeoutMs)
  })
}

/** Requirements that create without a fault. */
const faultless: readonly (string | null)[] = [
  ...[...conflicts, failing, 'jobs.create/4xx-no-effect', 'applications.create/2xx-usable'],
]
/** The ones of them that create beside a job or another creation, where 409 is the right answer. */
const besideOthers: readonly (string | null)[] = [conflictId.inProgress, conflictId.atomic]

/**
 * Creations whose requests had no fault, besides the control: those that were granted, and those alone that broke an
 * application which has granted another one, if no request before it on the connection may be to blame.
 */
export function faultlessCreations(run: Run): readonly Exchange[] {
  const { creations, broken } = jobsOf(run)
  const applicationOf = ({ probe }: Exchange): string | undefined => probe.params['application_id']
  const granting = new Set(creations.map(applicationOf))
  const breakdowns = broken.filter(
    (exchange) =>
      granting.has(applicationOf(exchange)) &&
      !exchange.previousRequest &&
      !besideOthers.includes(exchange.purpose.requirement),
  )
  return [...creations, ...breakdowns].filter(({ purpose }) => faultless.includes(purpose.requirement))
}

/** The declared application that a creation names; undefined for any other request. */
function applicationOf(run: Run, { operation, params }: Probe): string | undefined {
  const application = operation === 'jobs.create' ? params['application_id'] : undefined
  return application !== undefined && run.target.applicationIds.has(application) ? application : undefined
}

function isJudgedFirst(run: Run, application: string): boolean {
  return isPlanned(run, 'jobs.create/4xx-no-effect') && run.target.resources.application?.id === application
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
    const gate = gatesOf(run).of(application)
    if (probe.effect !== 'none') return gate.sendWhenIdle({ exclusive: true, expects409 }, send)
    const refused = (): Promise<Exchange> => gate.sendWhenIdle({ exclusive: false, expects409 }, send)
    // Whether a refused creation has an effect is judged before any other refusal is sent there.
    return isJudgedFirst(run, application) ? noEffectAtOnce(run).then(refused, refused) : refused()
  },
  observe(run, exchange) {
    const application = applicationOf(run, exchange.probe)
    if (application === undefined) return
    gatesOf(run).of(application).record(exchange)
    const { response, probe } = exchange
    if (response && probe.effect !== 'none' && isBreakdown(response)) jobsOf(run).broken.push(exchange)
  },
  unanswered(run, { probe, endedAt }) {
    const application = applicationOf(run, probe)
    if (application !== undefined) gatesOf(run).of(application).lostAt = endedAt
  },
  start: createJobs,
  finish: readFinalStates,
  unfinished: (run) =>
    jobsOf(run)
      .all.filter((job) => !isEnded(job.readings.at(-1)))
      .map(({ id }) => id),
}
