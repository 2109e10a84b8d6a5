import { type HistoryEvent, sameId } from '../../harness/journal/index.ts'
import { member } from '../../schemas/json.ts'

/** A time in which a state held, in ms. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** An application on which creations were sent. */
export class Application {
  readonly id: string
  /** When the history itself made it, in ms: nobody else uses it. */
  readonly madeAt: number | undefined
  /** In the order in which they were sent. */
  readonly creations: HistoryEvent[] = []
  /** Those that granted creations made, in the order in which these were answered. */
  readonly jobs: Job[] = []
  /** What their creations gave as `created_at`. */
  readonly times = new Set<unknown>()

  constructor(id: string, madeAt: number | undefined) {
    this.id = id
    this.madeAt = madeAt
  }
}

/** A job with all that was read under its id. */
export class Job {
  readonly id: string
  readonly application: Application
  readonly creation: HistoryEvent
  /** The first creation that gave its id, if this one is another. */
  readonly twinOf: HistoryEvent | undefined
  /** In order, answers that were no job among them. */
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

  /** Readings that showed that very job in progress, before any showed its end. */
  get inProgress(): HistoryEvent[] {
    const end = this.end?.sentAt ?? Infinity
    return this.readings.filter(
      (one) => statusOf(one) === 'in_progress' && one.sentAt < end && !this.#showsAnother(one),
    )
  }

  /** When it was in progress beyond doubt: from the answer to its creation until a later reading that still showed it so. */
  get busy(): Span | undefined {
    const last = this.inProgress.at(-1)
    return last && { from: this.creation.endedAt, to: last.sentAt }
  }

  /** When it may have been in progress. */
  get possible(): Span {
    return { from: this.creation.sentAt, to: this.end?.endedAt ?? Infinity }
  }

  /** True if nobody has to wait for it: a status outside the enum is a fault, and not waited for. */
  get isOver(): boolean {
    return this.twinOf !== undefined || this.readings.some(isEnded)
  }

  /** Whether a reading shows another, newer job of the application: that has the time of the newer one. */
  #showsAnother(reading: HistoryEvent): boolean {
    const shown = createdAt(reading)
    const isTimeOfAnother = createdAt(this.creation) !== shown && this.application.times.has(shown)
    return !isOwn(reading, this) || isTimeOfAnother
  }
}

// What an event shows

/** With the key that may read it. */
export const isReading = ({ kind, operation, request }: HistoryEvent): boolean =>
  kind === 'reading' && operation === 'jobs.retrieve' && request !== 'faulty'

/** To be granted on a free application, or by somebody of whom nobody knows what was meant. */
export const isAsked = ({ request }: HistoryEvent): boolean => request !== 'faulty'

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
