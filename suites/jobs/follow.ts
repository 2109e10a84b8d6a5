import { declaredResource, grantedControl } from '../../harness/checks/index.ts'
import type { Run } from '../../harness/engine/index.ts'
import {
  describeResponse,
  isPlanned,
  NotExercised,
  pause,
  ask,
} from '../../harness/engine/index.ts'
import { historyOf } from '../../harness/history/index.ts'
import { leftOut } from '../../harness/report/index.ts'
import { hasEnded, isGone, isRead, type Job, statusOf } from './job.ts'
import { jobOf, madeBy, ownJobs } from './view.ts'
import { awaitEnd } from './application.ts'
import { cannotBeRead, eventOf, jobRequest, read } from './requests.ts'
import { ids } from './rules.ts'
import { apartMs, timesDiffer } from './times.ts'

/** Jobs that are followed from their creation to their end, and what is read of them when all are made. */

/** Pauses before the readings of a new job: at once, and until it has to be readable; as shares of `settleMs`. */
const pauseShares = [0, 1 / 20, 3 / 20, 3 / 10, 1 / 2] as const

/** The id of the job that the control of `jobs.create` made, once it can be read, or `settleMs` are over. */
export async function readNewJob(run: Run): Promise<string> {
  if (run.options.readOnly) throw new NotExercised(leftOut('--read-only'))
  const { exchange, said } = await grantedControl(run, 'jobs.create', 'no job could be created')
  const job = exchange && madeBy(historyOf(run), eventOf(run, exchange))
  if (!job) throw new NotExercised(`the creation response names no id: ${said()}`)
  await readUntilFound(run, job.id)
  return job.id
}

/** Reads a new job right after its creation, and until it is found, at most until `settleMs` have passed. */
async function readUntilFound(run: Run, id: string): Promise<void> {
  for (const share of pauseShares) {
    await pause(run, share * run.target.limits.settleMs)
    const { status } = await read(run, id, 'jobs.create/202-retrievable')
    if (status === 200 || cannotBeRead(run)) return
  }
}

/** Creates a job of the failing application and follows it to its end. */
export async function followFailing(run: Run): Promise<void> {
  const { job, exchange } = await createOn(run, 'failingApplication', 'jobs.retrieve/200-failed')
  if (!job)
    throw new NotExercised(
      `no job of resources.failingApplication could be created: ${describeResponse(exchange)}`,
    )
  await readUntilFound(run, job.id)
  await awaitEnd(run, job.id)
}

async function createOn(run: Run, name: 'application' | 'failingApplication', requirement: string) {
  const application = declaredResource(run, name)
  const purpose = { requirement, role: 'setup' } as const
  const exchange = await ask(run, () => jobRequest(run, application), purpose)
  return { exchange, job: madeBy(historyOf(run), eventOf(run, exchange)) }
}

/**
 * One more job, long enough after the last one, unless the others show already whether the clock stands still. A quick run
 * does not wait for it.
 */
async function createLater(run: Run): Promise<void> {
  const last = ownJobs(historyOf(run)).at(-1)
  if (!last || run.options.depth === 'quick' || timesDiffer(historyOf(run))) return
  await pause(run, Math.max(0, last.creation.endedAt + apartMs - performance.now()))
  const { job } = await createOn(run, 'application', 'jobs.retrieve/200-created-at')
  if (job) await awaitEnd(run, job.id)
}

/** An ended job is read again so many ms after it was made, or in a quick run after it was seen to have ended. */
const againMs = { full: 3000, quick: 1000 }
/** Most ended jobs that are read again for each application and outcome; the latest are taken. */
const maxReadAgain = { full: 2, quick: 1 }

/** The first job of each application, and the last ones of each outcome; of applications that the run created as of one. */
function jobsToReadAgain(run: Run): Job[] {
  const { target, options } = run
  const counts = new Map<string, number>()
  const isWanted = ({ application, readings }: Job): boolean => {
    const isOne = options.depth === 'quick' || !target.applicationIds.has(application.id)
    const outcome = readings.map(statusOf).findLast((status) => status !== undefined)
    if (outcome === undefined || outcome === 'in_progress') return false
    const kind = `${isOne ? '' : application.id} ${outcome}`
    const count = (counts.get(kind) ?? 0) + 1
    counts.set(kind, count)
    // A status that the spec does not know may be one of a job that goes on.
    const isKnown = outcome === 'completed' || outcome === 'failed'
    return !isKnown || count <= maxReadAgain[options.depth]
  }
  const jobs = ownJobs(historyOf(run)).filter(({ twinOf }) => !twinOf)
  const first = new Map(jobs.toReversed().map((job) => [job.application, job]))
  // One that was read, and then was not there: a copy that lags behind, or lost.
  const gone = jobs.filter(({ readings }) => readings.some(isRead) && isGone(readings.at(-1)!))
  return [
    ...new Set([
      ...[...first.values()].toReversed(),
      ...jobs.toReversed().filter(isWanted),
      ...gone,
    ]),
  ]
}

/** A job that is gone is read again after so many ms each: a copy that lags behind knows it by then, or another one answers. */
const goneAgainMs = [1000, 2000, 3000, 3000]

/** Reads a job again; one that is gone again until it is there, once a copy should know it. */
async function readAgain(run: Run, { id, creation }: Job): Promise<void> {
  let again = await read(run, id, ids.stable)
  const settledAt = creation.endedAt + run.target.limits.settleMs
  if (isGone(again) && again.sentAt < settledAt) {
    await pause(run, Math.max(0, settledAt - performance.now()))
    again = await read(run, id, ids.stable)
  }
  for (const ms of run.options.depth === 'full' ? goneAgainMs : []) {
    if (!isGone(again)) return
    await pause(run, ms)
    again = await read(run, id, ids.stable)
  }
}

/** What readings of ended jobs are for. */
const ofReadings = [
  'jobs.retrieve/200-identity',
  'jobs.retrieve/200-stable',
  'jobs.retrieve/200-consistent',
  'jobs.retrieve/200-job',
  'jobs.retrieve/200-outcome',
] as const

/**
 * Sees what can be seen only once all jobs are made, and have ended: before the requirements are judged that are about all of them.
 * It comes late enough after their creation to show what takes a few seconds.
 */
export async function readFinalStates(run: Run): Promise<void> {
  const history = historyOf(run)
  const { depth } = run.options
  const [first] = ownJobs(history)
  await Promise.allSettled(ownJobs(history).map(({ id }) => awaitEnd(run, id)))
  if (isPlanned(run, 'jobs.retrieve/200-created-at')) await createLater(run).catch(() => undefined)
  if (!ofReadings.some((id) => isPlanned(run, id)) || cannotBeRead(run)) return
  const { job: declared } = run.target.resources
  const from = depth === 'full' ? first?.creation : first && jobOf(history, first.id)?.end
  const before = declared === undefined ? undefined : history.of(declared).find(hasEnded)
  const since = Math.max(
    from?.endedAt ?? 0,
    (before?.endedAt ?? -Infinity) - againMs[depth] + againMs.quick,
  )
  await pause(run, Math.max(0, since + againMs[depth] - performance.now()))
  await Promise.allSettled([
    ...jobsToReadAgain(run).map((job) => readAgain(run, job)),
    ...(before && declared !== undefined ? [read(run, declared, ids.stable)] : []),
  ])
}
