import type { Pairs } from '../../catalogue/answers.ts'
import { requirementById } from '../../catalogue/catalogue.ts'
import {
  derived,
  hasStatusOf,
  type History,
  type HistoryEvent,
  idKey,
  isMeant,
  sameId,
} from '../../harness/journal/index.ts'
import { member } from '../../schemas/json.ts'

export interface Application {
  readonly id: string
  /** When the history made it, in ms: nobody else uses it. */
  madeAt: number | undefined
  readonly creations: HistoryEvent[]
  readonly jobs: Job[]
}

export class Job {
  readonly id: string
  readonly application: Application
  readonly creation: HistoryEvent
  readonly twinOf: HistoryEvent | undefined
  /** In order, including answers other than a job. */
  readonly readings: HistoryEvent[] = []
  end: HistoryEvent | undefined
  /** True if waiting is pointless: a status outside the enum is a fault. */
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
    if (hasEnded(reading) && this.#isOwn(reading)) this.end ??= reading
  }

  get inProgress(): HistoryEvent[] {
    const end = this.end?.sentAt ?? Infinity
    return this.readings.filter(
      (one) => statusOf(one) === 'in_progress' && one.sentAt < end && this.#isOwn(one),
    )
  }

  /** When the last reading was sent that showed it in progress. */
  get busyUntil(): number {
    const last = this.inProgress.at(-1)
    const age = last?.exchange.response?.header('age')
    // The answer of a cache may be so old, in whole seconds (RFC 9111 §5.1).
    const ageMs = age === undefined ? 0 : (Number(age) + 1) * 1000
    return (last?.sentAt ?? -Infinity) - ageMs
  }

  /** Whether it has neither another id nor the time of another job of the application. */
  #isOwn(reading: HistoryEvent): boolean {
    const id = member(reading.body, 'id')
    const hasTimeOf = (one: Job) => createdAt(one.creation) === createdAt(reading)
    if (typeof id === 'string' && !sameId(id, this.id)) return false
    return hasTimeOf(this) || !this.application.jobs.some(hasTimeOf)
  }
}

export const isReading = (event: HistoryEvent): boolean =>
  event.operation === 'jobs.retrieve' && isMeant(event)

export function statusOf({ isGranted, status, body }: HistoryEvent): string | undefined {
  const told = isGranted && status === 200 ? member(body, 'status') : undefined
  return typeof told === 'string' ? told : undefined
}

export const isRead = (reading: HistoryEvent): boolean => statusOf(reading) !== undefined

const ofUnknownJob = requirementById['jobs.retrieve/4xx-unknown-job'].expects as Pairs

/** Answered like an unknown job, as a new one may be for a while. */
export const isUnknown = ({ exchange: { response } }: HistoryEvent): boolean =>
  response !== undefined && hasStatusOf(ofUnknownJob, response)

/** Any status but `in_progress` ends the wait, one outside the enum included. */
export const isEnded = (reading: HistoryEvent): boolean =>
  isRead(reading) && statusOf(reading) !== 'in_progress'

/** An unknown status may belong to a job that continues. */
export const hasEnded = (reading: HistoryEvent): boolean =>
  ['completed', 'failed'].includes(statusOf(reading) ?? '')

export const createdAt = (event: HistoryEvent): unknown => member(event.body, 'created_at')

function createView() {
  const jobs: Job[] = []
  const byApplication = new Map<string, Application>()
  const byId = new Map<string, Job>()
  const applicationOf = (id: string): Application => {
    const known = byApplication.get(idKey(id))
    const application = known ?? { id, madeAt: undefined, creations: [], jobs: [] }
    byApplication.set(idKey(id), application)
    return application
  }
  const addCreation = (event: HistoryEvent): void => {
    const { object: id, within = '', sentAt } = event
    const application = applicationOf(within)
    const { creations } = application
    creations.splice(creations.findLastIndex((one) => one.sentAt <= sentAt) + 1, 0, event)
    if (id === undefined) return
    const job = new Job(id, application, event, byId.get(idKey(id)))
    application.jobs.push(job)
    jobs.push(job)
    if (!job.twinOf) byId.set(idKey(id), job)
  }
  const addReading = (event: HistoryEvent): void => {
    const job = byId.get(idKey(event.object ?? ''))
    // Another key in a recording may be wrong, or of another account.
    if (job?.creation.key === event.key) job?.addReading(event)
  }
  return {
    applications: () => [...byApplication.values()],
    /** In the order of the answers to their creations. */
    jobs,
    applicationOf,
    jobOf: (id: string): Job | undefined => byId.get(idKey(id)),
    madeBy: (creation: HistoryEvent): Job | undefined =>
      jobs.findLast((job) => job.creation === creation),
    add(event: HistoryEvent): void {
      const { operation, object = '', isGranted, endedAt, noise } = event
      if (noise !== undefined) return
      if (operation === 'jobs.create') addCreation(event)
      else if (isReading(event)) addReading(event)
      else if (operation === 'applications.create' && isGranted)
        applicationOf(object).madeAt ??= endedAt
    },
  }
}

const views = new WeakMap<History, ReturnType<typeof createView>>()

/** The applications and jobs in a history; it grows with the history. */
export function viewOf(history: History) {
  const known = views.get(history)
  if (known) return known
  const view = createView()
  views.set(history, view)
  history.follow((event) => view.add(event))
  return view
}

/** Jobs whose readings are judged; one created with a wrong key may belong to nobody. */
export const ownJobs = (history: History): Job[] =>
  viewOf(history).jobs.filter(
    (one) =>
      one.creation.exchange.probe.credential.full && (isMeant(one.creation) || !history.isRecorded),
  )

export interface Attempt {
  readonly creation: HistoryEvent
  readonly application: Application
  /** Jobs of its application, and of others, that may have been in progress at some moment of it. */
  readonly met: readonly Job[]
  readonly elsewhere: readonly Job[]
  /** When the last job of its application had ended: -Infinity without any, undefined if it met one. */
  readonly freeSince: number | undefined
}

/** Whether a job was certainly in progress while a creation took place. */
export const isBeside = ({ sentAt, endedAt }: HistoryEvent, job: Job): boolean =>
  sentAt > job.creation.endedAt &&
  // Cheaper, for the many that had ended.
  endedAt < (job.end?.sentAt ?? Infinity) &&
  endedAt <= job.busyUntil

/** A recording may hold many jobs whose end it does not show. */
const mostAtOnce = 64

export const attemptsIn = derived((history): Attempt[][] => {
  const { applications, jobs } = viewOf(history)
  const attemptsOn = (application: Application): Attempt[] =>
    application.creations.filter(isMeant).map((creation) => {
      const { sentAt, endedAt } = creation
      const all = jobs.filter(
        (job) =>
          job.creation !== creation &&
          job.creation.sentAt <= endedAt &&
          (job.end?.endedAt ?? Infinity) >= sentAt,
      )
      const met = all.filter((job) => job.application === application).slice(-mostAtOnce)
      const elsewhere = all.filter((job) => job.application !== application).slice(-mostAtOnce)
      const last = application.jobs.findLast((job) => job.creation.sentAt < sentAt)
      const freeSince = met.length === 0 ? (last?.end?.endedAt ?? -Infinity) : undefined
      return { creation, application, met, elsewhere, freeSince }
    })
  return applications()
    .map(attemptsOn)
    .filter((attempts) => attempts.length > 0)
})
