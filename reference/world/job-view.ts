import { largeJobText } from '../present.ts'
import type { Members } from './call.ts'
import { preloadedIds } from './preloaded.ts'
import { type Job, countUp, type World } from './world.ts'

function uuid(world: World, id: string, where: 'creation' | 'retrieval'): string {
  const upper = world.switches.varied('uuids/upper-case') || world.switches.varied(`uuids/upper-case-in-${where}`)
  return upper ? id.toUpperCase() : id
}

/** The creation response (§2.4). */
export function createdJobView(world: World, job: Job): Members {
  const { broken, varied } = world.switches
  const view: Record<string, unknown> = {
    id: uuid(world, job.id, 'creation'),
    status: varied('jobs/instant') ? 'in_progress' : job.status,
    created_at: writeCreatedAt(world, job),
  }
  if (broken('jobs.retrieve/200-identity#one-id')) view['id'] = firstJobOf(world, job).id
  if (broken('jobs.create/202-created#id')) view['id'] = `job-${job.id}`
  if (broken('jobs.create/202-created#no-id')) delete view['id']
  if (broken('jobs.create/202-created#job-status')) view['status'] = 'queued'
  if (broken('jobs.create/202-created#no-job-status')) delete view['status']
  if (broken('jobs.create/202-created#created-at')) view['created_at'] = job.createdAt
  if (broken('jobs.create/202-created#no-created-at')) delete view['created_at']
  if (broken('jobs.create/202-created#later') && countUp(world, 'creations') > 1) delete view['created_at']
  return view
}

/** The optional members (§2.3), as the variants would have them. */
function optionalMembers(world: World, job: Job): Members {
  const { varied } = world.switches
  const { write } = world.clock
  if (varied('jobs/no-optional-members')) return {}
  const updatedAt = varied('jobs/updated-at-moves')
    ? world.clock.now()
    : varied('jobs/updated-when-created')
      ? job.createdAt
      : varied('jobs/updated-before-created')
        ? job.createdAt - 1500
        : job.updatedAt
  const text = largeJobText(varied)
  const every = varied('jobs/all-members') && job.status !== 'in_progress'
  return {
    updated_at: write(updatedAt),
    ...(job.completedAt !== undefined && (every || job.status === 'completed')
      ? { completed_at: write(job.completedAt) }
      : {}),
    ...(job.data !== undefined || every ? { data: { ...job.data, ...(text !== '' && { text }) } } : {}),
    ...(job.error !== undefined || every ? { error: job.error ?? 'It took two attempts' } : {}),
  }
}

/** The job as retrieval shows it (§2.3). */
export function jobView(world: World, asked: Job): Members {
  const { varied } = world.switches
  const job = shownJob(world, asked)
  // Under these variants creation and retrieval read the clock each by itself, so many ms apart.
  const later = varied('dates/two-readings') ? 600 : varied('dates/two-readings-earlier') ? -600 : 0
  const createdAt = writeCreatedAt(world, job, later)
  const view = {
    id: uuid(world, job.id, 'retrieval'),
    status: job.status,
    application_id: job.applicationId,
    created_at: varied('dates/coarser-in-retrieval') ? `${createdAt.slice(0, 19)}Z` : createdAt,
    ...optionalMembers(world, job),
    ...untrue(world, job),
  }
  return { ...view, ...misshapen(world, job) }
}

/** Defects `<requirement>#<place>` break a requirement for the jobs of one application, or for the job that the target file declares. */
const places: Readonly<Record<string, (job: Job) => boolean>> = {
  '': () => true,
  '#other-application': ({ applicationId }) => applicationId === preloadedIds.otherApplication,
  '#slow-application': ({ applicationId }) => applicationId === preloadedIds.slowApplication,
  '#failing-application': ({ applicationId }) => applicationId === preloadedIds.failingApplication,
  '#declared-job': ({ id }) => id === preloadedIds.job,
}

/** Whether the requirement of jobs.retrieve is broken for that job. */
function isBroken({ switches }: World, requirement: string, job: Job): boolean {
  return Object.entries(places).some(
    ([place, holds]) => switches.broken(`jobs.retrieve/${requirement}${place}`) && holds(job),
  )
}

/** When the job was created, as it is told; `later`: ms, if the two responses read the clock each by itself. */
function writeCreatedAt(world: World, job: Job, later = 0): string {
  const { broken } = world.switches
  const { write } = world.clock
  if (broken('jobs.retrieve/200-created-at#same-for-all')) return write(world.since)
  if (broken('jobs.retrieve/200-created-at#backwards')) return write(2 * world.since - job.createdAt)
  return write(job.createdAt + later)
}

function firstJobOf(world: World, job: Job): Job {
  return world.store.applications.get(job.applicationId)?.firstJob ?? job
}

/** The job that is shown for the one that was asked for: another job, if the server mixes them up. */
function shownJob(world: World, asked: Job): Job {
  const { broken } = world.switches
  const newest = world.store.applications.get(asked.applicationId)?.job ?? asked
  if (broken('jobs.retrieve/200-identity#newest-job')) return newest
  const keepsId = ['200-identity#one-id', '200-created-at#newest-job'].some((name) => broken(`jobs.retrieve/${name}`))
  return keepsId ? { ...newest, id: asked.id } : asked
}

/** A job that began sooner after another one, in ms, may be granted because of what is told of that one. */
const apartMs = 200

/** Whether its application has a newer job, which is in progress. */
function isNewerRunning(world: World, { applicationId, completedAt = Infinity }: Job): boolean {
  const newer = world.store.applications.get(applicationId)?.job
  return newer?.status === 'in_progress' && newer.createdAt - completedAt > apartMs
}

/** Members that a broken server gives instead, by the variant of the defect `jobs.retrieve/200-job`. */
const shapes: Readonly<Record<string, (job: Job) => Members>> = {
  '': (job) => ({ updated_at: job.updatedAt }),
  '#updated-at': () => ({ updated_at: '2025-13-45T00:00:00Z' }),
  '#updated-at-blank': () => ({ updated_at: '2025-01-31 10:00:00Z' }),
  '#updated-at-offset': () => ({ updated_at: '2025-01-31T10:00:00' }),
  '#updated-at-colon': () => ({ updated_at: '2025-01-31T10:00:00+0530' }),
  '#completed-at': (job) => ({ completed_at: job.createdAt }),
  '#data': () => ({ data: 'About tea' }),
  '#data-array': () => ({ data: [{ title: 'About tea' }] }),
  '#error': () => ({ error: { message: 'The model gave no answer' } }),
  '#null-members': () => ({ completed_at: null, data: null, error: null }),
  // A job of that application is certainly seen in progress, and nobody asks for its outcome.
  '#status': ({ applicationId, status }) => ({
    status: applicationId === preloadedIds.slowApplication && status === 'in_progress' ? 'running' : status,
  }),
  '#ended-status': (job) => ({ status: job.status === 'completed' ? 'succeeded' : job.status }),
  '#id': (job) => ({ id: `urn:uuid:${job.id}` }),
  '#no-application-id': () => ({ application_id: undefined }),
  '#no-created-at': () => ({ created_at: undefined }),
}

function misshapen(world: World, job: Job): Members {
  const { broken } = world.switches
  if (isBroken(world, '200-job', job)) return shapes['']?.(job) ?? {}
  const [, wrong] = Object.entries(shapes).find(([variant]) => broken(`jobs.retrieve/200-job${variant}`)) ?? []
  return wrong?.(job) ?? {}
}

/** Members of an existing shape that a broken server gets wrong. */
function untrue(world: World, job: Job): Members {
  const { broken } = world.switches
  const { write } = world.clock
  const ended = job.status !== 'in_progress'
  return {
    ...(isBroken(world, '200-identity', job) ? { application_id: preloadedIds.foreignApplication } : {}),
    ...(broken('jobs.retrieve/200-identity#id') ? { id: preloadedIds.job } : {}),
    ...(broken('jobs.retrieve/200-identity#declared-job') && job.id === preloadedIds.job
      ? { id: preloadedIds.foreignJob }
      : {}),
    ...(isBroken(world, '200-created-at', job) ? { created_at: write(job.createdAt + 5000) } : {}),
    ...(broken('jobs.retrieve/200-created-at#drifting')
      ? { created_at: write(job.createdAt + 3000 * job.readings) }
      : {}),
    ...(isBroken(world, '200-stable', job) && ended ? { data: { title: `Reading ${job.readings}` } } : {}),
    ...(broken('jobs.retrieve/200-stable#status') && job.readings > 1 ? { status: 'in_progress' } : {}),
    ...(broken('jobs.retrieve/200-stable#newest-status') && ended && isNewerRunning(world, job)
      ? { status: 'in_progress' }
      : {}),
    ...(broken('jobs.retrieve/200-failed') && job.status === 'failed' ? { status: 'completed', error: undefined } : {}),
    ...(broken('jobs.retrieve/200-failed#error') && job.status === 'failed' ? { error: { code: 17 } } : {}),
  }
}
