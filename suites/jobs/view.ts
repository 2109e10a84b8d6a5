import {
  derived,
  gathered,
  type History,
  type HistoryEvent,
  idKey,
  sameId,
} from '../../harness/journal/index.ts'
import { Application, createdAt, isAsked, isReading, Job, type Span } from './job.ts'

/**
 * A history as applications: the creations on each, their jobs, when a job was in progress, and what was in progress
 * beside a creation. All rules about jobs use this view. While a rule is open, `drive.ts` sends what it needs.
 */

/** A creation, and the jobs in progress meanwhile. */
export interface Attempt {
  readonly creation: HistoryEvent
  readonly application: Application
  /** Jobs of its application that may have been in progress at some moment. */
  readonly met: readonly Job[]
  /** Those that were certainly in progress all the while, and those of other applications. */
  readonly beside: readonly Job[]
  readonly elsewhere: readonly Job[]
  /**
   * Since when every known job of its application had ended, if it should be accepted; -Infinity without any, undefined
   * if one was not seen to end.
   */
  readonly freeSince: number | undefined
}

function createView() {
  const applications: Application[] = []
  const jobs: Job[] = []
  const byApplication = new Map<string, Application>()
  const byId = new Map<string, Job>()
  const byCreation = new Map<HistoryEvent, Job>()
  const madeAt = new Map<string, number>()
  const applicationOf = (id: string): Application => {
    const key = idKey(id)
    const known = byApplication.get(key)
    if (known) return known
    const application = new Application(id, madeAt.get(key))
    byApplication.set(key, application)
    applications.push(application)
    return application
  }
  const addCreation = (event: HistoryEvent): void => {
    const { object: id, within = '', sentAt } = event
    const application = applicationOf(within)
    const { creations } = application
    creations.splice(creations.findLastIndex((one) => one.sentAt <= sentAt) + 1, 0, event)
    if (id === undefined || within === '') return
    const job = new Job(id, application, event, byId.get(idKey(id)))
    application.jobs.push(job)
    application.times.add(createdAt(event))
    jobs.push(job)
    byCreation.set(event, job)
    if (!job.twinOf) byId.set(idKey(id), job)
  }
  return {
    /** With creations, or requested. */
    applications,
    /** In the order of the answers to their creations. */
    jobs,
    applicationOf,
    /** The first job of that id, if the history made it. */
    jobOf: (id: string): Job | undefined => byId.get(idKey(id)),
    /** The job of a creation, if known. */
    madeBy: (creation: HistoryEvent): Job | undefined => byCreation.get(creation),
    add(event: HistoryEvent): void {
      const { operation, object = '', isGranted, endedAt } = event
      const key = idKey(object)
      if (operation === 'jobs.create') addCreation(event)
      else if (isReading(event)) byId.get(key)?.readings.push(event)
      else if (operation === 'applications.create' && isGranted && !madeAt.has(key))
        madeAt.set(key, endedAt)
    },
  }
}

/** Applications and jobs, growing with the history. */
export const viewOf = gathered(createView, (view, event) => view.add(event))

/** Jobs whose readings are judged; one created with a wrong key may belong to nobody. */
export const ownJobs = (history: History): Job[] =>
  viewOf(history).jobs.filter(
    ({ creation: { exchange } }) => history.isRecorded || exchange.probe.credential.full,
  )

/** All creations by application, in order. */
export const attemptsIn = derived((history): Map<Application, Attempt[]> => {
  const { applications, jobs: all } = viewOf(history)
  const timed = applications
    .flatMap(({ creations }) => creations.filter(({ sentAt }) => !Number.isNaN(sentAt)))
    .sort((one, other) => one.sentAt - other.sentAt)
  const busy = meeting(timed, all, (job) => job.busy, isWithin)
  return new Map(
    applications.map((application) => {
      const { id, creations, jobs } = application
      const met = meeting(creations, jobs, (job) => job.possible, overlaps)
      const free = freeTimes(application)
      const attempts = creations.map((creation) => {
        const going = busy.get(creation) ?? []
        return {
          creation,
          application,
          met: met.get(creation) ?? [],
          beside: going.filter((job) => job.application === application),
          elsewhere: going.filter((job) => !sameId(job.application.id, id)),
          freeSince: isAsked(creation) ? free.get(creation) : undefined,
        }
      })
      return [application, attempts]
    }),
  )
})

export const allAttempts = (history: History): Attempt[] => [...attemptsIn(history).values()].flat()

/** Maximum concurrent jobs to consider in a long recording. */
const mostAtOnce = 16

/** For each creation, other jobs whose span overlaps: one sweep over time, whatever the length of the history. */
function meeting(
  creations: readonly HistoryEvent[],
  jobs: readonly Job[],
  spanOf: (job: Job) => Span | undefined,
  meets: (creation: HistoryEvent, span: Span) => boolean,
): Map<HistoryEvent, Job[]> {
  const spans = jobs
    .flatMap((job) => {
      const span = spanOf(job)
      // Without a time it has no order.
      return span && span.from <= span.to ? [{ job, span }] : []
    })
    .sort((one, other) => one.span.from - other.span.from)
  let next = 0
  let active: typeof spans = []
  return new Map(
    creations.map((creation) => {
      for (; next < spans.length && spans[next]!.span.from <= creation.endedAt; next++)
        active.push(spans[next]!)
      active = active.filter(({ span }) => span.to >= creation.sentAt).slice(-mostAtOnce)
      const met = active.filter(
        ({ job, span }) => job.creation !== creation && meets(creation, span),
      )
      return [creation, met.map(({ job }) => job)]
    }),
  )
}

/** For each creation on an application without known jobs, since when. */
function freeTimes({ jobs, creations }: Application): Map<HistoryEvent, number> {
  const times = new Map<HistoryEvent, number>()
  // If another job has the same id, readings do not show the end, unless the answers are identical.
  const known = jobs
    .filter(({ twinOf, creation }) => !twinOf || createdAt(twinOf) !== createdAt(creation))
    .sort((one, other) => one.creation.sentAt - other.creation.sentAt)
  let next = 0
  let latest = -Infinity
  for (const creation of creations) {
    for (; next < known.length && known[next]!.creation.sentAt < creation.sentAt; next++)
      latest = Math.max(latest, known[next]!.end?.endedAt ?? Infinity)
    if (latest <= creation.sentAt) times.set(creation, latest)
  }
  return times
}

const isWithin = ({ sentAt, endedAt }: HistoryEvent, { from, to }: Span): boolean =>
  sentAt > from && endedAt <= to

const overlaps = ({ sentAt, endedAt }: HistoryEvent, { from, to }: Span): boolean =>
  sentAt <= to && endedAt >= from

/** Whether two creations on one application overlapped. */
export const wereTogether = (one: HistoryEvent, other: HistoryEvent): boolean =>
  one !== other && overlaps(one, { from: other.sentAt, to: other.endedAt })

/** Whether a creation on the application got no answer: it may have started an unknown job. */
export function lostBefore({ creations }: Application, at: number): boolean {
  const before = creations.filter(({ sentAt }) => sentAt < at)
  const lost = before.findLastIndex((one) => one.status === undefined && isAsked(one))
  return lost >= 0 && !before.slice(lost).some(({ isGranted }) => isGranted)
}

/** Whether certainly no job on another application was in progress meanwhile. */
export const isAlone = (history: History, creation: HistoryEvent): boolean =>
  viewOf(history).jobs.every(
    (job) => sameId(job.application.id, creation.within ?? '') || !overlaps(creation, job.possible),
  )
