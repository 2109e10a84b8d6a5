import { derived, type History, type HistoryEvent, sameId } from '../../harness/history/index.ts'
import {
  type Application,
  applicationsIn,
  createdAt,
  hasEnded,
  isAsked,
  isOwn,
  type Job,
  jobsIn,
  showsAnother,
  statusOf,
} from './jobs.ts'

/** A time in which a state held beyond doubt, in ms. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** The first reading that showed the end of the job. */
export const endOf = (job: Job): HistoryEvent | undefined =>
  job.readings.find((reading) => hasEnded(reading) && isOwn(reading, job))

/** Readings that showed that very job in progress, before any showed its end. */
export function readingsInProgress(job: Job): HistoryEvent[] {
  const end = endOf(job)?.sentAt ?? Infinity
  return job.readings.filter(
    (reading) =>
      statusOf(reading) === 'in_progress' && reading.sentAt < end && !showsAnother(job, reading),
  )
}

/** When the job was in progress beyond doubt: from the answer to its creation until a later reading that still showed it so. */
export function busySpan(job: Job): Span | undefined {
  const last = readingsInProgress(job).at(-1)
  return last && { from: job.creation.endedAt, to: last.sentAt }
}

/** When the job may have been in progress. */
export const possibleSpan = (job: Job): Span => ({
  from: job.creation.sentAt,
  to: endOf(job)?.endedAt ?? Infinity,
})

/** When its creation was under way. */
export const creationSpan = ({ creation }: Job): Span => ({
  from: creation.sentAt,
  to: creation.endedAt,
})

/** Whether a request was on its way and answered within the span. */
export const isWithin = ({ sentAt, endedAt }: HistoryEvent, { from, to }: Span): boolean =>
  sentAt > from && endedAt <= to

export const overlaps = ({ sentAt, endedAt }: HistoryEvent, { from, to }: Span): boolean =>
  sentAt <= to && endedAt >= from

/** Whether neither of two creations on one application was sent after the other had been answered. */
export const wereTogether = (one: HistoryEvent, other: HistoryEvent): boolean =>
  one !== other && overlaps(one, { from: other.sentAt, to: other.endedAt })

/** A creation, and a job in whose span it came. */
export interface Beside {
  readonly creation: HistoryEvent
  readonly job: Job
}

/** So many jobs may go on at once at most: in a long recording nobody looks at more. */
const mostAtOnce = 16

/** For each creation, the jobs whose span it meets: one sweep over time, whatever the length of the history. */
export function meeting(
  creations: readonly HistoryEvent[],
  jobs: readonly Job[],
  spanOf: (job: Job) => Span | undefined,
  meets = overlaps,
): Beside[] {
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
      job.creation !== creation && meets(creation, span) ? [{ creation, job }] : [],
    )
  })
}

/** For each creation, since when the application was free; one sweep over time. */
const freeTimes = derived((history) => {
  const times = new Map<HistoryEvent, number>()
  for (const { jobs, creations } of applicationsIn(history)) {
    // Of a job whose id another one has, no reading tells when it ends, unless that is the very same answer once more.
    const known = jobs
      .filter(({ twinOf, creation }) => !twinOf || createdAt(twinOf) !== createdAt(creation))
      .sort((one, other) => one.creation.sentAt - other.creation.sentAt)
    let next = 0
    let latest = -Infinity
    for (const creation of creations) {
      for (; next < known.length && known[next]!.creation.sentAt < creation.sentAt; next++)
        latest = Math.max(latest, endOf(known[next]!)?.endedAt ?? Infinity)
      if (latest <= creation.sentAt) times.set(creation, latest)
    }
  }
  return times
})

/**
 * Since when every known job of its application had ended when a creation was sent that should be granted; -Infinity if there was
 * none, undefined if one had not been seen to end.
 */
export const freeSince = (history: History, creation: HistoryEvent): number | undefined =>
  isAsked(creation) ? freeTimes(history).get(creation) : undefined

/** Whether a creation on the application got no answer: it may have started a job that nobody knows of. */
export function lostBefore({ creations }: Application, at: number): boolean {
  const before = creations.filter(({ sentAt }) => sentAt < at)
  const lost = before.findLastIndex((one) => one.status === undefined && isAsked(one))
  return lost >= 0 && !before.slice(lost).some(({ isGranted }) => isGranted)
}

/** Whether no job on another application may have been in progress meanwhile. */
export const isAlone = (history: History, creation: HistoryEvent): boolean =>
  jobsIn(history).every(
    (job) =>
      sameId(job.application.id, creation.within ?? '') || !overlaps(creation, possibleSpan(job)),
  )
