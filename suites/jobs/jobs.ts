import {
  derived,
  type History,
  type HistoryEvent,
  idKey,
  sameId,
} from '../../harness/history/index.ts'
import { member } from '../../schemas/json.ts'

/** A job with all that was read under its id, in order. */
export interface Job {
  readonly id: string
  readonly application: string
  readonly creation: HistoryEvent
  /** Answers that were no job among them. */
  readonly readings: readonly HistoryEvent[]
  /** The first creation that gave its id, if this one is another. */
  readonly twinOf?: HistoryEvent
}

/** A time in which a state held beyond doubt, in ms. */
export interface Span {
  readonly from: number
  readonly to: number
}

const createdAt = ({ body }: HistoryEvent): unknown => member(body, 'created_at')
export const isConflict = ({ status }: HistoryEvent): boolean => status === 409
/** To be granted on a free application, or by somebody of whom nobody knows what was meant. */
export const isAsked = ({ request }: HistoryEvent): boolean => request !== 'faulty'
export const isOdd = ({ request }: HistoryEvent): boolean => request === 'odd'

const isCreation = ({ operation }: HistoryEvent): boolean => operation === 'jobs.create'

/** The applications on which creations were sent, by the id that was sent first. */
export const applicationsIn = derived((history): string[] => {
  const ids = history.events.filter(isCreation).map(({ within }) => within ?? '')
  return [...new Map(ids.map((id) => [idKey(id), id])).values()]
})

/** The creations on an application, in the order in which they were sent. */
const creationsBy = derived((history) => {
  const known = new Map<string, HistoryEvent[]>()
  for (const id of applicationsIn(history)) {
    const own = history.within(id).filter(isCreation)
    known.set(
      idKey(id),
      own.sort((one, other) => one.sentAt - other.sentAt),
    )
  }
  return known
})

export const creationsOn = (history: History, application: string): readonly HistoryEvent[] =>
  creationsBy(history).get(idKey(application)) ?? []

/** With the key that may read it. */
export const isReading = ({ kind, operation, request }: HistoryEvent): boolean =>
  kind === 'reading' && operation === 'jobs.retrieve' && request !== 'faulty'

/** The jobs that granted creations made, in the order in which these were answered. */
export const jobsIn = derived((history): Job[] => {
  const first = new Map<string, HistoryEvent>()
  return history.events.flatMap((event): Job[] => {
    const { object: id, within: application } = event
    if (!isCreation(event) || id === undefined || application === undefined) return []
    const twinOf = first.get(idKey(id))
    if (twinOf) return [{ id, application, creation: event, readings: [], twinOf }]
    first.set(idKey(id), event)
    const about = history.of(id)
    const later = about.slice(about.indexOf(event)).filter(isReading)
    return [{ id, application, creation: event, readings: later }]
  })
})

/** The jobs of the history that readings are judged of; what a wrong key was granted may belong to nobody. */
export const ownJobs = derived((history) =>
  jobsIn(history).filter(
    ({ creation: { exchange } }) => history.isRecorded || exchange.probe.credential.full,
  ),
)

const jobsById = derived(
  (history) =>
    new Map(jobsIn(history).flatMap((job) => (job.twinOf ? [] : [[idKey(job.id), job] as const]))),
)

/** The job of that id; undefined if the history did not make it. */
export const jobOf = (history: History, id: string): Job | undefined =>
  jobsById(history).get(idKey(id))

const jobsBy = derived((history) => {
  const known = new Map<string, Job[]>()
  for (const job of jobsIn(history)) {
    const key = idKey(job.application)
    known.set(key, [...(known.get(key) ?? []), job])
  }
  return known
})

export const jobsOn = (history: History, application: string): readonly Job[] =>
  jobsBy(history).get(idKey(application)) ?? []

/** The job that a creation made; undefined if it made none that is known. */
export const madeBy = (history: History, creation: HistoryEvent): Job | undefined =>
  creation.within === undefined
    ? undefined
    : jobsOn(history, creation.within).find((job) => job.creation === creation)

/** When the history itself made the application, in ms: nobody else uses it. */
export function madeAt(history: History, application: string): number | undefined {
  return history
    .of(application)
    .find(({ operation, isGranted }) => operation === 'applications.create' && isGranted)?.endedAt
}

/** The status that a reading shows; undefined if it is no job. */
export function statusOf({ isGranted, status, body }: HistoryEvent): string | undefined {
  const told = isGranted && status === 200 ? member(body, 'status') : undefined
  return typeof told === 'string' ? told : undefined
}

/** Any status but `in_progress` ends the waiting: one outside the enum is a fault of the job, and not waited for. */
export function isEnded(reading: HistoryEvent | undefined): boolean {
  const status = reading && statusOf(reading)
  return status !== undefined && status !== 'in_progress'
}

/** Whether what was read under the id of a job may be that job: one that names another id is none. */
export function isOwn({ body }: HistoryEvent, { id }: Pick<Job, 'id'>): boolean {
  const own = member(body, 'id')
  return typeof own !== 'string' || sameId(own, id)
}

/** Whether a reading of one job shows another, newer one of its application: that has the time of the newer one. */
function showsAnother(history: History, job: Job, reading: HistoryEvent): boolean {
  const shown = createdAt(reading)
  if (!isOwn(reading, job)) return true
  if (createdAt(job.creation) === shown) return false
  return jobsOn(history, job.application).some(
    (other) => other !== job && createdAt(other.creation) === shown,
  )
}

/** A status that the spec does not know may be one of a job that goes on. */
export const hasEnded = (reading: HistoryEvent): boolean =>
  ['completed', 'failed'].includes(statusOf(reading) ?? '')

/** Unknown, or no longer there. */
export const isGone = ({ status }: HistoryEvent): boolean => status === 404 || status === 410

/** The first reading that showed the end of the job. */
export function endOf(job: Job): HistoryEvent | undefined {
  return job.readings.find((reading) => hasEnded(reading) && isOwn(reading, job))
}

/** Readings that showed that very job in progress, before any showed its end. */
export function readingsInProgress(history: History, job: Job): HistoryEvent[] {
  const end = endOf(job)?.sentAt ?? Infinity
  return job.readings.filter(
    (reading) =>
      statusOf(reading) === 'in_progress' &&
      reading.sentAt < end &&
      !showsAnother(history, job, reading),
  )
}

/** When the job was in progress beyond doubt: from the answer to its creation until a later reading that still showed it so. */
export function busySpan(history: History, job: Job): Span | undefined {
  const last = readingsInProgress(history, job).at(-1)
  return last && { from: job.creation.endedAt, to: last.sentAt }
}

/** When the job may have been in progress. */
export function possibleSpan(job: Job): Span {
  return { from: job.creation.sentAt, to: endOf(job)?.endedAt ?? Infinity }
}

/** Whether a request was on its way and answered within the span. */
export const isWithin = ({ sentAt, endedAt }: HistoryEvent, { from, to }: Span): boolean =>
  sentAt > from && endedAt <= to

export const overlaps = ({ sentAt, endedAt }: HistoryEvent, { from, to }: Span): boolean =>
  sentAt <= to && endedAt >= from

/** Whether neither of two creations on one application was sent after the other had been answered. */
export const wereTogether = (one: HistoryEvent, other: HistoryEvent): boolean =>
  one !== other && overlaps(one, { from: other.sentAt, to: other.endedAt })

/** So many jobs may go on at once at most: in a long recording nobody looks at more. */
const mostAtOnce = 16

/** For each creation, the jobs whose span it meets: one sweep over time, whatever the length of the history. */
export function meeting(
  creations: readonly HistoryEvent[],
  jobs: readonly Job[],
  spanOf: (job: Job) => Span | undefined,
  meets: (creation: HistoryEvent, span: Span) => boolean,
): { readonly creation: HistoryEvent; readonly job: Job; readonly span: Span }[] {
  const spans = jobs
    .flatMap((job) => {
      const span = spanOf(job)
      return span ? [{ job, span }] : []
    })
    .sort((one, other) => one.span.from - other.span.from)
  let next = 0
  let active: typeof spans = []
  return creations.flatMap((creation) => {
    for (; next < spans.length && spans[next]!.span.from <= creation.endedAt; next++)
      active.push(spans[next]!)
    active = active.filter(({ span }) => span.to >= creation.sentAt).slice(-mostAtOnce)
    return active.flatMap(({ job, span }) =>
      job.creation !== creation && meets(creation, span) ? [{ creation, job, span }] : [],
    )
  })
}

/** For each creation, since when the application was free; one sweep over time. */
const freeTimes = derived((history) => {
  const times = new Map<HistoryEvent, number>()
  for (const application of applicationsIn(history)) {
    // Of a job whose id another one has, no reading tells when it ends, unless that is the very same answer once more.
    const jobs = jobsOn(history, application)
      .filter(({ twinOf, creation }) => !twinOf || createdAt(twinOf) !== createdAt(creation))
      .sort((one, other) => one.creation.sentAt - other.creation.sentAt)
    let next = 0
    let latest = -Infinity
    for (const creation of creationsOn(history, application)) {
      for (; next < jobs.length && jobs[next]!.creation.sentAt < creation.sentAt; next++)
        latest = Math.max(latest, endOf(jobs[next]!)?.endedAt ?? Infinity)
      if (latest <= creation.sentAt) times.set(creation, latest)
    }
  }
  return times
})

/**
 * Since when every known job of its application had ended when a creation was sent; -Infinity if there was none, undefined if
 * one had not been seen to end.
 */
export const freeSince = (history: History, creation: HistoryEvent): number | undefined =>
  freeTimes(history).get(creation)

/** Whether a creation on the application got no answer: it may have started a job that nobody knows of. */
export function lostBefore(history: History, application: string, at: number): boolean {
  const before = creationsOn(history, application).filter(({ sentAt }) => sentAt < at)
  const lost = before.findLastIndex(
    ({ status, request }) => status === undefined && request !== 'faulty',
  )
  return lost >= 0 && !before.slice(lost).some(({ isGranted }) => isGranted)
}

/** Whether no job on another application may have been in progress meanwhile. */
export function isAlone(history: History, creation: HistoryEvent): boolean {
  return jobsIn(history).every(
    (job) =>
      sameId(job.application, creation.within ?? '') || !overlaps(creation, possibleSpan(job)),
  )
}
