import { describeResponse, differing, jsonValue } from '../../harness/engine/index.ts'
import { shapeFault } from '../../harness/run/index.ts'
import {
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

const valueOf = (name: string, { exchange, body }: HistoryEvent): unknown =>
  member(jsonValue(exchange.response) ?? body, name)

export const told = (name: string, event: HistoryEvent): string => {
  const value = valueOf(name, event)
  return `${name} ${value === undefined ? 'absent' : preview(value)}`
}

type Found = Omit<Evidence, 'exchange' | 'what'> & { readonly what?: string }

/** Evidence against a reading or creation of a job; reproducing it needs the requirement that made the job. */
export function against(job: Job | undefined, { exchange }: HistoryEvent, found: Found): Evidence {
  const what = job ? `for job ${job.id}` : ''
  return { exchange, what, shownBy: job?.creation.exchange.purpose.requirement, ...found }
}

interface Contradiction {
  readonly name: string
  readonly before: HistoryEvent
  readonly as: string
}

export function contradicts(
  job: Job | undefined,
  reading: HistoryEvent,
  { name, before, as }: Contradiction,
): Evidence {
  const values = [valueOf(name, before), valueOf(name, reading)]
  const [expected, actual] = values.includes(undefined)
    ? [told(name, before), told(name, reading)]
    : previews(...(values as [unknown, unknown])).map((value) => `${name} ${value}`)
  return against(job, reading, {
    expected: `${expected}, ${as}`,
    actual,
    against: before.exchange,
  })
}

export const asBefore = 'as when the ended job was read before'

export const readJobs = derived((history) => {
  const ids = history.events.filter(isReading).flatMap(({ object }) => object ?? [])
  return [...new Set(ids.map(idKey))].map((id) => ({
    id,
    job: viewOf(history).jobOf(id),
    all: history.of(id).filter(isReading),
  }))
})

/** A job that is missing, and found later: the answers differ. */
export function isBackLater(readings: readonly HistoryEvent[], reading: HistoryEvent): boolean {
  return isGone(reading) && readings.slice(readings.indexOf(reading)).some(isRead)
}

/** An older job that stays missing after a newer one of its application: a server may keep only the newest. */
function isGoneSinceNewer(job: Job, reading: HistoryEvent): boolean {
  const { application, creation, readings } = job
  const hasNewer = application.jobs.some(
    ({ creation: { sentAt, endedAt } }) => sentAt > creation.endedAt && endedAt < reading.sentAt,
  )
  const wasRead = readings.slice(0, readings.indexOf(reading)).some(isRead)
  return isGone(reading) && hasNewer && wasRead && !isBackLater(readings, reading)
}

/** Readings that count: within `settleMs`, a new job may be missing, or crash the server until read. */
function countedReadings({ limits }: History, job: Job): HistoryEvent[] {
  const found = job.readings.findIndex(isRead)
  return job.readings.filter((reading, at) => {
    const { status, noise, sentAt } = reading
    if (status === undefined || noise === 'throttled') return false
    // Transient errors of a guardrail or model are repeated.
    if (noise && job.readings.slice(at).some((one) => one.noise === undefined)) return false
    if (isGoneSinceNewer(job, reading)) return false
    const settled = sentAt - job.creation.endedAt > limits.settleMs
    const wasRead = found >= 0 && at > found && !isGone(reading)
    return status < 300 || settled || wasRead
  })
}

const aJob = '200 with a job'

const faultOf = ({ exchange: { response } }: HistoryEvent) =>
  response && shapeFault(response, 'job')
const isRight = (one: HistoryEvent): boolean =>
  one.exchange.response !== undefined && one.status === 200 && !faultOf(one)

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
    if (!job.readings.slice(0, at).some(isRight) || !job.readings.slice(at).some(isRight))
      return found
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

function becameNewers(job: Job): Evidence[] {
  const { application, creation, readings, end } = job
  const dataOf = (one: HistoryEvent | undefined): unknown => one && member(one.body, 'data')
  if (!end || dataOf(end) === undefined) return []
  const changed = readings.find(
    (one) => one.sentAt > end.endedAt && isEnded(one) && !readsTheSame(dataOf(one), dataOf(end)),
  )
  if (dataOf(changed) === undefined) return []
  const newer = application.jobs.find(
    (other) =>
      other.creation.sentAt > creation.endedAt &&
      other.end !== undefined &&
      readsTheSame(dataOf(other.end), dataOf(changed)),
  )
  if (!changed || !newer) return []
  const found = contradicts(job, changed, { name: 'data', before: end, as: asBefore })
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
    cases += readings.filter(
      (one) => one.isGranted && typeof member(one.body, 'id') === 'string',
    ).length
    const last = readings.findLast(({ noise }) => noise === undefined)
    const isSettled = last && last.sentAt - creation.endedAt > history.limits.settleMs
    const what = `for job ${id}, after newer ones were made`
    const expected = '200 with that job, as when it was read before'
    return [
      ...wrongMembers({ id, application_id: application.id }, readings, job),
      ...becameNewers(job),
      ...(isSettled && isGoneSinceNewer(job, last) ? [against(job, last, { what, expected })] : []),
    ]
  })
  // The application of a declared job is unknown, as in a recording.
  const declared = readJobs(history).flatMap(({ id, job, all }) =>
    job || history.isRecorded ? [] : wrongMembers({ id }, all),
  )
  const all = [...evidence, ...declared]
  return verdictOf(all.slice(0, 1), cases + all.length, 'no reading of a job had an id')
}

/** A status outside the spec that lasts this long is not transient, in ms. */
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
    const since = readings.find((one) => last && statusOf(one) === statusOf(last))?.sentAt ?? 0
    const isStuck = last && isEnded(last) && last.sentAt - since >= stuckMs
    const isLate = last && !isRecorded && last.sentAt - creation.endedAt >= limits.jobTimeoutMs
    if (isStuck || isLate) return [against(job, last, { expected })]
    open = last ? 'no job was read until it had ended' : 'no reading of a job shows a status'
    return []
  })
  return verdictOf(evidence.slice(0, 1), cases + evidence.length, open)
}

export const ofFailing = {
  what: 'of an application whose jobs fail',
  expected: 'status failed; error, if present, a string',
}

/** What is wrong with a job that should have failed; `actual` if not the status. */
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
    if (!end) return verdictOf([], 0, why)
    const fault = failedFault(jsonValue(end.exchange.response) ?? end.body)
    return verdictOf(fault ? [against(job, end, { ...ofFailing, ...fault })] : [], 1, why)
  }
