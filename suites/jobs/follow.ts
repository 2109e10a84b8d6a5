import { declaredResource, grantedControl } from '../../harness/checks/index.ts'
import { describeResponse, isPlanned, NotExercised } from '../../harness/engine/index.ts'
import { groupBy } from '../../harness/group-by.ts'
import { leftOut } from '../../harness/report/index.ts'
import type { JobClient } from './client.ts'
import { hasEnded, isGone, isRead, type Job, statusOf } from './job.ts'
import { ids, rulesAfter } from './rules.ts'
import { apartMs, timesDiffer } from './times.ts'
import { ownJobs, viewOf } from './view.ts'

/** Follows jobs from creation to end, and reads them once all are made. */

/** The id of the job of the `jobs.create` control, once it can be read or `settleMs` have passed. */
export async function readNewJob(client: JobClient): Promise<string> {
  const { run, history } = client
  if (run.options.readOnly) throw new NotExercised(leftOut('--read-only'))
  const { exchange, said } = await grantedControl(run, 'jobs.create', 'no job could be created')
  const job = exchange && viewOf(history).madeBy(client.eventOf(exchange))
  if (!job) throw new NotExercised(`the creation response has no id: ${said()}`)
  await client.readUntilFound(job, 'jobs.create/202-retrievable')
  return job.id
}

/** Creates a job of the failing application and follows it to its end. */
export async function followFailing(client: JobClient): Promise<void> {
  const application = declaredResource(client.run, 'failingApplication')
  const { job, exchange } = await client.createWhenFree(application, 'jobs.retrieve/200-failed')
  const none = 'no job of resources.failingApplication could be created'
  if (!job) throw new NotExercised(`${none}: ${describeResponse(exchange)}`)
  await client.readUntilFound(job, 'jobs.create/202-retrievable')
  await client.awaitEnd(job.id)
}

/** One more job, long enough after the last one, unless the others already show that the clock advances. */
async function createLater(client: JobClient): Promise<void> {
  const { application } = client.run.target.resources
  const last = ownJobs(client.history).at(-1)
  if (!application || !last || client.isQuick || timesDiffer(client.history)) return
  await client.pause(last.creation.endedAt + apartMs - performance.now())
  const { job } = await client.createWhenFree(application, 'jobs.retrieve/200-created-at')
  if (job) await client.awaitEnd(job.id)
}

/** Interval before an ended job is read again, in ms: after its creation, or in a quick run after its observed end. */
const againMs = { full: 3000, quick: 1000 }
/** Maximum ended jobs per application and outcome to read again, besides the first; the latest. */
const maxReadAgain = { full: 2, quick: 1 }

/**
 * The first job of each application, the latest per outcome, and those that disappeared after a reading, because of a
 * slow replica or a loss.
 */
function jobsToReadAgain({ run: { options }, history }: JobClient): Job[] {
  const made = ownJobs(history).filter(({ twinOf }) => !twinOf)
  const ended = made.filter(({ isOver }) => isOver)
  const gone = made.filter(({ readings }) => readings.some(isRead) && isGone(readings.at(-1)!))
  const applications = [...groupBy(ended, ({ application }) => application).values()]
  const jobs = applications.flatMap((own) => [
    ...own.slice(0, 1),
    ...[...groupBy(own, ({ end }) => end && statusOf(end)).values()].flatMap((alike) =>
      alike.slice(-maxReadAgain[options.depth]),
    ),
  ])
  return [...new Set([...jobs, ...gone])]
}

/** Intervals before a missing job is read again, in ms: a slow replica knows it by then, or another one answers. */
const goneAgainMs = [1000, 2000, 3000, 3000]

/** Reads a job again; if missing, until a replica should know it. */
async function readAgain(client: JobClient, { id, creation }: Job): Promise<void> {
  const settledIn = creation.endedAt + client.run.target.limits.settleMs - performance.now()
  const later = client.isQuick ? [] : goneAgainMs
  for (const ms of [0, ...(settledIn > 0 ? [settledIn] : []), ...later]) {
    await client.pause(ms)
    if (!isGone(await client.read(id, ids.stable))) return
  }
}

/**
 * Reads what is only visible once all jobs are made and ended, before requirements about all of them are judged, and
 * late enough for effects that take seconds.
 */
export async function readFinalStates(client: JobClient): Promise<void> {
  const { run, history } = client
  const { depth } = run.options
  const [first] = ownJobs(history)
  await Promise.allSettled(ownJobs(history).map(({ id }) => client.awaitEnd(id)))
  if (client.isPlanned('jobs.retrieve/200-created-at'))
    await createLater(client).catch(() => undefined)
  if (!rulesAfter('ended').some((id) => id.startsWith('jobs.retrieve') && isPlanned(run, id)))
    return
  if (client.cannotBeRead) return
  const { job: declared } = run.target.resources
  const from = depth === 'full' ? first?.creation : first?.end
  const before = declared === undefined ? undefined : history.of(declared).find(hasEnded)
  const since = Math.max(
    from?.endedAt ?? 0,
    (before?.endedAt ?? -Infinity) - againMs[depth] + againMs.quick,
  )
  await client.pause(since + againMs[depth] - performance.now())
  await Promise.allSettled([
    ...jobsToReadAgain(client).map((job) => readAgain(client, job)),
    ...(before && declared !== undefined ? [client.read(declared, ids.stable)] : []),
  ])
}
