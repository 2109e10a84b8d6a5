import { describeResponse, differing, jsonValue, shapeFault } from '../../harness/engine/index.ts'
import {
  broken,
  type Evidence,
  heldBy,
  type History,
  type HistoryEvent,
  readsTheSame,
  type Rule,
  sameId,
} from '../../harness/history/index.ts'
import { member, preview } from '../../schemas/json.ts'
import {
  endOf,
  hasEnded,
  isEnded,
  isGone,
  isOwn,
  type Job,
  ownJobs,
  jobsOn,
  statusOf,
} from './jobs.ts'

/** The requirement whose creation made the job. */
export const shownBy = ({ creation }: Job): string | null | undefined =>
  creation.exchange.purpose.requirement
export const isRead = (reading: HistoryEvent): boolean => statusOf(reading) !== undefined

/** Everything that is wrong, or the number of cases in which nothing is. */
export function verdictOf(
  evidence: readonly Evidence[],
  cases: number,
  why: string,
): ReturnType<Rule> {
  const [first, ...more] = evidence
  if (!first) return heldBy(cases, why)
  return { outcome: 'broken', cases, evidence: [first, ...more] }
}

/** The value of a member, as a failure shows it. */
export const told = (name: string, { exchange, body }: HistoryEvent): string => {
  const json = jsonValue(exchange.response)
  const value = member(json ?? body, name)
  return `${name} ${value === undefined ? 'absent' : preview(value)}`
}

const aJob = '200 with a job'

/** An older job that is gone once there is a newer one of its application: a server may know the newest alone. */
function isGoneSinceNewer(history: History, job: Job, reading: HistoryEvent): boolean {
  const before = job.readings.slice(0, job.readings.indexOf(reading))
  const newer = jobsOn(history, job.application).some(
    ({ creation }) => creation.sentAt > job.creation.endedAt && creation.endedAt < reading.sentAt,
  )
  return isGone(reading) && newer && before.some(isRead)
}

/** Readings that count: before `settleMs` have passed a new job may not be found, or break the server until it was read. */
function countedReadings(history: History, job: Job): HistoryEvent[] {
  const found = job.readings.findIndex(isRead)
  return job.readings.filter((reading, at) => {
    const { status, noise, sentAt } = reading
    if (status === undefined || noise === 'throttled') return false
    // An error of a guardrail or of a model comes and goes, and is asked for again.
    if (noise && job.readings.slice(at).some((one) => one.noise === undefined)) return false
    if (isGoneSinceNewer(history, job, reading)) return false
    const settled = sentAt - job.creation.endedAt > history.limits.settleMs
    const wasRead = found >= 0 && at > found && !isGone(reading)
    return status < 300 || settled || wasRead
  })
}

/** What is wrong with the answer to a reading as a job (§2.3, §4.3). */
function wrongReading(job: Job, reading: HistoryEvent): Evidence | undefined {
  const { exchange, status } = reading
  const by = shownBy(job)
  const fault = exchange.response && shapeFault(exchange.response, 'job')
  if (status === 200 && !fault) return undefined
  // Read as it should be before and after it: the answers differ by themselves.
  const at = job.readings.indexOf(reading)
  const isRight = (one: HistoryEvent): boolean =>
    one.exchange.response !== undefined &&
    one.status === 200 &&
    !shapeFault(one.exchange.response, 'job')
  const differs = job.readings.slice(0, at).some(isRight) && job.readings.slice(at).some(isRight)
  const responses = (): string[] =>
    job.readings.map((one) => (isRight(one) ? aJob : describeResponse(one.exchange)))
  const shown = differs ? { ...exchange, finding: differing(responses()) } : exchange
  if (status !== 200 || !fault) return { exchange: shown, what: '', expected: aJob, shownBy: by }
  return { exchange: shown, what: '', shownBy: by, ...fault }
}

/** §2.3, §4.3: a retrieval is answered 200 with a job, in every state. */
export const jobRule: Rule = (history) => {
  const counted = ownJobs(history).flatMap((job) =>
    countedReadings(history, job).map((reading) => ({ job, reading })),
  )
  const wrong = counted.flatMap(({ job, reading }) => wrongReading(job, reading) ?? [])
  return verdictOf(wrong.slice(0, 1), counted.length, 'no job was read')
}

interface Contradiction extends Pick<Evidence, 'actual'> {
  readonly expected: string
  /** What the reading contradicts. */
  readonly against: HistoryEvent
}

/** Evidence that a reading, or a creation, of a job contradicts another answer. */
export function contradiction(
  job: Job,
  { exchange }: HistoryEvent,
  { expected, actual, against }: Contradiction,
): Evidence {
  const what = `for job ${job.id}`
  return { exchange, what, expected, actual, against: against.exchange, shownBy: shownBy(job) }
}

/** Members of a reading that are another job's. */
function wrongMembers(job: Job, reading: HistoryEvent): Evidence[] {
  const own = { id: job.id, application_id: job.application }
  return Object.entries(own).flatMap(([name, value]) => {
    const read = member(reading.body, name)
    // An absent or ill-typed member is a fault of the shape of the job, and reported there.
    if (typeof read !== 'string' || sameId(read, value)) return []
    return [
      contradiction(job, reading, {
        expected: `${name} ${value}`,
        actual: told(name, reading),
        against: job.creation,
      }),
    ]
  })
}

/** The result of an ended job that became that of a newer one of its application: no change of its own. */
function becameNewers(history: History, job: Job): Evidence | undefined {
  const end = endOf(job)
  const own = end && member(end.body, 'data')
  if (!end || own === undefined) return undefined
  const changed = job.readings.find(
    (one) =>
      one.sentAt > end.endedAt && isEnded(one) && !readsTheSame(member(one.body, 'data'), own),
  )
  const shown = changed && member(changed.body, 'data')
  if (!changed || shown === undefined) return undefined
  const newer = jobsOn(history, job.application).find((other) => {
    const its = other.creation.sentAt > job.creation.endedAt ? endOf(other) : undefined
    return its !== undefined && readsTheSame(member(its.body, 'data'), shown)
  })
  if (!newer) return undefined
  const expected = `${told('data', end)}, as when the ended job was read before`
  const actual = `${told('data', changed)}: that is the data of the newer job ${newer.id}`
  return contradiction(job, changed, { expected, actual, against: end })
}

/** §2.3, §2.4: the members of a retrieved job are its own, and no two creations give one id. */
export const identity: Rule = (history) => {
  let cases = 0
  const evidence = ownJobs(history).flatMap((job): Evidence[] => {
    const { id, creation, twinOf, readings } = job
    if (twinOf) {
      const expected = 'an id that no other creation gave'
      return [contradiction(job, creation, { expected, actual: `id ${id}`, against: twinOf })]
    }
    const granted = readings.filter(({ isGranted }) => isGranted)
    cases += granted.filter(({ body }) => typeof member(body, 'id') === 'string').length
    const last = readings.findLast(({ noise }) => noise === undefined)
    const isLost =
      last !== undefined &&
      isGoneSinceNewer(history, job, last) &&
      last.sentAt - creation.endedAt > history.limits.settleMs
    const gone = {
      exchange: last?.exchange as HistoryEvent['exchange'],
      what: `for job ${id}, after newer ones were made`,
      expected: '200 with that job, as when it was read before',
      shownBy: shownBy(job),
    }
    const became = becameNewers(history, job)
    return [
      ...granted.flatMap((reading) => wrongMembers(job, reading)),
      ...(became ? [became] : []),
      ...(isLost ? [gone] : []),
    ]
  })
  return verdictOf(evidence.slice(0, 1), cases + evidence.length, 'no reading of a job had an id')
}

/** §6: a job is completed or failed within `jobTimeoutMs`. */
export const outcomeRule: Rule = (history) => {
  const { jobTimeoutMs } = history.limits
  const expected = `a job that is completed or failed within ${jobTimeoutMs} ms (limits.jobTimeoutMs)`
  let cases = 0
  let open = 'no job was made'
  for (const job of ownJobs(history)) {
    const last = job.readings.findLast(isRead)
    if (job.readings.some(hasEnded)) cases++
    else if (!last) open = 'no reading of a job shows a status'
    else if (isStuck(job, last) || isLate(job, last, history))
      return broken(
        { exchange: last.exchange, what: `for job ${job.id}`, expected, shownBy: shownBy(job) },
        cases + 1,
      )
    else open = 'no job was read until it had ended'
  }
  return heldBy(cases, open)
}

/** A status that the spec does not know, read for so long that it is no state on the way to another, in ms. */
const stuckMs = 2000

const isStuck = ({ readings }: Job, last: HistoryEvent): boolean =>
  isEnded(last) &&
  readings.some((one) => statusOf(one) === statusOf(last) && last.sentAt - one.sentAt >= stuckMs)

const isLate = ({ creation }: Job, last: HistoryEvent, { limits, isRecorded }: History): boolean =>
  !isRecorded && last.sentAt - creation.endedAt >= limits.jobTimeoutMs

/** §2.3, §3: a job of that application ends as failed; `error`, if present, is a string. */
export const failedRule =
  (application: string): Rule =>
  (history) => {
    const expected = 'status failed; error, if present, a string'
    const what = 'of an application whose jobs fail'
    let cases = 0
    // The first one: what is created beside a job may be answered by anything.
    const first = jobsOn(history, application).slice(0, 1)
    for (const job of first) {
      const end = endOf(job)
      if (!end) continue
      cases++
      const error = member(end.body, 'error')
      const isWrong = error !== undefined && typeof error !== 'string'
      if (statusOf(end) === 'failed' && !isWrong) continue
      const actual = statusOf(end) === 'failed' ? told('error', end) : undefined
      return broken(
        { exchange: end.exchange, what, expected, actual, shownBy: shownBy(job) },
        cases,
      )
    }
    const isAnother = first.some((job) =>
      job.readings.some((one) => isEnded(one) && !isOwn(one, job)),
    )
    return heldBy(
      cases,
      isAnother
        ? 'what was read under the id of the job of resources.failingApplication is another job: see jobs.retrieve/200-identity'
        : 'the job of resources.failingApplication did not end in time',
    )
  }
