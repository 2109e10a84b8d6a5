import { type HistoryEvent, sameId } from '../../harness/journal/index.ts'
import { member } from '../../schemas/json.ts'

/** A time span in ms. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** An application with the creations on it. */
export class Application {
  readonly id: string
  /** When the history made it, in ms: nobody else uses it. */
  readonly madeAt: number | undefined
  readonly creations: HistoryEvent[] = []
  /** Jobs of accepted creations, in the order of the answers. */
  readonly jobs: Job[] = []
  /** `created_at` in the answers to creations. */
  readonly times = new Set<unknown>()

  constructor(id: string, madeAt: number | undefined) {
    this.id = id
    this.madeAt = madeAt
  }
}

/** A job with all readings under its id. */
export class Job {
  readonly id: string
  readonly application: Application
  readonly creation: HistoryEvent
  /** The first creation that returned the id, if not this one. */
  readonly twinOf: HistoryEvent | undefined
  /** In order, including answers other than a job. */
  readonly readings: HistoryEvent[] = []

  constructor(id: string, application: Application, creation: HistoryEvent, twin?: Job) {
    this.id = id
    this.application = application
    this.creation = creation
    this.twinOf = twin?.creation
  }

  /** The first reading that showed its end. */
  get end(): HistoryEvent | undefined {
    return this.readings.find((reading) => hasEnded(reading) && isOwn(reading, this))
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

  /** When it may have been in progress. */
  get possible(): Span {
    return { from: this.creation.sentAt, to: this.end?.endedAt ?? Infinity }
  }

  /** True if waiting is pointless, including a status outside the enum, which is a fault. */
  get isOver(): boolean {
    return this.twinOf !== undefined || this.readings.some(isEnded)
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

/** Unknown, or no longer there. */
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
