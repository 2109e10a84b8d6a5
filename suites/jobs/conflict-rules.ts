import { isOwnBreakdown } from '../../harness/engine/index.ts'
import {
  broken,
  type Evidence,
  heldBy,
  type History,
  type HistoryEvent,
  type Rule,
  sameId,
} from '../../harness/history/index.ts'
import { member } from '../../schemas/json.ts'
import {
  applicationsIn,
  busySpan,
  creationsOn,
  endOf,
  isConflict,
  isOdd,
  isAsked,
  isWithin,
  type Job,
  jobsIn,
  jobsOn,
  madeAt,
  madeBy,
  meeting,
  overlaps,
  possibleSpan,
  readingsInProgress,
  statusOf,
  wereTogether,
} from './jobs.ts'

/** §4.2, §8: what answers a creation while a job of the application is in progress. */
const conflict = [[409, 'BadRequest']] as const
/** What somebody else's job could imitate has to be seen so often. */
export const timesAlike = 3
/** An application may be released so late after its last job was read as ended, in ms. */
export const releaseMs = 2000
/** The words for it. */
export const somebodyElse = (history: History, application: string): string =>
  madeAt(history, application) === undefined ? " (somebody else's job would look the same)" : ''

/** Others may use what the history did not make; in a recording they certainly do. */
export const isProof = (history: History, application: string): boolean =>
  !history.isRecorded || madeAt(history, application) !== undefined

/** A creation that was sent and answered beside a job. */
export interface Beside {
  readonly creation: HistoryEvent
  readonly job: Job
}

/** Valid creations that were sent and answered while a job of their application was in progress beyond doubt. */
function besideJobs(history: History, application: string): Beside[] {
  return meeting(
    creationsOn(history, application).filter(isAsked),
    jobsOn(history, application),
    (job) => busySpan(history, job),
    isWithin,
  )
}

/** Whether it was answered 409, and some job of its application may have been in progress. */
export function conflictsOn(history: History, application: string): HistoryEvent[] {
  const conflicts = creationsOn(history, application).filter(
    (one) => isAsked(one) && isConflict(one),
  )
  const met = meeting(conflicts, jobsOn(history, application), possibleSpan, overlaps)
  return [...new Set(met.map(({ creation }) => creation))]
}

/**
 * After a 409 a creation that is granted proves a fault only if the first job goes on for so long after it, in ms: it may have
 * ended, and its readings lag behind. A young job is given less: that it ended already is not likely, and it may be a short one.
 */
const maxLagMs = 400
const lagByAge = 4

function outlasts(history: History, { creation, job }: Beside): boolean {
  const span = busySpan(history, job)
  const lagMs = Math.min(maxLagMs, lagByAge * (creation.sentAt - job.creation.endedAt))
  return span !== undefined && span.to >= creation.endedAt + lagMs
}

/** Beside one job so many creations have to get no answer, each on a fresh connection, until that is a fault. */
const leastLost = 3

/** Why an answer that is no 409 proves nothing; undefined if it is a fault. */
function excuseFor(history: History, beside: Beside, all: readonly Beside[]): string | undefined {
  const { creation, job } = beside
  const { status, noise, isFirst, sentAt, within = '' } = creation
  const alike = all.filter((one) => one.job === job).map((one) => one.creation)
  const besideAny = all.map((one) => one.creation)
  const refused = besideAny.filter(isConflict)
  const said = `another creation was answered ${status ?? 'nothing'}`
  if (creation.isGranted) {
    const other = madeBy(history, creation)
    // The very same answer is that of the first job; an id that is given again may be another one's.
    if (other && sameId(other.id, job.id))
      return member(creation.body, 'created_at') === member(job.creation.body, 'created_at')
        ? undefined
        : `another creation gave the id of the first job, ${job.id}: no reading tells them apart`
    const mayLag = alike.some((one) => isConflict(one) && one.sentAt < sentAt)
    return mayLag && !outlasts(history, beside)
      ? `${said}, but the first job was read as ended soon after: such readings may lag behind`
      : undefined
  }
  if (creation.request === 'unknown' || noise === 'blocked') return said
  if (noise === 'throttled') {
    // A limit on creations, not on jobs: the answer to the conflict only if all are answered so, beside several jobs.
    const isNamed = creation.exchange.response?.header('retry-after') !== undefined
    const jobs = new Set(all.filter((one) => one.creation.noise === noise).map((one) => one.job))
    const isLimit = isNamed || refused.length > 0 || jobs.size < timesAlike
    return isLimit ? said : undefined
  }
  // What went before on its connection may be to blame: it is sent again on a fresh one.
  if (!isFirst) return said
  if (status === undefined) {
    const isLost = alike.filter((one) => one.isFirst).every((one) => one.status === undefined)
    return isLost && alike.length >= leastLost ? undefined : said
  }
  // A server may refuse values that nobody declared; whether a new application is there is told by another requirement.
  if (isOdd(creation) && (status === 400 || status >= 500)) return said
  return status === 404 && madeAt(history, within) !== undefined ? said : undefined
}

/** Creations that came together with the one that made a job, all of which broke down: their answer to the conflict. */
function brokenRace(history: History, job: Job): Evidence | undefined {
  const span = busySpan(history, job)
  const beside = creationsOn(history, job.application).filter(
    (one) => isAsked(one) && wereTogether(one, job.creation),
  )
  const [first] = beside
  const areBroken = beside.every(
    (one) =>
      one.status !== undefined && isOwnBreakdown(one.exchange) && one.endedAt <= (span?.to ?? 0),
  )
  if (!first || beside.length < 2 || !areBroken) return undefined
  const what = `with a valid body, at the same time as others: one of them made job ${job.id}, which was in progress after that`
  return { exchange: first.exchange, what, expected: '409 BadRequest' }
}

/** Where the pause before the end of a job was long enough, in ms. */
const longEnoughMs = 3000

/** Tells what helps if jobs end before anything can be sent beside them. */
export function remedy(history: History): string {
  const lengths = jobsIn(history).map((job) => ({
    job,
    ms: (endOf(job)?.endedAt ?? -Infinity) - job.creation.endedAt,
  }))
  const [longest] = lengths.sort((one, other) => other.ms - one.ms)
  if (!longest || longest.ms < 0 || longest.ms > longEnoughMs || history.isRecorded) return ''
  const took = `its longest job was read as ended after ${Math.round(longest.ms).toLocaleString('en')} ms`
  const wanted = 'one whose jobs last a second or more, and some ten round trips over a network'
  return `; application ${longest.job.application}: ${took}: declare as resources.slowApplication ${wanted}`
}

/** §4.2, §8: a creation while a job of its application is in progress is answered 409 BadRequest. */
export const inProgress: Rule = (history) => {
  const excuses: string[] = []
  let cases = 0
  const evidence: Evidence[] = []
  const fail = (found: Evidence): number => evidence.push(found)
  for (const application of applicationsIn(history)) {
    const all = besideJobs(history, application)
    for (const beside of all) {
      const { creation, job } = beside
      if (isConflict(creation)) continue
      const excuse = excuseFor(history, beside, all)
      if (excuse !== undefined) {
        excuses.push(excuse)
        continue
      }
      const values = isOdd(creation) ? 'with other values' : 'with the same inputs'
      const what = `${values}, while job ${job.id} of the application was in progress`
      const shownBy = job.creation.exchange.purpose.requirement
      fail({ exchange: creation.exchange, what, expected: '409 BadRequest', shownBy })
    }
    const conflicts = conflictsOn(history, application)
    cases += conflicts.length
    const what = 'with a valid body, while a job of the application was in progress'
    for (const { exchange, tpe } of conflicts)
      if (tpe !== 'BadRequest') fail({ exchange, what, expected: conflict })
    for (const job of history.isRecorded ? [] : jobsOn(history, application)) {
      const race = brokenRace(history, job)
      if (race) fail(race)
    }
  }
  const [first, ...more] = evidence
  if (first) return { outcome: 'broken', cases: cases + 1, evidence: [first, ...more] }
  return heldBy(cases, (excuses.at(-1) ?? unseen(history)) + remedy(history))
}

function unseen(history: History): string {
  const jobs = jobsIn(history)
  if (jobs.length === 0) return 'no creation was granted, so no job was in progress'
  return jobs.some(({ readings }) => readings.some((one) => statusOf(one) !== undefined))
    ? 'no creation was answered while a reading showed a job in progress'
    : 'no job could be read'
}

/** Pairs of jobs of one application whose creations came at the same moment. */
function togetherOn(history: History, application: string): (readonly [Job, Job])[] {
  const jobs = jobsOn(history, application)
  const span = ({ creation: { sentAt, endedAt } }: Job) => ({ from: sentAt, to: endedAt })
  const creations = jobs.map(({ creation }) => creation)
  return meeting(creations, jobs, span, overlaps).flatMap(({ creation, job }) => {
    const other = jobs.find((one) => one.creation === creation)
    return other && jobs.indexOf(job) < jobs.indexOf(other) ? [[job, other] as const] : []
  })
}

/** Whether one reading of a job in progress lies between two of another one. */
function areBoth(history: History, one: Job, other: Job): boolean {
  const [mine, theirs] = [readingsInProgress(history, one), readingsInProgress(history, other)]
  const [first, last] = [mine[0], mine.at(-1)]
  return theirs.some(
    ({ sentAt, endedAt }) => first && last && first.endedAt <= sentAt && last.sentAt >= endedAt,
  )
}

/** §8: of creations at the same moment no two make jobs that are in progress together. */
export const atomic: Rule = (history) => {
  let [cases, open] = [0, 'no concurrent creation was answered 409']
  for (const application of applicationsIn(history)) {
    for (const [one, other] of togetherOn(history, application)) {
      open = 'two concurrent creations were granted, but the jobs ended before they could be read'
      if (sameId(one.id, other.id)) {
        open = `two concurrent creations gave the same id, ${one.id}: no reading tells them apart`
      } else if (areBoth(history, one, other) || areBoth(history, other, one)) {
        const what = `with a valid body, at the same time as others; jobs ${one.id} and ${other.id} were then both read as in progress`
        const expected = '409 BadRequest for all but one of several concurrent creations'
        return broken({ exchange: other.creation.exchange, what, expected })
      }
    }
    const all = creationsOn(history, application)
    const refused = all.filter((one) => isAsked(one) && isConflict(one))
    const made = jobsOn(history, application).map(({ creation }) => creation)
    const span = ({ creation: { sentAt, endedAt } }: Job) => ({ from: sentAt, to: endedAt })
    if (made.length > 0)
      cases += meeting(refused, jobsOn(history, application), span, overlaps).length
  }
  return heldBy(cases, open)
}

/** `2.1 s` */
export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`
