import type { Members } from './call.ts'
import { preloadedIds } from './preloaded.ts'
import type { Job } from './store.ts'
import { countUp, type World } from './world.ts'

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
    created_at: world.clock.write(job.createdAt),
  }
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
  const updatedAt = varied('jobs/updated-before-created') ? job.createdAt - 1500 : job.updatedAt
  const every = varied('jobs/all-members') && job.status !== 'in_progress'
  return {
    updated_at: write(updatedAt),
    ...(job.completedAt !== undefined && (every || job.status === 'completed')
      ? { completed_at: write(job.completedAt) }
      : {}),
    ...(job.data !== undefined || every ? { data: job.data ?? {} } : {}),
    ...(job.error !== undefined || every ? { error: job.error ?? 'It took two attempts' } : {}),
  }
}

/** A job that is surely seen in progress, and whose outcome nobody asks for. */
function isOfSlowApplication(job: Job): boolean {
  return job.applicationId === preloadedIds.slowApplication
}

/** Members that a broken server gives instead, by the variant of the defect `jobs.retrieve/200-job`. */
const misshapen: Readonly<Record<string, (job: Job) => Members>> = {
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
  '#status': (job) => ({ status: isOfSlowApplication(job) && job.status === 'in_progress' ? 'running' : job.status }),
  '#ended-status': (job) => ({ status: job.status === 'completed' ? 'succeeded' : job.status }),
  '#id': (job) => ({ id: `urn:uuid:${job.id}` }),
  '#no-application-id': () => ({ application_id: undefined }),
  '#no-created-at': () => ({ created_at: undefined }),
}

/** Members of an existing shape that a broken server gets wrong. */
function untrue(world: World, job: Job): Members {
  const { broken } = world.switches
  const { write } = world.clock
  const ended = job.status !== 'in_progress'
  return {
    ...(broken('jobs.retrieve/200-identity') ? { application_id: preloadedIds.foreignApplication } : {}),
    ...(broken('jobs.retrieve/200-identity#id') ? { id: preloadedIds.job } : {}),
    ...(broken('jobs.retrieve/200-created-at') ? { created_at: write(job.createdAt + 5000) } : {}),
    ...(broken('jobs.retrieve/200-created-at#drifting')
      ? { created_at: write(job.createdAt + 3000 * job.readings) }
      : {}),
    ...(broken('jobs.retrieve/200-stable') && ended ? { data: { title: `Reading ${job.readings}` } } : {}),
    ...(broken('jobs.retrieve/200-stable#status') && job.readings > 1 ? { status: 'in_progress' } : {}),
    ...(broken('jobs.retrieve/200-failed') && job.status === 'failed' ? { status: 'completed', error: undefined } : {}),
    ...(broken('jobs.retrieve/200-failed#error') && job.status === 'failed' ? { error: { code: 17 } } : {}),
  }
}

/** The job as retrieval shows it (§2.3). */
export function jobView(world: World, job: Job): Members {
  const { broken, varied } = world.switches
  const coarse = varied('dates/coarser-in-retrieval')
  const createdAt = world.clock.write(job.createdAt)
  const view = {
    id: uuid(world, job.id, 'retrieval'),
    status: job.status,
    application_id: job.applicationId,
    created_at: coarse ? `${createdAt.slice(0, 19)}Z` : createdAt,
    ...optionalMembers(world, job),
    ...untrue(world, job),
  }
  const wrong = Object.entries(misshapen).find(([variant]) => broken(`jobs.retrieve/200-job${variant}`))
  return wrong ? { ...view, ...wrong[1](job) } : view
}
