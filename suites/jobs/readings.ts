import { shapeFault } from '../../harness/run/index.ts'
import {
  describeResponse,
  differing,
  jsonValue,
  derived,
  eachOf,
  type Evidence,
  type History,
  type HistoryEvent,
  idKey,
  readsTheSame,
  type Rule,
  sameId,
  verdictOf,
} from '../../harness/journal/index.ts'
import { member, preview, previews } from '../../schemas/json.ts'
import {
  hasEnded,
  isEnded,
  isGone,
  isOwn,
  isRead,
  isReading,
  type Job,
  ownJobs,
  statusOf,
  viewOf,
} from './view.ts'
import { type Instant, parseDateTime } from '../../schemas/formats.ts'
import { seconds } from '../created/rules.ts'

const valueOf = (name: string, event: HistoryEvent): unknown =>
  member(jsonValue(event.exchange.response) ?? event.body, name)

const told = (name: string, event: HistoryEvent): string => {
  const value = valueOf(name, event)
  return `${name} ${value === undefined ? 'absent' : preview(value)}`
}

/** Reproducing it needs the requirement that made the job. */
const against = (
  job: Job | undefined,
  { exchange }: HistoryEvent,
  found: Omit<Evidence, 'exchange' | 'what'> & { readonly what?: string },
): Evidence => ({
  exchange,
  what: job ? `for job ${job.id}` : '',
  shownBy: job?.creation.exchange.purpose.requirement,
  ...found,
})

function contradicts(
  job: Job | undefined,
  name: string,
  [before, reading]: readonly [HistoryEvent, HistoryEvent],
  as: string,
): Evidence {
  const values = [valueOf(name, before), valueOf(name, reading)] as const
  const [expected, actual] = values.includes(undefined)
    ? [told(name, before), told(name, reading)]
    : previews(...values).map((value) => `${name} ${value}`)
  const found = { expected: `${expected}, ${as}`, actual, against: before.exchange }
  return against(job, reading, found)
}

const asBefore = 'as when the ended job was read before'

const readJobs = derived((history) => {
  const ids = history.events.filter(isReading).flatMap((event) => event.object ?? [])
  return [...new Set(ids.map(idKey))].map((id) => ({
    id,
    job: viewOf(history).jobOf(id),
    all: history.of(id).filter(isReading),
  }))
})

/** Readings that count: within `settleMs`, a new job may be missing, or crash the server until read. */
function countedReadings(history: History, job: Job): HistoryEvent[] {
  const found = job.readings.findIndex(isRead)
  return job.readings.filter((reading, at) => {
    const { status, sentAt } = reading
    const isSettled = sentAt - job.creation.endedAt > history.limits.settleMs
    const wasRead = found >= 0 && at > found && !isGone(reading)
    return status !== undefined && (status < 300 || isSettled || wasRead)
  })
}

const aJob = '200 with a job'

const faultOf = ({ exchange: { response } }: HistoryEvent) =>
  response && shapeFault(response, 'job')
const isRight = (one: HistoryEvent): boolean => one.status === 200 && !faultOf(one)

export const isSomeRight = (history: History): boolean =>
  history.events.some((event) => isReading(event) && isRight(event))

export const jobRule = eachOf(
  (history) =>
    ownJobs(history).flatMap((job) =>
      countedReadings(history, job).map((reading) => ({ job, reading })),
    ),
  ({ job, reading }) => {
    if (isRight(reading)) return 'held'
    const { exchange, status } = reading
    const fault = status === 200 ? faultOf(reading) : undefined
    const found = against(job, reading, { what: '', expected: aJob, ...fault })
    const at = job.readings.indexOf(reading)
    const [before, after] = [job.readings.slice(0, at), job.readings.slice(at)]
    if (!before.some(isRight) || !after.some(isRight)) return found
    const responses = job.readings.map((one) =>
      isRight(one) ? aJob : describeResponse(one.exchange),
    )
    return { ...found, exchange: { ...exchange, finding: differing(responses) } }
  },
  () => 'no job was read',
)

function wrongMembers(
  own: Readonly<Record<string, string>>,
  readings: readonly HistoryEvent[],
  job?: Job,
): Evidence[] {
  const what = job ? `for job ${job.id}` : 'for the declared job'
  return readings.flatMap((reading) =>
    Object.entries(own).flatMap(([name, value]) => {
      const read = reading.isGranted ? member(reading.body, name) : undefined
      if (typeof read !== 'string' || sameId(read, value)) return []
      const [expected, actual] = [`${name} ${value}`, told(name, reading)]
      return [against(job, reading, { what, expected, actual, against: job?.creation.exchange })]
    }),
  )
}

const dataOf = (event: HistoryEvent): unknown => member(event.body, 'data')

function becameNewers(job: Job): Evidence[] {
  const { application, creation, readings, end } = job
  const data = end && dataOf(end)
  if (!end || data === undefined) return []
  const changed = readings.find(
    (one) => one.sentAt > end.endedAt && isEnded(one) && !readsTheSame(dataOf(one), data),
  )
  const its = changed && dataOf(changed)
  const newer = application.jobs.find(
    (other) =>
      other.creation.sentAt > creation.endedAt &&
      other.end !== undefined &&
      readsTheSame(dataOf(other.end), its),
  )
  if (!changed || !newer || its === undefined) return []
  const found = contradicts(job, 'data', [end, changed], asBefore)
  return [{ ...found, actual: `${found.actual}: that is the data of the newer job ${newer.id}` }]
}

/** §2.3, §2.4: the members of a retrieved job are its own, and ids are unique. */
export const identity: Rule = (history) => {
  let cases = 0
  const evidence = ownJobs(history).flatMap((job): Evidence[] => {
    const { id, application, creation, twinOf, readings } = job
    if (twinOf) {
      const [expected, actual] = ['an id that no other creation gave', `id ${id}`]
      return [against(job, creation, { expected, actual, against: twinOf.exchange })]
    }
    cases += readings.filter(isRead).length
    const last = readings.at(-1)
    // A server may keep only the newest.
    const isReplaced =
      last &&
      isGone(last) &&
      readings.some(isRead) &&
      last.sentAt - creation.endedAt > history.limits.settleMs &&
      application.jobs.some((job) => job.creation.sentAt > creation.endedAt)
    const what = `for job ${id}, after newer ones were made`
    const expected = '200 with that job, as when it was read before'
    return [
      ...wrongMembers({ id, application_id: application.id }, readings, job),
      ...becameNewers(job),
      ...(isReplaced ? [against(job, last, { what, expected })] : []),
    ]
  })
  // The application of a declared job is unknown, as in a recording.
  const declared = readJobs(history).flatMap(({ id, job, all }) =>
    job || history.isRecorded ? [] : wrongMembers({ id }, all),
  )
  const all = [...evidence, ...declared]
  return verdictOf(all.slice(0, 1), cases + all.length, 'no reading of a job had an id')
}

/** A status outside the enum that stays so long is not transient, in ms. */
const stuckMs = 2000

/** §6: a job is completed or failed within `jobTimeoutMs`. */
export const outcomeRule: Rule = (history) => {
  const { limits, isRecorded } = history
  const expected = `a job that is completed or failed within ${limits.jobTimeoutMs} ms (limits.jobTimeoutMs)`
  let [cases, open] = [0, 'no job was made']
  const evidence = ownJobs(history).flatMap((job): Evidence[] => {
    const { creation, readings } = job
    const last = readings.findLast(isRead)
    if (readings.some(hasEnded)) {
      cases++
      return []
    }
    const isLate = last && !isRecorded && last.sentAt - creation.endedAt >= limits.jobTimeoutMs
    const since = readings.find((one) => last && statusOf(one) === statusOf(last))
    const isStuck = last && isEnded(last) && last.sentAt - since!.sentAt >= stuckMs
    if (isLate || isStuck) return [against(job, last, { expected })]
    open = last ? 'no job was read until it had ended' : 'no reading of a job shows a status'
    return []
  })
  return verdictOf(evidence.slice(0, 1), cases + evidence.length, open)
}

export const ofFailing = {
  what: 'of an application whose jobs fail',
  expected: 'status failed; error, if present, a string',
}

/** `actual` if not the status is wrong. */
export function failedFault(job: unknown): { readonly actual: string | undefined } | undefined {
  if (member(job, 'status') !== 'failed') return { actual: undefined }
  const error = member(job, 'error')
  return error === undefined || typeof error === 'string'
    ? undefined
    : { actual: `error ${preview(error)}` }
}

/** §2.3, §3: a job of that application ends as failed; `error`, if present, is a string. */
export const failedRule =
  (application: string): Rule =>
  (history) => {
    // The first job only: creations beside it may get anything.
    const [job] = viewOf(history).applicationOf(application).jobs
    const isAnother = job?.readings.some((one) => isEnded(one) && !isOwn(one, job))
    const why = isAnother
      ? 'what was read under the id of the job of resources.failingApplication is another job: see jobs.retrieve/200-identity'
      : 'the job of resources.failingApplication did not end in time'
    const { end } = job ?? {}
    const fault = end && failedFault(jsonValue(end.exchange.response) ?? end.body)
    const evidence = fault ? [against(job, end, { ...ofFailing, ...fault })] : []
    return verdictOf(evidence, end ? 1 : 0, why)
  }

/** Tolerance between two readings of one clock, in ms: a server may read it twice. */
const clockMs = 1000
/** Minimum time between the answer to one creation and the next request, in ms, that orders their times. */
export const apartMs = 2000

/** Trailing zeros of a fraction are not precision: a server with whole seconds may write `.000`. */
const withoutIdleZeros = (text: string): string =>
  text.replace(/\.(\d*?)0+(?!\d)/, (_, kept: string) => (kept === '' ? '' : `.${kept}`))

/** An instant and the unit of its last significant digit in ms; undefined if not a date-time. */
function instantAt(name: string, event: HistoryEvent): Instant | undefined {
  const value = member(event.body, name)
  return typeof value === 'string' ? parseDateTime(withoutIdleZeros(value)) : undefined
}

interface Dated {
  readonly job: Job
  readonly reading: HistoryEvent
  readonly instant: Instant
}

const datedIn = (job: Job): Dated[] =>
  job.readings.flatMap((reading) => {
    const instant = reading.isGranted ? instantAt('created_at', reading) : undefined
    return instant ? [{ job, reading, instant }] : []
  })

function isSameInstant(one: Instant, other: Instant): boolean {
  const apart = Math.abs(one.epochMs - other.epochMs)
  return apart === 0 || (one.unitMs !== other.unitMs && apart < Math.max(one.unitMs, other.unitMs))
}

function wrongTimes(dated: readonly Dated[]): Evidence[] {
  return dated.flatMap(({ job, reading, instant }): Evidence[] => {
    const { creation } = job
    const created = instantAt('created_at', creation)
    const tolerance = Math.max(clockMs, created?.unitMs ?? 0, instant.unitMs)
    const differsFrom = (before: HistoryEvent, as: string): Evidence[] => [
      contradicts(job, 'created_at', [before, reading], as),
    ]
    if (created && Math.abs(instant.epochMs - created.epochMs) > tolerance)
      return differsFrom(creation, 'as in the response to its creation')
    if (isSameInstant(instant, dated[0]!.instant)) return []
    return differsFrom(dated[0]!.reading, 'as when it was read before')
  })
}

function wrongOrder(dated: readonly Dated[]): Evidence[] {
  return dated.flatMap(({ job, reading, instant }) => {
    const older = dated.find(
      (one) =>
        job.creation.sentAt - one.job.creation.endedAt >= apartMs &&
        one.instant.epochMs >= instant.epochMs,
    )
    if (!older) return []
    const expected = `a created_at after that of job ${older.job.id} (${told('created_at', older.reading)}), which was created ${apartMs / 1000} s or more before`
    const actual = told('created_at', reading)
    return [against(job, reading, { expected, actual, against: older.reading.exchange })]
  })
}

/** §2.3, §2.4: `created_at` equals that of the creation response, never changes, and is later for a later job. */
export const createdAtRule: Rule = (history) => {
  const dated = ownJobs(history).map(datedIn)
  const order = wrongOrder(dated.flatMap((readings) => readings.slice(0, 1)))
  const evidence = [...dated.flatMap(wrongTimes), ...order]
  const why = 'no reading of a job had a created_at that can be compared'
  return verdictOf(evidence.slice(0, 1), dated.flat().length, why)
}

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
    readJobs(history).flatMap((one) =>
      one.all.filter(isRead).map((reading) => ({ job: one.job, reading })),
    ),
  (one) => {
    const found = inconsistency(one.reading, one.job !== undefined)
    if (!found) return 'held'
    const [name, expected] = found
    return against(one.job, one.reading, { expected, actual: told(name, one.reading) })
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
    readJobs(history).flatMap((one) => {
      const readings = one.job?.readings ?? one.all
      const end = readings.find(hasEnded)
      return end ? readings.map((reading) => ({ job: one.job, end, reading })) : []
    }),
  ({ job, end, reading }, other) => {
    const lagMs = statusOf(reading) === 'in_progress' ? maxLagMs : laterMs
    if (!(reading.sentAt >= end.endedAt + lagMs)) return undefined
    const what = `read again ${seconds(reading.sentAt - end.endedAt)} later`
    if (isGone(reading)) {
      const isNew = job && reading.sentAt - job.creation.endedAt < other.limits.settleMs
      const expected = `200 with the job, ${asBefore}`
      return isNew ? undefined : against(job, reading, { what, expected, against: end.exchange })
    }
    if (!isRead(reading)) return undefined
    const name = members.find((one) => !tellTheSame(one, end, reading))
    if (name === undefined) return 'held'
    return { ...contradicts(job, name, [end, reading], asBefore), what }
  },
  () => 'no ended job was read again',
)
