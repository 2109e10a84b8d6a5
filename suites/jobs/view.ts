import {
  derived,
  gathered,
  type History,
  type HistoryEvent,
  idKey,
  sameId,
} from '../../harness/journal/index.ts'
import { member } from '../../schemas/json.ts'

export interface Span {
  readonly from: number
  readonly to: number
}

export class Application {
  readonly id: string
  /** When the history made it, in ms: nobody else uses it. */
  readonly madeAt: number | undefined
  readonly creations: HistoryEvent[] = []
  readonly jobs: Job[] = []
  /** `created_at` in the answers to creations. */
  readonly times = new Set<unknown>()

  constructor(id: string, madeAt: number | undefined) {
    this.id = id
    this.madeAt = madeAt
  }
}

export class Job {
  readonly id: string
  readonly application: Application
  readonly creation: HistoryEvent
  /** The first creation that returned the id, if not this one. */
  readonly twinOf: HistoryEvent | undefined
  /** In order, including answers other than a job. */
  readonly readings: HistoryEvent[] = []
  /** The first reading that showed its end. */
  end: HistoryEvent | undefined
  /** True if waiting is pointless, including a status outside the enum, which is a fault. */
  isOver: boolean

  constructor(id: string, application: Application, creation: HistoryEvent, twin?: Job) {
    this.id = id
    this.application = application
    this.creation = creation
    this.twinOf = twin?.creation
    this.isOver = twin !== undefined
  }

  addReading(reading: HistoryEvent): void {
    this.readings.push(reading)
    this.isOver ||= isEnded(reading)
    if (hasEnded(reading) && isOwn(reading, this)) this.end ??= reading
  }

  /** Readings that showed that very job in progress, before its end. */
  get inProgress(): HistoryEvent[] {
    const end = this.end?.sentAt ?? Infinity
    return this.readings.filter(
      (one) => statusOf(one) === 'in_progress' && one.sentAt < end && !this.#showsAnother(one),
    )
  }

  /** When it was certainly in progress: from the answer to its creation until the last reading that showed it so. */
  get busy(): Span | undefined {
    const last = this.inProgress.at(-1)
    return last && { from: this.creation.endedAt, to: last.sentAt }
  }

  get possible(): Span {
    return { from: this.creation.sentAt, to: this.end?.endedAt ?? Infinity }
  }

  /** Whether a reading shows a newer job of the application, by its time. */
  #showsAnother(reading: HistoryEvent): boolean {
    const shown = createdAt(reading)
    const isTimeOfAnother = createdAt(this.creation) !== shown && this.application.times.has(shown)
    return !isOwn(reading, this) || isTimeOfAnother
  }
}

/** With a key that may read it. */
export const isReading = ({ kind, operation, request }: HistoryEvent): boolean =>
  kind === 'reading' && operation === 'jobs.retrieve' && request !== 'faulty'

/** Expected to be accepted on a free application, or of unknown intention. */
export const isAsked = ({ request }: HistoryEvent): boolean => request !== 'faulty'

export const isGone = ({ status }: HistoryEvent): boolean => status === 404 || status === 410

/** The status in a reading, if it is a job. */
export function statusOf({ isGranted, status, body }: HistoryEvent): string | undefined {
  const told = isGranted && status === 200 ? member(body, 'status') : undefined
  return typeof told === 'string' ? told : undefined
}

export const isRead = (reading: HistoryEvent): boolean => statusOf(reading) !== undefined

/** Any status but `in_progress` ends the wait, including one outside the enum. */
export const isEnded = (reading: HistoryEvent): boolean =>
  isRead(reading) && statusOf(reading) !== 'in_progress'

/** An unknown status may belong to a job that continues. */
export const hasEnded = (reading: HistoryEvent): boolean =>
  ['completed', 'failed'].includes(statusOf(reading) ?? '')

/** Whether a reading may be of that job: one with another id is not. */
export function isOwn({ body }: HistoryEvent, { id }: Pick<Job, 'id'>): boolean {
  const own = member(body, 'id')
  return typeof own !== 'string' || sameId(own, id)
}

export const createdAt = ({ body }: HistoryEvent): unknown => member(body, 'created_at')

/**
 * A history as applications: the creations on each, their jobs, when a job was in progress, and what was in progress
 * beside a creation. All rules about jobs use this view. While a rule is open, `drive.ts` sends what it needs.
 */

export interface Attempt {
  readonly creation: HistoryEvent
  readonly application: Application
  /** Jobs of its application that may have been in progress at some moment. */
  readonly met: readonly Job[]
  /** Those that were certainly in progress all the while, and those of other applications. */
  readonly beside: readonly Job[]
  readonly elsewhere: readonly Job[]
  /**
   * Time at which the last known job of its application had ended, so that the creation should be accepted: -Infinity if
   * there was no job, undefined if the end of one was not seen.
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
    jobOf: (id: string): Job | undefined => byId.get(idKey(id)),
    madeBy: (creation: HistoryEvent): Job | undefined => byCreation.get(creation),
    add(event: HistoryEvent): void {
      const { operation, object = '', isGranted, endedAt } = event
      const key = idKey(object)
      if (operation === 'jobs.create') addCreation(event)
      else if (isReading(event)) byId.get(key)?.addReading(event)
      else if (operation === 'applications.create' && isGranted && !madeAt.has(key))
        madeAt.set(key, endedAt)
    },
  }
}

export const viewOf = gathered(createView, (view, event) => view.add(event))

/** Jobs whose readings are judged; one created with a wrong key may belong to nobody. */
export const ownJobs = (history: History): Job[] =>
  viewOf(history).jobs.filter(
    ({ creation: { exchange } }) => history.isRecorded || exchange.probe.credential.full,
  )

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

export const wereTogether = (one: HistoryEvent, other: HistoryEvent): boolean =>
  one !== other && overlaps(one, { from: other.sentAt, to: other.endedAt })

/** Whether a creation on the application got no answer: it may have started an unknown job. */
export function lostBefore({ creations }: Application, at: number): boolean {
  const before = creations.filter(({ sentAt }) => sentAt < at)
  const lost = before.findLastIndex((one) => one.status === undefined && isAsked(one))
  return lost >= 0 && !before.slice(lost).some(({ isGranted }) => isGranted)
}

export const isAlone = (history: History, creation: HistoryEvent): boolean =>
  viewOf(history).jobs.every(
    (job) => sameId(job.application.id, creation.within ?? '') || !overlaps(creation, job.possible),
  )
