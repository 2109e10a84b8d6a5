import type { Members } from './call.ts'
import { firstJobOf, misshapen, shownJob, untrue, writeCreatedAt } from './job-untrue.ts'
import { largeJobText } from './large.ts'
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

function largeText(world: World): Members {
  const text = largeJobText(world.switches.varied)
  return text === '' ? {} : { text }
}

/** How many ms later than creation retrieval reads the clock (or earlier), under the variants in which both read it. */
function laterMs({ switches: { varied } }: World): number {
  if (varied('dates/two-readings')) return 600
  return varied('dates/two-readings-earlier') ? -600 : 0
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
  const every = varied('jobs/all-members') && job.status !== 'in_progress'
  return {
    updated_at: write(updatedAt),
    ...(job.completedAt !== undefined && (every || job.status === 'completed')
      ? { completed_at: write(job.completedAt) }
      : {}),
    ...(job.data !== undefined || every ? { data: { ...job.data, ...largeText(world) } } : {}),
    ...(job.error !== undefined || every ? { error: job.error ?? 'It took two attempts' } : {}),
  }
}

/** The job as retrieval shows it (§2.3). */
export function jobView(world: World, asked: Job): Members {
  const { varied } = world.switches
  const job = shownJob(world, asked)
  const createdAt = writeCreatedAt(world, job, laterMs(world))
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
