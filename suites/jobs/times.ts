import {
  derived,
  eachOf,
  type Evidence,
  type History,
  type HistoryEvent,
  readsTheSame,
  type Rule,
  verdictOf,
} from '../../harness/journal/index.ts'
import { type Instant, parseDateTime } from '../../schemas/formats.ts'
import { member } from '../../schemas/json.ts'
import { seconds } from '../created/rules.ts'
import { hasEnded, isGone, isRead, type Job, ownJobs, statusOf } from './view.ts'
import { against, asBefore, contradicts, isBackLater, readJobs, told } from './readings.ts'

/** Tolerance between two readings of one clock, in ms: a server may read it twice. */
const clockMs = 1000
/** Minimum time between the answer to one creation and the next request, in ms, that orders their times. */
export const apartMs = 2000

/** Trailing zeros of a fraction are not precision: a server with whole seconds may write `.000`. */
const withoutIdleZeros = (text: string): string =>
  text.replace(/\.(\d*?)0+(?!\d)/, (_, kept: string) => (kept === '' ? '' : `.${kept}`))

/** An instant and the unit of its last significant digit in ms; undefined if not a date-time. */
function instantAt(name: string, { body }: HistoryEvent): Instant | undefined {
  const value = member(body, name)
  return typeof value === 'string' ? parseDateTime(withoutIdleZeros(value)) : undefined
}

interface Dated {
  readonly job: Job
  readonly reading: HistoryEvent
  readonly instant: Instant
}

const datedReadings = derived((history): Dated[][] =>
  ownJobs(history).map((job) =>
    job.readings.flatMap((reading) => {
      const instant = reading.isGranted ? instantAt('created_at', reading) : undefined
      return instant ? [{ job, reading, instant }] : []
    }),
  ),
)

function isSameInstant(one: Instant, other: Instant): boolean {
  const apart = Math.abs(one.epochMs - other.epochMs)
  return apart === 0 || (one.unitMs !== other.unitMs && apart < Math.max(one.unitMs, other.unitMs))
}

function wrongTimes(dated: readonly Dated[]): Evidence[] {
  const [first] = dated
  return dated.flatMap(({ job, reading, instant }): Evidence[] => {
    const { creation } = job
    const created = instantAt('created_at', creation)
    const tolerance = Math.max(clockMs, created?.unitMs ?? 0, instant.unitMs)
    const name = 'created_at'
    if (created && Math.abs(instant.epochMs - created.epochMs) > tolerance) {
      const as = 'as in the response to its creation'
      return [contradicts(job, reading, { name, before: creation, as })]
    }
    if (!first || isSameInstant(instant, first.instant)) return []
    const as = 'as when it was read before'
    return [contradicts(job, reading, { name, before: first.reading, as })]
  })
}

/** Compares with the latest time among jobs created long enough before: if that is right, all are. */
function wrongOrder(dated: readonly Dated[]): Evidence[] {
  const byEnd = [...dated].sort((a, b) => a.job.creation.endedAt - b.job.creation.endedAt)
  const bySending = [...dated].sort((a, b) => a.job.creation.sentAt - b.job.creation.sentAt)
  let latest: Dated | undefined
  let seen = 0
  return bySending.flatMap(({ job, reading, instant }) => {
    for (; seen < byEnd.length; seen++) {
      const one = byEnd[seen]!
      if (!(job.creation.sentAt - one.job.creation.endedAt >= apartMs)) break
      if (!latest || one.instant.epochMs > latest.instant.epochMs) latest = one
    }
    if (!latest || instant.epochMs > latest.instant.epochMs) return []
    const before = latest.reading
    const expected = `a created_at after that of job ${latest.job.id} (${told('created_at', before)}), which was created ${apartMs / 1000} s or more before`
    const actual = told('created_at', reading)
    return [against(job, reading, { expected, actual, against: before.exchange })]
  })
}

/**
 * §2.3, §2.4: `created_at` equals that of the creation response, to 1 s or one unit of the coarser precision; it never
 * changes; and for jobs created at least 2 s apart, the later one has the later time.
 */
export const createdAtRule: Rule = (history) => {
  const dated = datedReadings(history)
  const order = wrongOrder(dated.flatMap((readings) => readings.slice(0, 1)))
  const evidence = [...dated.flatMap(wrongTimes), ...order]
  const why = 'no reading of a job had a created_at that can be compared'
  return verdictOf(evidence.slice(0, 1), dated.flat().length, why)
}

export const timesDiffer = (history: History): boolean =>
  new Set(datedReadings(history).flatMap((all) => all.map(({ instant }) => instant.epochMs))).size >
  1

/** Maximum age of a new job by the target's clock, in ms. */
const longAgoMs = 30 * 24 * 3600 * 1000

const meaning: Readonly<Record<string, string>> = {
  completed_at: 'that is when a job was completed',
  data: 'that is the result of a completed job',
  error: 'that says why a job failed',
}

function inconsistency(
  reading: HistoryEvent,
  isMade: boolean,
): readonly [name: string, expected: string] | undefined {
  const { body, exchange } = reading
  const early = Object.keys(meaning).find((name) => (member(body, name) ?? null) !== null)
  if (statusOf(reading) === 'in_progress' && early !== undefined)
    return [early, `no ${early} while the status is in_progress: ${meaning[early]}`]
  const created = instantAt('created_at', reading)
  const completed = instantAt('completed_at', reading)
  if (created && completed && completed.epochMs < created.epochMs - clockMs)
    return ['completed_at', `a completed_at that is not before ${told('created_at', reading)}`]
  const date = Date.parse(exchange.response?.header('date') ?? '')
  const now = Number.isNaN(date) ? performance.timeOrigin + reading.endedAt : date
  if (!isMade || !created || !(Math.abs(created.epochMs - now) > longAgoMs)) return undefined
  const at = new Date(now).toISOString()
  return ['created_at', `a created_at within 30 days of ${at}, as the job was created just now`]
}

export const consistent = eachOf(
  (history) =>
    readJobs(history).flatMap(({ job, all }) =>
      all.filter(isRead).map((reading) => ({ job, reading })),
    ),
  ({ job, reading }) => {
    const [name, expected] = inconsistency(reading, job !== undefined) ?? []
    if (name === undefined || expected === undefined) return 'held'
    return against(job, reading, { expected, actual: told(name, reading) })
  },
  () => 'no job was read',
)

/** The documented members (§2.3) except `updated_at`, which may change; others are free. */
const members = ['id', 'status', 'application_id', 'created_at', 'completed_at', 'data', 'error']

/** How long a slow replica may show a job in progress after another one showed its end, in ms. */
const maxLagMs = 1000
const laterMs = 200

function tellTheSame(name: string, one: HistoryEvent, other: HistoryEvent): boolean {
  if (readsTheSame(member(one.body, name), member(other.body, name))) return true
  const [first, second] = [instantAt(name, one), instantAt(name, other)]
  return first !== undefined && second !== undefined && isSameInstant(first, second)
}

/** §3: an ended job never changes, except `updated_at`. */
export const stable = eachOf(
  (history) =>
    readJobs(history).flatMap(({ job, all }) => {
      const readings = job?.readings ?? all
      const end = readings.find(hasEnded)
      return end ? readings.map((reading) => ({ job, end, reading, readings })) : []
    }),
  ({ job, end, reading, readings }, { limits }) => {
    const lagMs = statusOf(reading) === 'in_progress' ? maxLagMs : laterMs
    if (reading.noise !== undefined || !(reading.sentAt >= end.endedAt + lagMs)) return undefined
    const what = `read again ${seconds(reading.sentAt - end.endedAt)} later`
    // Reported for the retrieval itself.
    if (isBackLater(readings, reading)) return undefined
    if (isGone(reading)) {
      const isNew = job && reading.sentAt - job.creation.endedAt < limits.settleMs
      const expected = `200 with the job, ${asBefore}`
      return isNew ? undefined : against(job, reading, { what, expected, against: end.exchange })
    }
    if (!isRead(reading)) return undefined
    const name = members.find((one) => !tellTheSame(one, end, reading))
    if (name === undefined) return 'held'
    return { ...contradicts(job, reading, { name, before: end, as: asBefore }), what }
  },
  () => 'no ended job was read again',
)
