import { shapeFinding } from '../../harness/run/index.ts'
import {
  jsonValue,
  derived,
  eachOf,
  type Evidence,
  type History,
  type HistoryEvent,
  idKey,
  isMissing,
  readsTheSame,
  type Rule,
  sameId,
  seconds,
} from '../../harness/journal/index.ts'
import { groupBy } from '../../harness/group-by.ts'
import { member, preview, previews } from '../../schemas/json.ts'
import { hasEnded, isRead, isReading, isUnknown, Job, ownJobs, statusOf, viewOf } from './view.ts'
import { parseDateTime } from '../../schemas/formats.ts'

/** A reading of a job of the run, or of a declared one, which has no creation. */
interface Reading {
  readonly job: Job | undefined
  readonly reading: HistoryEvent
  /** The first reading that showed its end. */
  readonly end: HistoryEvent | undefined
}

const readingsIn = derived((history): Reading[] => {
  const own = new Set(ownJobs(history))
  const ids = history.events.filter(isReading).flatMap((event) => event.object ?? [])
  return [...new Set(ids.map(idKey))].flatMap((id) => {
    const job = viewOf(history).jobOf(id)
    if (job && !own.has(job)) return []
    const all = job?.readings ?? history.of(id).filter(isReading)
    return [...groupBy(all, (one) => one.key).values()].flatMap((own) => {
      const end = own.find(hasEnded)
      return own.map((reading) => ({ job, reading, end }))
    })
  })
})

const readIn = (history: History): Reading[] =>
  readingsIn(history).filter((one) => isRead(one.reading))

const valueOf = (name: string, event: HistoryEvent): unknown =>
  member(jsonValue(event.exchange.response), name)

const told = (name: string, event: HistoryEvent): string =>
  `${name} ${preview(valueOf(name, event))}`

function wrong(reading: HistoryEvent, name: string, expected: string, against?: HistoryEvent) {
  return {
    exchange: reading.exchange,
    expected,
    actual: told(name, reading),
    against: against?.exchange,
  }
}

function contradicts(reading: HistoryEvent, name: string, before: HistoryEvent, as: string) {
  const [first, second] = previews(valueOf(name, before), valueOf(name, reading))
  const [expected, actual] = [`${name} ${first}, ${as}`, `${name} ${second}`]
  return { exchange: reading.exchange, expected, actual, against: before.exchange }
}

const asBefore = 'as when the ended job was read before'

/** §2.3, §4.3: a new job may be missing within `settleMs`. */
export const jobRule = eachOf(
  readingsIn,
  ({ job, reading }, { limits: { settleMs } }) => {
    const { exchange, sentAt, status } = reading
    const expected = '200 with a job'
    if (job && exchange.unansweredTimes) return { exchange, expected }
    if (!job || status === undefined) return undefined
    const found = status === 200 ? shapeFinding(exchange, 'job') : { expected }
    if (!found) return 'held'
    if ('reason' in found) return { why: found.reason }
    const isNew = sentAt - job.creation.endedAt <= settleMs
    return isNew && isUnknown(reading) ? undefined : { exchange, ...found }
  },
  'no job was read',
)

/** §4.2, §4.3: the id of a creation can be retrieved, at the latest `settleMs` later. */
export const retrievable = eachOf(
  ownJobs,
  (job, { limits: { settleMs } }) => {
    const { creation, readings } = job
    if (readings.some((one) => one.status === 200)) return 'held'
    const last = readings.findLast((one) => one.status !== undefined)
    const afterMs = (last?.sentAt ?? 0) - creation.endedAt
    if (!last || !(afterMs >= settleMs) || last.status === 403) return undefined
    const what = `${seconds(afterMs)} after the creation of the job`
    const expected = `200: the id that the creation returned can be retrieved, at the latest ${settleMs} ms later (limits.settleMs)`
    const shownBy = creation.exchange.purpose.requirement
    return { exchange: last.exchange, what, expected, shownBy }
  },
  'no job was read until it was found, or for limits.settleMs',
)

function foreignMember({ job, reading }: Reading): Evidence | undefined {
  const own = { id: reading.object, application_id: job?.application.id }
  for (const [name, value] of Object.entries(own)) {
    const read = member(reading.body, name)
    if (value === undefined || typeof read !== 'string' || sameId(read, value)) continue
    return wrong(reading, name, `${name} ${value}`, job?.creation)
  }
  return undefined
}

/** An ended job that turned into a newer one. */
function becameNewer({ job, reading, end }: Reading): Evidence | undefined {
  const [own, its] = [member(end?.body, 'data'), member(reading.body, 'data')]
  if (!job || !end || own === undefined || its === undefined || readsTheSame(own, its))
    return undefined
  const newer = job.application.jobs.find(
    ({ creation, end }) =>
      creation.sentAt > job.creation.endedAt && readsTheSame(member(end?.body, 'data'), its),
  )
  if (!newer) return undefined
  const found = contradicts(reading, 'data', end, asBefore)
  return { ...found, actual: `${found.actual}: that is the data of the newer job ${newer.id}` }
}

/** Its id is that of another job, or it is gone: a server may keep only the newest. */
function lossOf(job: Job, history: History): Evidence | undefined {
  const { id, application, creation, readings, twinOf } = job
  if (twinOf) {
    const [expected, actual] = ['an id that no other creation gave', `id ${id}`]
    return { exchange: creation.exchange, expected, actual, against: twinOf.exchange }
  }
  const last = readings.at(-1)
  const isReplaced =
    last &&
    isMissing(last) &&
    readings.some(isRead) &&
    last.sentAt - creation.endedAt > history.limits.settleMs &&
    application.jobs.some((other) => other.creation.sentAt > creation.endedAt)
  if (!isReplaced) return undefined
  const expected = '200 with that job, as when it was read before'
  return { exchange: last.exchange, what: 'after newer jobs were made', expected }
}

/** §2.3, §2.4: the members of a retrieved job are its own, and ids are unique. */
export const identity = eachOf<Job | Reading>(
  (history) => [
    ...ownJobs(history),
    // The application of a declared job is unknown, as in a recording.
    ...readIn(history).filter((one) => one.job || !history.isRecorded),
  ],
  (one, history) =>
    one instanceof Job ? lossOf(one, history) : (foreignMember(one) ?? becameNewer(one) ?? 'held'),
  'no reading of a job had an id',
)

/** §6: a job is completed or failed within `jobTimeoutMs`. */
export const outcomeRule = eachOf(
  ownJobs,
  (job, { limits: { jobTimeoutMs }, isRecorded }) => {
    const { creation, readings } = job
    if (readings.some(hasEnded)) return 'held'
    const last = readings.findLast(isRead)
    if (isRecorded || !last || last.sentAt - creation.endedAt < jobTimeoutMs) return undefined
    const expected = `a job that is completed or failed within ${jobTimeoutMs} ms (limits.jobTimeoutMs)`
    return { exchange: last.exchange, expected }
  },
  'no job was read until it had ended',
)

export const ofFailing = 'of an application whose jobs fail'

export function failedFault(job: unknown) {
  const expected = 'status failed; error, if present, a string'
  if (member(job, 'status') !== 'failed') return { expected }
  const error = member(job, 'error')
  const isRight = error === undefined || typeof error === 'string'
  return isRight ? undefined : { expected, actual: `error ${preview(error)}` }
}

/** §2.3, §3: a job of that application ends as failed; `error`, if present, is a string. */
export const failedRule = (application: string): Rule =>
  eachOf(
    // The first job only: creations beside it may get anything.
    (history) => viewOf(history).applicationOf(application).jobs.slice(0, 1),
    (job) => {
      if (!job.end) return undefined
      const fault = failedFault(job.end.body)
      return fault ? { exchange: job.end.exchange, what: ofFailing, ...fault } : 'held'
    },
    'no reading showed the end of the job of resources.failingApplication: see jobs.retrieve/200-identity and jobs.retrieve/200-outcome',
  )

/** Tolerance of a clock, in ms: a server may read it twice, or write whole seconds. */
const clockMs = 1000
/** A creation that is sent so long after the answer to another one, in ms, has a later time. */
export const apartMs = 2000

function instantAt(name: string, event: HistoryEvent) {
  const value = member(event.body, name)
  return typeof value === 'string' ? parseDateTime(value) : undefined
}

/** NaN if not a date-time. */
const timeAt = (name: string, event: HistoryEvent): number => instantAt(name, event)?.epochMs ?? NaN

/** The same value, or the same instant in another precision. */
function tellTheSame(name: string, one: HistoryEvent, other: HistoryEvent): boolean {
  const [first, second] = [instantAt(name, one), instantAt(name, other)]
  if (!first || !second) return readsTheSame(member(one.body, name), member(other.body, name))
  const unitMs = first.unitMs === second.unitMs ? 0 : Math.max(first.unitMs, second.unitMs)
  return first.epochMs === second.epochMs || Math.abs(first.epochMs - second.epochMs) < unitMs
}

const datedIn = derived((history) =>
  ownJobs(history).flatMap((job) => {
    const dated = job.readings.filter((one) => instantAt('created_at', one))
    return dated.map((reading, _, [first = reading]) => {
      return { job, reading, first, time: timeAt('created_at', reading) }
    })
  }),
)

/** §2.3, §2.4: `created_at` equals that of the creation response, never changes, and is later for a later job. */
export const createdAtRule = eachOf(
  datedIn,
  (one, history) => {
    const { job, reading, first, time } = one
    const { creation } = job
    if (Math.abs(time - timeAt('created_at', creation)) > clockMs)
      return contradicts(reading, 'created_at', creation, 'as in the response to its creation')
    if (!tellTheSame('created_at', first, reading))
      return contradicts(reading, 'created_at', first, 'as when it was read before')
    if (reading !== first) return 'held'
    const older = datedIn(history).find(
      (other) => creation.sentAt - other.job.creation.endedAt >= apartMs && other.time >= time,
    )
    if (!older) return 'held'
    const before = older.reading
    const expected = `a created_at after that of job ${older.job.id} (${told('created_at', before)}), which was created ${apartMs / 1000} s or more before`
    return wrong(reading, 'created_at', expected, before)
  },
  'no reading of a job had a created_at that can be compared',
)

const longAgoMs = 30 * 24 * 3600 * 1000

const ofEnded = ['completed_at', 'data', 'error']

export const consistent = eachOf(
  readIn,
  ({ job, reading }) => {
    const { body, endedAt, exchange } = reading
    const early = ofEnded.find((name) => (member(body, name) ?? null) !== null)
    if (statusOf(reading) === 'in_progress' && early !== undefined) {
      const expected = `no ${early} while the status is in_progress: only an ended job has it`
      return wrong(reading, early, expected)
    }
    const created = timeAt('created_at', reading)
    if (timeAt('completed_at', reading) < created - clockMs) {
      const expected = `a completed_at that is not before ${told('created_at', reading)}`
      return wrong(reading, 'completed_at', expected)
    }
    const date = Date.parse(exchange.response?.header('date') ?? '')
    const now = Number.isNaN(date) ? performance.timeOrigin + endedAt : date
    const far = ['created_at', 'completed_at'].find(
      (name) => Math.abs(timeAt(name, reading) - now) > longAgoMs,
    )
    if (!job || far === undefined) return 'held'
    const expected = `a ${far} within 30 days of ${new Date(now).toISOString()}, as the job was created just now`
    return wrong(reading, far, expected)
  },
  'no job was read',
)

/** The documented members (§2.3) except `updated_at`, which may change; others are free. */
const members = ['id', 'status', 'application_id', 'created_at', 'completed_at', 'data', 'error']

/** How long a slow replica may show a job as it was before its end, in ms. */
const maxLagMs = 1000

/** §3: an ended job never changes, except `updated_at`. */
export const stable = eachOf(
  readingsIn,
  (one, { limits: { settleMs } }) => {
    const { job, end, reading } = one
    // A recording may not say when.
    if (!end || !(reading.sentAt >= end.endedAt + maxLagMs)) return undefined
    const what = `read again ${seconds(reading.sentAt - end.endedAt)} later`
    if (isMissing(reading)) {
      const isNew = job && reading.sentAt - job.creation.endedAt < settleMs
      const expected = `200 with the job, ${asBefore}`
      return isNew
        ? undefined
        : { exchange: reading.exchange, what, expected, against: end.exchange }
    }
    if (!isRead(reading)) return undefined
    const name = members.find((one) => !tellTheSame(one, end, reading))
    if (name === undefined) return 'held'
    // Another requirement fails for the data of another job.
    if (name === 'data' && becameNewer(one)) return undefined
    return { ...contradicts(reading, name, end, asBefore), what }
  },
  'no ended job was read again',
)
