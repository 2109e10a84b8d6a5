import { declaredResource, grantedControl } from '../../harness/checks/index.ts'
import type { Exchange, Run } from '../../harness/engine/index.ts'
import {
  describeResponse,
  isPlanned,
  NotExercised,
  oncePerRun,
  pause,
  sendThroughGate,
} from '../../harness/engine/index.ts'
import { endedBefore, isEnded, type Job, jobRequest, jobsOf, type Reading } from './job-tracker.ts'
import { apartMs, timesDiffer } from './seen-jobs.ts'
import { leftOut } from '../../harness/report/index.ts'

/** Readings of one job from its creation to its end. */
interface Lifecycle {
  readonly job: Job
  /** Readings within `settleMs`, until one was 200. */
  readonly first: readonly Reading[]
  /** False if it had not ended within `jobTimeoutMs`. */
  readonly ended: boolean
}

/** Pauses before the readings of a new job: at once, and until it has to be readable; as shares of `settleMs`. */
const pauseShares = [0, 1 / 20, 3 / 20, 3 / 10, 1 / 2] as const

/** The job that the control of `jobs.create` made. */
async function mainJob(run: Run): Promise<Job> {
  if (run.options.readOnly) throw new NotExercised(leftOut('--read-only'))
  const { exchange, said } = await grantedControl(run, 'jobs.create', 'no job could be created')
  const job = jobsOf(run).madeBy(exchange)
  if (!job) throw new NotExercised(`the creation response names no id: ${said()}`)
  return job
}

/** Follows the main job to its end, once a run. */
export function mainLifecycle(run: Run): Promise<Lifecycle> {
  return oncePerRun(run, 'lifecycle', async () => follow(run, await mainJob(run)))
}

/** Creates a job of the failing application and follows it to its end, once a run. */
export function failingLifecycle(run: Run): Promise<Lifecycle> {
  return oncePerRun(run, 'failing lifecycle', async () => {
    const { job, exchange } = await createOn(run, 'failingApplication', 'jobs.retrieve/200-failed')
    if (!job)
      throw new NotExercised(
        `no job of resources.failingApplication could be created: ${describeResponse(exchange)}`,
      )
    return follow(run, job)
  })
}

async function createOn(run: Run, name: 'application' | 'failingApplication', requirement: string) {
  const application = declaredResource(run, name)
  const exchange = await sendThroughGate(run, () => jobRequest(run, application), {
    requirement,
    role: 'setup',
  })
  return { exchange, job: jobsOf(run).madeBy(exchange) }
}

/** Reads a new job until it can be read, once a run: right after its creation, and until `settleMs` have passed. */
function firstReadings(run: Run, job: Job): Promise<readonly Reading[]> {
  return oncePerRun(run, `first readings ${job.id}`, async () => {
    const readings: Reading[] = []
    for (const share of pauseShares) {
      await pause(run, share * run.target.limits.settleMs)
      const reading = await jobsOf(run).read(job, 'jobs.create/202-retrievable')
      readings.push(reading)
      if (reading.exchange.response?.status === 200) break
    }
    return readings
  })
}

/** The id of the main job, once it can be read. */
export async function readableJob(run: Run): Promise<string> {
  const job = await mainJob(run)
  await firstReadings(run, job)
  return job.id
}

async function follow(run: Run, job: Job): Promise<Lifecycle> {
  const deadline = performance.now() + run.target.limits.jobTimeoutMs
  const first = await firstReadings(run, job)
  const ended = await jobsOf(run).awaitEnd(job, deadline)
  return { job, first, ended: ended || isEnded(job.readings.at(-1)) }
}

/** The jobs of the run; what a wrong key was granted may belong to nobody. */
export function ownJobs(run: Run): Job[] {
  return jobsOf(run).all.filter(({ creation }) => creation.probe.credential.full)
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
  return oncePerRun(run, 'oldest jobs again', async () => {
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

/** An older job of the application reads the same while a newer one is in progress. */
export async function readOlder(run: Run, newer: Job): Promise<void> {
  if (!isPlanned(run, 'jobs.retrieve/200-stable')) return
  const older = jobsOf(run)
    .of(newer.application)
    .find((job) => job !== newer && endedBefore(job, performance.now()))
  if (older) await jobsOf(run).read(older, 'jobs.retrieve/200-stable')
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
  return oncePerRun(run, 'later job', async () => {
    const last = ownJobs(run).at(-1)
    if (!last || run.life.ended || run.options.depth === 'quick' || timesDiffer(ownJobs(run)))
      return
    await pause(run, Math.max(0, last.creation.endedAt + apartMs - performance.now()))
    const { job } = await createOn(run, 'application', 'jobs.retrieve/200-created-at')
    if (job) await jobsOf(run).awaitEnd(job, performance.now() + run.target.limits.jobTimeoutMs)
  })
}
