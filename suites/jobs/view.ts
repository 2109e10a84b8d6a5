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
 * A history read as applications: the creations on each, the jobs that these made, when a job was in progress, and what was in
 * progress beside a creation. All rules about jobs are made of that.
 *
 * The way of a probe about a job: a row of `jobs.suite.ts` is judged `byRule`, which lets `drive.ts` or `follow.ts` reach the state
 * that its rule speaks of, once a run. They hold an application at its gate (`gate.ts`), and create, read and wait by it. A hook
 * appends what came of it to the history, whoever sent it. The rules, listed in `rules.ts`, say of the history whether a
 * requirement is held, broken or open; a driver goes on while it is open. A recording is judged by the same rules.
 */

/** A creation, and what was in progress meanwhile. */
export interface Attempt {
  readonly creation: HistoryEvent
  readonly application: Application
  /** Jobs of its application that may have been in progress at some moment of it. */
  readonly met: readonly Job[]
  /** Those of them that were in progress all the while, beyond doubt, and those of other applications that were. */
  readonly beside: readonly Job[]
  readonly elsewhere: readonly Job[]
  /**
   * Since when every known job of its application had ended, if it should be granted; -Infinity if there was none, undefined if
   * one had not been seen to end.
   */
  readonly freeSince: number | undefined
}

/** Applications and jobs of the events that were added. */
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
    /** Those on which creations were sent, or that were asked for. */
    applications,
    /** In the order in which their creations were answered. */
    jobs,
    applicationOf,
    /** The first job of that id; undefined if the history did not make it. */
    jobOf: (id: string): Job | undefined => byId.get(idKey(id)),
    /** The job that a creation made; undefined if it made none that is known. */
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

/** What is known of applications and jobs: it grows with the history. */
export const viewOf = gathered(createView, (view, event) => view.add(event))

/** The jobs that readings are judged of; what a wrong key was granted may belong to nobody. */
export const ownJobs = (history: History): Job[] =>
  viewOf(history).jobs.filter(
    ({ creation: { exchange } }) => history.isRecorded || exchange.probe.credential.full,
  )

/** Every creation, by its application, in the order in which they were sent. */
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

/** So many jobs may go on at once at most: in a long recording nobody looks at more. */
const mostAtOnce = 16

/** For each creation, the jobs whose span it meets, but for its own: one sweep over time, whatever the length of the history. */
function meeting(
  creations: readonly HistoryEvent[],
  jobs: readonly Job[],
  spanOf: (job: Job) => Span | undefined,
  meets: (creation: HistoryEvent, span: Span) => boolean,
): Map<HistoryEvent, Job[]> {
  const spans = jobs
    .flatMap((job) => {
      const span = spanOf(job)
      // Without a time it is neither before nor after another.
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

/** For each creation on an application that was free of known jobs, since when it was. */
function freeTimes({ jobs, creations }: Application): Map<HistoryEvent, number> {
  const times = new Map<HistoryEvent, number>()
  // Of a job whose id another one has, no reading tells when it ends, unless that is the very same answer once more.
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

/** Whether a request was on its way and answered within the span. */
const isWithin = ({ sentAt, endedAt }: HistoryEvent, { from, to }: Span): boolean =>
  sentAt > from && endedAt <= to

const overlaps = ({ sentAt, endedAt }: HistoryEvent, { from, to }: Span): boolean =>
  sentAt <= to && endedAt >= from

/** Whether neither of two creations on one application was sent after the other had been answered. */
export const wereTogether = (one: HistoryEvent, other: HistoryEvent): boolean =>
  one !== other && overlaps(one, { from: other.sentAt, to: other.endedAt })

/** Whether a creation on the application got no answer: it may have started a job that nobody knows of. */
export function lostBefore({ creations }: Application, at: number): boolean {
  const before = creations.filter(({ sentAt }) => sentAt < at)
  const lost = before.findLastIndex((one) => one.status === undefined && isAsked(one))
  return lost >= 0 && !before.slice(lost).some(({ isGranted }) => isGranted)
}

/** Whether no job on another application may have been in progress meanwhile. */
export const isAlone = (history: History, creation: HistoryEvent): boolean =>
  viewOf(history).jobs.every(
    (job) => sameId(job.application.id, creation.within ?? '') || !overlaps(creation, job.possible),
  )
