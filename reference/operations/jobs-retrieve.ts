import { randomUUID } from 'node:crypto'
import { type Answer, Ending, mispaired, type Call, type Members, ok } from '../world/call.ts'
import { largeText } from '../present.ts'
import { endJobs, noteReading } from '../world/jobs.ts'
import type { Operation } from '../world/operation.ts'
import { preloadedIds } from '../world/preloaded.ts'
import { countUp, type Job, ownAccount, plainJob, type World } from '../world/world.ts'

/** What a broken server shows of a job, by defect; false if nothing of this job. */
type Wrong = Readonly<Record<string, Members | false | undefined>>

function wrongCreation(world: World, job: Job): Wrong {
  const { firstJob = job } = world.store.applications.get(job.applicationId) ?? {}
  return {
    'jobs.retrieve/200-identity#one-id': { id: firstJob.id },
    'jobs.create/202-created#id': { id: `job-${job.id}` },
    'jobs.create/202-created#created-at': { created_at: job.createdAt },
    'jobs.create/202-created#later': countUp(world, 'creations') > 1 && { created_at: undefined },
  }
}

function wrongRetrieval(world: World, job: Job): Wrong {
  const { write } = world.clock
  const { id, status, applicationId, createdAt, readings } = job
  const isRunning = status === 'in_progress'
  const { data } = newestOf(world, job)
  // A job of that application is certainly seen in progress, and nobody checks its outcome.
  const isSlow = applicationId === preloadedIds.slowApplication
  const isHidden = !isRunning && isNewerRunning(world, job)
  return {
    'jobs.retrieve/200-job': { updated_at: job.updatedAt },
    'jobs.retrieve/200-job#data': { data: 'About tea' },
    'jobs.retrieve/200-job#error': { error: { message: 'The model gave no answer' } },
    'jobs.retrieve/200-job#status': isSlow && isRunning && { status: 'running' },
    'jobs.retrieve/200-job#ended-status': status === 'completed' && { status: 'succeeded' },
    'jobs.retrieve/200-job#id': { id: `urn:uuid:${id}` },
    'jobs.retrieve/200-identity': { application_id: preloadedIds.foreignApplication },
    'jobs.retrieve/200-identity#id': { id: preloadedIds.job },
    'jobs.retrieve/200-identity#declared-job': id === preloadedIds.job && {
      id: preloadedIds.foreignJob,
    },
    'jobs.retrieve/200-identity#newest-data': status === 'completed' && data && { data },
    'jobs.retrieve/200-created-at': { created_at: write(createdAt + 5000) },
    'jobs.retrieve/200-created-at#drifting': { created_at: write(createdAt + 3000 * readings) },
    'jobs.retrieve/200-stable': !isRunning && { data: { title: `Reading ${readings}` } },
    'jobs.retrieve/200-stable#status': readings > 1 && { status: 'in_progress' },
    'jobs.retrieve/200-stable#newest-status': isHidden && { status: 'in_progress' },
    'jobs.retrieve/200-consistent': isRunning && { completed_at: write(createdAt) },
    'jobs.retrieve/200-consistent#data': isRunning && { data: {} },
    'jobs.retrieve/200-consistent#error': isRunning && { error: 'none yet' },
    'jobs.retrieve/200-consistent#completed-before': status === 'completed' && {
      completed_at: write(createdAt - 5000),
    },
    'jobs.retrieve/200-failed': status === 'failed' && { status: 'completed', error: undefined },
  }
}

function wrongMembers(world: World, job: Job, wrongOf: (world: World, job: Job) => Wrong): Members {
  const { brokenIn, hasSome } = world.switches
  if (!hasSome('jobs.')) return {}
  const { applicationId } = job
  const cases = {
    '': true,
    '#other-application': applicationId === preloadedIds.otherApplication,
    '#slow-application': applicationId === preloadedIds.slowApplication,
    '#failing-application': applicationId === preloadedIds.failingApplication,
    '#declared-job': job.id === preloadedIds.job,
  }
  const shown = Object.entries(wrongOf(world, job)).filter(([defect]) => brokenIn(defect, cases))
  return Object.assign({}, ...shown.map(([, members]) => members)) as Members
}

function newestOf(world: World, job: Job): Job {
  return world.store.applications.get(job.applicationId)?.job ?? job
}

/** A job that began within this many ms of another may have been accepted because of wrong answers about that one. */
const apartMs = 200

function isNewerRunning(world: World, { applicationId, completedAt = Infinity }: Job): boolean {
  const newer = world.store.applications.get(applicationId)?.job
  return newer?.status === 'in_progress' && newer.createdAt - completedAt > apartMs
}

function uuid({ switches }: World, id: string, where: 'creation' | 'retrieval'): string {
  const variants = ['uuids/upper-case', `uuids/upper-case-in-${where}`]
  return variants.some(switches.varied) ? id.toUpperCase() : id
}

const longAgoMs = 40 * 24 * 3_600_000

/** Formats `created_at`; `later`: ms, if the two responses read the clock separately. */
function writeCreatedAt(
  { switches: { broken }, clock, since }: World,
  { createdAt }: Job,
  later = 0,
): string {
  if (broken('jobs.retrieve/200-created-at#same-for-all')) return clock.write(since)
  if (broken('jobs.retrieve/200-consistent#long-ago')) return clock.write(createdAt - longAgoMs)
  if (broken('jobs.retrieve/200-created-at#backwards')) return clock.write(2 * since - createdAt)
  return clock.write(createdAt + later)
}

/** §2.4 */
export function createdJobView(world: World, job: Job): Members {
  return {
    id: uuid(world, job.id, 'creation'),
    status: world.switches.varied('jobs/instant') ? 'in_progress' : job.status,
    created_at: writeCreatedAt(world, job),
    ...wrongMembers(world, job, wrongCreation),
  }
}

const updates: Readonly<Record<string, (job: Job, now: number) => number>> = {
  'jobs/updated-at-moves': (_, now) => now,
  'jobs/updated-when-created': ({ createdAt }) => createdAt,
  'jobs/updated-before-created': ({ createdAt }) => createdAt - 1500,
}

function optionalMembers({ switches, clock }: World, job: Job): Members {
  const { varied, variedOf } = switches
  if (varied('jobs/no-optional-members')) return {}
  const { status, updatedAt, completedAt, data, error } = job
  const text = varied('answers/large') && { text: largeText(2) }
  const hasAll = varied('jobs/all-members') && status !== 'in_progress'
  const isTold = completedAt !== undefined && (hasAll || status === 'completed')
  return {
    updated_at: clock.write(variedOf(updates)?.(job, clock.now()) ?? updatedAt),
    ...(isTold && { completed_at: clock.write(completedAt) }),
    ...((data !== undefined || hasAll) && { data: { ...data, ...text } }),
    ...((error !== undefined || hasAll) && { error: error ?? 'It took two attempts' }),
  }
}

function shownJob(world: World, asked: Job): Job {
  const { broken } = world.switches
  const newest = newestOf(world, asked)
  if (broken('jobs.retrieve/200-identity#newest-job')) return newest
  const keepsId = ['200-identity#one-id', '200-created-at#newest-job'].some((name) =>
    broken(`jobs.retrieve/${name}`),
  )
  return keepsId ? { ...newest, id: asked.id } : asked
}

/** §2.3 */
export function jobView(world: World, asked: Job): Members {
  const { varied } = world.switches
  const job = shownJob(world, asked)
  const later = varied('dates/two-readings') ? 600 : varied('dates/two-readings-earlier') ? -600 : 0
  const createdAt = writeCreatedAt(world, job, later)
  return {
    id: uuid(world, job.id, 'retrieval'),
    status: job.status,
    application_id: job.applicationId,
    created_at: varied('dates/coarser-in-retrieval') ? `${createdAt.slice(0, 19)}Z` : createdAt,
    ...optionalMembers(world, job),
    ...wrongMembers(world, job, wrongRetrieval),
  }
}

const uuidForm = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const lateMs = 30_000

const settlingMs = 400

function lose(call: Call, job: Job): void {
  const { clock, pace } = call.world
  const isOld = newestOf(call.world, job) !== job && job.status !== 'in_progress'
  const age = clock.now() - job.createdAt
  call.rejectIf('jobs.create/202-retrievable', true, '404-ResourceNotFound')
  call.rejectIf('jobs.create/202-retrievable#late', age < lateMs, '404-ResourceNotFound')
  call.rejectIf('200-identity#newest-only', isOld, '404-ResourceNotFound')
  if (call.varied('jobs/readable-late') && age < (pace.settle ?? settlingMs))
    call.reject('404-ResourceNotFound')
}

function find(call: Call): Job {
  endJobs(call.world)
  const asked = call.param('job_id')
  // That defect changes the form of ids; the jobs are found all the same.
  const prefix = call.broken('jobs.create/202-created#id') ? 'job-' : ''
  const id = asked.toLowerCase().replace(prefix, '')
  if (call.broken('4xx-malformed-id#object-member') && asked in {}) throw new Ending(grant(call))
  if (!uuidForm.test(id)) call.refuse('4xx-malformed-id', '400-BadRequest')
  const job = call.world.store.jobs.get(id)
  if (job) {
    lose(call, job)
    return job
  }
  if (call.broken('envelope/status-tpe-pair')) mispaired('404-InvalidInputParameters')
  if (call.broken('envelope/status-tpe-pair#unknown-name')) mispaired('404-NoSuchJob')
  return call.refuse('4xx-unknown-job')
}

function grant(call: Call): Answer {
  const createdAt = call.world.clock.now()
  const asked = call.param('job_id')
  const id = uuidForm.test(asked.toLowerCase()) ? asked : randomUUID()
  const owned = { id, account: ownAccount, applicationId: randomUUID(), createdAt }
  const job = plainJob({ ...owned, status: 'completed' })
  return ok(jobView(call.world, job))
}

/** §4.3 */
export const jobsRetrieve: Operation<Job> = {
  id: 'jobs.retrieve',
  method: 'GET',
  paths: ['/v1/applications/jobs/:job_id'],
  requirement: () => '200-job',
  find,
  foreign: '4xx-foreign-job',
  run: (call, job) => {
    const isSecond =
      countUp(call.world, `readings of ${job.id}`) === 2 && job.status === 'in_progress'
    call.breakIf('200-job#second-5xx', isSecond)
    if (job.status !== 'in_progress') job.readings += 1
    const body = jobView(call.world, job)
    noteReading(call.world, job)
    return { status: 200, body }
  },
  grant,
}
