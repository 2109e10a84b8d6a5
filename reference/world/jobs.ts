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

const beginning = 0.25

function isYoung(world: World, job: Job): boolean {
  return world.clock.now() < job.createdAt + beginning * job.takes
}

const numberIn = (inputs: string): number => inputs.split('"value"').length

const overlooked: Readonly<
  Record<
    string,
    (job: Job, at: { application: Application; inputs: string; world: World }) => boolean
  >
> = {
  '#parallel': () => true,
  '#identical-only': (job, { inputs }) => job.inputs !== inputs,
  '#as-many-inputs': (job, { inputs }) => numberIn(job.inputs) !== numberIn(inputs),
  '#slow-only': (_, { application }) => application.pace !== 'slow',
  '#plain-only': (_, { application }) => application.id !== preloadedIds.application,
  '#at-once-only': (job, { world }) => !isYoung(world, job),
  '#later-only': (job, { world }) => isYoung(world, job),
  '#unread-only': (job) => job.read,
  '#read-only': (job) => !job.read,
  '#other': (_, { application }) => application.id === preloadedIds.otherApplication,
  '#failing': (_, { application }) => application.fails,
  '#preloaded-only': (_, { application }) => application.made === true,
}

/** How long a broken server blocks an application after its job, in ms: longer than three creations 1 s apart take. */
const lateMs = 4000

/** Whether a broken server still blocks an application after its job: for ever, or for a while. */
function isKept(world: World, { job, jobs, made, pace }: Application): boolean {
  const keeps = (name: string, isSuch: boolean): boolean =>
    isSuch && world.switches.broken(`jobs.create/409-released${name}`)
  const isEnded = job !== undefined && job.status !== 'in_progress'
  return (
    keeps('', jobs > 0) ||
    keeps('#slow', jobs > 0 && pace === 'slow') ||
    keeps('#created', jobs > 0 && made === true) ||
    keeps('#after-third', jobs > 2) ||
    keeps('#late', isEnded && Date.now() - job.updatedAt < lateMs) ||
    keeps('#after-failed', job?.status === 'failed')
  )
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
  if (job?.status !== 'in_progress') return false
  return !Object.entries(overlooked).some(
    ([variant, isOverlooked]) =>
      broken(`jobs.create/409-job-in-progress${variant}`) &&
      isOverlooked(job, { application, inputs, world }),
  )
}

/** A job in progress that occupies nothing yet and never ends by itself. */
export function newJob(
  world: World,
  of: Pick<Job, 'applicationId' | 'account' | 'inputs' | 'takes'> & Partial<Pick<Job, 'fails'>>,
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
  const { broken, varied } = world.switches
  const fails =
    application.fails ||
    varied('jobs/born-failed') ||
    (varied('jobs/fail-now-and-then') && countUp(world, 'jobs') % 3 === 0)
  const { id: applicationId, account } = application
  const job = newJob(world, { applicationId, account, inputs, takes, fails })
  application.job = job
  application.firstJob ??= job
  application.jobs += 1
  if (varied('jobs/born-completed') || varied('jobs/born-failed') || varied('jobs/instant')) {
    endJob(job, job.createdAt)
    return job
  }
  if (broken('jobs.retrieve/200-outcome') && application.id === preloadedIds.application) return job
  if (broken('jobs.retrieve/200-outcome#slow') && application.pace === 'slow') return job
  if (broken('jobs.retrieve/200-outcome#failing') && application.fails) return job
  world.running.add(job)
  return job
}

/** Starts a job whose id nobody knows: it ends by time alone. */
export function startUnseenJob(
  world: World,
  application: Application,
  inputs: string,
  takes?: number,
): void {
  const job = startJob(world, application, inputs, takes)
  job.seenAt = job.createdAt
}

/** `at`: ms since the epoch. */
export function endJob(job: Job, at: number): void {
  job.completedAt = at
  job.updatedAt = at
  if (job.fails) {
    job.status = 'failed'
    job.error = 'The model gave no answer'
  } else {
    job.status = 'completed'
    job.data = { title: 'About tea', suggestion: `Begin with the leaf (${job.id.slice(0, 8)}).` }
  }
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
