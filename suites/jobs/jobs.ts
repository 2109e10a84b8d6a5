import {
  gathered,
  type History,
  type HistoryEvent,
  idKey,
  sameId,
} from '../../harness/history/index.ts'
import { member } from '../../schemas/json.ts'

/**
 * The way of a probe about a job:
 *
 * 1. A row of `jobs.suite.ts` is judged `byRule`; `judge.ts` knows the state that its rule speaks of, and reaches it once a run.
 * 2. `drive.ts` brings conflicts about, `refuse.ts` refusals, `follow.ts` the whole lives of jobs.
 * 3. Each holds an application at its gate (`application.ts`), and creates, reads and waits by `requests.ts`.
 * 4. The client sends; a hook appends what came of it to the history, whoever sent it.
 * 5. This file reads the history as applications: the creations on each, the jobs that these made, and their readings;
 *    `spans.ts` when a job was in progress, and an application free.
 * 6. The rules, listed in `rules.ts`, say of that whether a requirement is held, broken or open. A driver goes on while it is open.
 * 7. When all is sent, `judge.ts` makes outcomes of it. A recording is judged by the same rules.
 */

/** An application on which creations were sent. */
export interface Application {
  readonly id: string
  /** When the history itself made it, in ms: nobody else uses it. */
  readonly madeAt: number | undefined
  /** In the order in which they were sent. */
  readonly creations: readonly HistoryEvent[]
  /** Those that granted creations made, in the order in which these were answered. */
  readonly jobs: readonly Job[]
}

/** A job with all that was read under its id, in order. */
export interface Job {
  readonly id: string
  readonly application: Application
  readonly creation: HistoryEvent
  /** Answers that were no job among them. */
  readonly readings: readonly HistoryEvent[]
  /** The first creation that gave its id, if this one is another. */
  readonly twinOf: HistoryEvent | undefined
}

/** With the key that may read it. */
export const isReading = ({ kind, operation, request }: HistoryEvent): boolean =>
  kind === 'reading' && operation === 'jobs.retrieve' && request !== 'faulty'

/** Applications and jobs of the events that were added. */
function createIndex() {
  const applications = new Map<string, Application & { creations: HistoryEvent[]; jobs: Job[] }>()
  const jobs: (Job & { readings: HistoryEvent[] })[] = []
  const byId = new Map<string, (typeof jobs)[number]>()
  const byCreation = new Map<HistoryEvent, Job>()
  const madeAt = new Map<string, number>()
  const applicationOf = (id: string) => {
    const key = idKey(id)
    const application = applications.get(key) ?? {
      id,
      creations: [],
      jobs: [],
      get madeAt() {
        return madeAt.get(key)
      },
    }
    applications.set(key, application)
    return application
  }
  const addCreation = (event: HistoryEvent): void => {
    const { object: id, within, sentAt } = event
    const application = applicationOf(within ?? '')
    const { creations } = application
    creations.splice(creations.findLastIndex((one) => one.sentAt <= sentAt) + 1, 0, event)
    if (id === undefined || within === undefined) return
    const twin = byId.get(idKey(id))
    const job = { id, application, creation: event, readings: [], twinOf: twin?.creation }
    application.jobs.push(job)
    jobs.push(job)
    byCreation.set(event, job)
    if (!twin) byId.set(idKey(id), job)
  }
  return {
    applications,
    jobs,
    byId,
    byCreation,
    add(event: HistoryEvent): void {
      const { operation, object, isGranted, endedAt } = event
      if (operation === 'jobs.create') return addCreation(event)
      const key = idKey(object ?? '')
      if (isReading(event)) byId.get(key)?.readings.push(event)
      if (operation === 'applications.create' && isGranted && !madeAt.has(key))
        madeAt.set(key, endedAt)
    },
  }
}

/** The index of a history, which grows with it. */
const indexOf = gathered(createIndex, (index, event) => index.add(event))

export const applicationsIn = (history: History): Application[] => [
  ...indexOf(history).applications.values(),
]

/** In the order in which their creations were answered. */
export const jobsIn = (history: History): readonly Job[] => indexOf(history).jobs

/** The jobs of the history that readings are judged of; what a wrong key was granted may belong to nobody. */
export const ownJobs = (history: History): Job[] =>
  jobsIn(history).filter(
    ({ creation: { exchange } }) => history.isRecorded || exchange.probe.credential.full,
  )

/** The first job of that id; undefined if the history did not make it. */
export const jobOf = (history: History, id: string): Job | undefined =>
  indexOf(history).byId.get(idKey(id))

/** Undefined if no creation was sent there. */
export const applicationOf = (history: History, id: string): Application | undefined =>
  indexOf(history).applications.get(idKey(id))

export const jobsOn = (history: History, application: string): readonly Job[] =>
  applicationOf(history, application)?.jobs ?? []

/** The job that a creation made; undefined if it made none that is known. */
export const madeBy = (history: History, creation: HistoryEvent): Job | undefined =>
  indexOf(history).byCreation.get(creation)

// What an event shows

export const isConflict = ({ status }: HistoryEvent): boolean => status === 409
/** To be granted on a free application, or by somebody of whom nobody knows what was meant. */
export const isAsked = ({ request }: HistoryEvent): boolean => request !== 'faulty'
export const isOdd = ({ request }: HistoryEvent): boolean => request === 'odd'
/** Unknown, or no longer there. */
export const isGone = ({ status }: HistoryEvent): boolean => status === 404 || status === 410

/** The status that a reading shows; undefined if it is no job. */
export function statusOf({ isGranted, status, body }: HistoryEvent): string | undefined {
  const told = isGranted && status === 200 ? member(body, 'status') : undefined
  return typeof told === 'string' ? told : undefined
}

export const isRead = (reading: HistoryEvent): boolean => statusOf(reading) !== undefined

/** Any status but `in_progress` ends the waiting: one outside the enum is a fault of the job, and not waited for. */
export const isEnded = (reading: HistoryEvent): boolean =>
  isRead(reading) && statusOf(reading) !== 'in_progress'

/** A status that the spec does not know may be one of a job that goes on. */
export const hasEnded = (reading: HistoryEvent): boolean =>
  ['completed', 'failed'].includes(statusOf(reading) ?? '')

/** Whether what was read under the id of a job may be that job: one that names another id is none. */
export function isOwn({ body }: HistoryEvent, { id }: Pick<Job, 'id'>): boolean {
  const own = member(body, 'id')
  return typeof own !== 'string' || sameId(own, id)
}

export const createdAt = ({ body }: HistoryEvent): unknown => member(body, 'created_at')

/** Whether a reading of one job shows another, newer one of its application: that has the time of the newer one. */
export function showsAnother(job: Job, reading: HistoryEvent): boolean {
  const shown = createdAt(reading)
  if (!isOwn(reading, job)) return true
  if (createdAt(job.creation) === shown) return false
  return job.application.jobs.some((other) => other !== job && createdAt(other.creation) === shown)
}
