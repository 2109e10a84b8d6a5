import { preloadedIds } from './preloaded.ts'
import {
  type Application,
  type Job,
  countUp,
  type World,
  endOf,
  readingsInProgress,
  plainJob,
} from './world.ts'

const numberIn = (inputs: string): number => inputs.split('"value"').length

function isOverlooked(world: World, application: Application, job: Job, inputs: string): boolean {
  const isYoung = world.clock.now() < job.createdAt + 0.25 * job.takes
  return world.switches.brokenIn('jobs.create/409-job-in-progress', {
    '#parallel': true,
    '#identical-only': job.inputs !== inputs,
    '#as-many-inputs': numberIn(job.inputs) !== numberIn(inputs),
    '#slow-only': application.pace !== 'slow',
    '#plain-only': application.id !== preloadedIds.application,
    '#at-once-only': !isYoung,
    '#later-only': isYoung,
    '#unread-only': job.read,
    '#read-only': !job.read,
    '#other': application.id === preloadedIds.otherApplication,
    '#failing': application.fails,
    '#preloaded-only': application.made === true,
  })
}

/** How long a broken server blocks an application after its job, in ms: longer than three creations 1 s apart take. */
const lateMs = 4000

function isKept(world: World, { job, jobs, made, pace }: Application): boolean {
  const isEnded = job !== undefined && job.status !== 'in_progress'
  return world.switches.brokenIn('jobs.create/409-released', {
    '': jobs > 0,
    '#slow': jobs > 0 && pace === 'slow',
    '#created': jobs > 0 && made === true,
    '#after-third': jobs > 2,
    '#late': isEnded && Date.now() - job.updatedAt < lateMs,
    '#after-failed': job?.status === 'failed',
  })
}

/** Whether the application has a job in progress, and so accepts no other (§8.3); `inputs`: those of the other. */
export function isBusy(world: World, application: Application, inputs: string): boolean {
  const { broken } = world.switches
  endJobs(world)
  const { job, blockedFrom = 0, blockedUntil = 0 } = application
  if (application.made && broken('jobs.create/202-created#busy-when-made')) return true
  if (isKept(world, application) || (Date.now() >= blockedFrom && Date.now() < blockedUntil))
    return true
  if (broken('jobs.create/409-per-application'))
    return [...world.store.applications.values()].some((each) => each.job?.status === 'in_progress')
  return job?.status === 'in_progress' && !isOverlooked(world, application, job, inputs)
}

/** A job in progress that occupies nothing yet and never ends by itself. */
export function newJob(
  world: World,
  of: Pick<Job, 'applicationId' | 'account'> & Partial<Job>,
): Job {
  const job = plainJob({ ...of, createdAt: world.clock.now() })
  world.store.jobs.set(job.id, job)
  return job
}

export function startJob(
  world: World,
  application: Application,
  inputs: string,
  takes = world.pace[application.pace],
): Job {
  const { varied } = world.switches
  const fails =
    application.fails ||
    varied('jobs/born-failed') ||
    (varied('jobs/fail-now-and-then') && countUp(world, 'jobs') % 3 === 0)
  const { id: applicationId, account } = application
  const job = newJob(world, { applicationId, account, inputs, takes, fails })
  application.job = job
  application.firstJob ??= job
  application.jobs += 1
  const neverEnds = world.switches.brokenIn('jobs.retrieve/200-outcome', {
    '': application.id === preloadedIds.application,
    '#slow': application.pace === 'slow',
    '#failing': application.fails,
  })
  if (['jobs/born-completed', 'jobs/born-failed', 'jobs/instant'].some(varied))
    endJob(job, job.createdAt)
  else if (!neverEnds) world.running.add(job)
  return job
}

export function startUnseenJob(
  world: World,
  application: Application,
  inputs: string,
  takes?: number,
): void {
  const job = startJob(world, application, inputs, takes)
  job.seenAt = job.createdAt
}

export function endJob(job: Job, at: number): void {
  const suggestion = `Begin with the leaf (${job.id.slice(0, 8)}).`
  const outcome = job.fails
    ? ({ status: 'failed', error: 'The model gave no answer' } as const)
    : ({ status: 'completed', data: { title: 'About tea', suggestion } } as const)
  Object.assign(job, { completedAt: at, updatedAt: at, ...outcome })
}

export function endJobs({ running, clock, pace }: World): void {
  for (const job of running) {
    const at = endOf(job, pace.unread)
    if (clock.now() < at) continue
    running.delete(job)
    endJob(job, at)
  }
}

/** Counts a reading of a job in progress: it does not end before it was read often enough. */
export function noteReading({ clock }: World, job: Job): void {
  job.read = true
  if (job.status !== 'in_progress') return
  job.readingsInProgress += 1
  if (job.readingsInProgress === readingsInProgress) job.seenAt ??= clock.now()
}
