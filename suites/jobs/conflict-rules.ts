import { groupBy } from '../../harness/group-by.ts'
import { isOwnBreakdown } from '../../harness/engine/index.ts'
import {
  type Evidence,
  type History,
  type HistoryEvent,
  type Rule,
  sameId,
  verdictOf,
} from '../../harness/history/index.ts'
import { member } from '../../schemas/json.ts'
import {
  type Application,
  applicationsIn,
  isConflict,
  isOdd,
  isAsked,
  isRead,
  type Job,
  jobsIn,
  madeBy,
} from './jobs.ts'
import {
  type Beside,
  busySpan,
  creationSpan,
  endOf,
  isWithin,
  meeting,
  possibleSpan,
  readingsInProgress,
  wereTogether,
} from './spans.ts'

/** §4.2, §8: what answers a creation while a job of the application is in progress. */
const conflict = [[409, 'BadRequest']] as const
/** What somebody else's job could imitate has to be seen so often. */
export const timesAlike = 3
/** An application may be released so late after its last job was read as ended, in ms. */
export const releaseMs = 2000
/** The words for it. */
export const somebodyElse = ({ madeAt }: Application): string =>
  madeAt === undefined ? " (somebody else's job would look the same)" : ''

/** Others may use what the history did not make; in a recording they certainly do. */
export const isProof = ({ isRecorded }: History, { madeAt }: Application): boolean =>
  !isRecorded || madeAt !== undefined

/** Creations that were answered 409 while some job of their application may have been in progress. */
export function conflictsOn({ creations, jobs }: Application): HistoryEvent[] {
  const conflicts = creations.filter((one) => isAsked(one) && isConflict(one))
  return [...new Set(meeting(conflicts, jobs, possibleSpan).map(({ creation }) => creation))]
}

/**
 * After a 409 a creation that is granted proves a fault only if the first job goes on for so long after it, in ms: it may have
 * ended, and its readings lag behind. A young job is given less: that it ended already is not likely, and it may be a short one.
 */
const maxLagMs = 400
const lagByAge = 4

function outlasts({ creation, job }: Beside): boolean {
  const span = busySpan(job)
  const lagMs = Math.min(maxLagMs, lagByAge * (creation.sentAt - job.creation.endedAt))
  return span !== undefined && span.to >= creation.endedAt + lagMs
}

/** Beside one job so many creations have to get no answer, each on a fresh connection, until that is a fault. */
const leastLost = 3

/** Why an answer that is no 409 proves nothing; undefined if it is a fault. */
function excuseFor(history: History, beside: Beside, all: readonly Beside[]): string | undefined {
  const { creation, job } = beside
  const { status, noise, isFirst, sentAt } = creation
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
    return mayLag && !outlasts(beside)
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
  return status === 404 && job.application.madeAt !== undefined ? said : undefined
}

/** Creations that came together with the one that made a job, all of which broke down: their answer to the conflict. */
function brokenRace(job: Job): Evidence | undefined {
  const inProgressUntil = busySpan(job)?.to ?? 0
  const [first, ...more] = job.application.creations.filter(
    (one) => isAsked(one) && wereTogether(one, job.creation),
  )
  const isBroken = ({ status, exchange, endedAt }: HistoryEvent): boolean =>
    status !== undefined && isOwnBreakdown(exchange) && endedAt <= inProgressUntil
  if (!first || more.length === 0 || ![first, ...more].every(isBroken)) return undefined
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
  return `; application ${longest.job.application.id}: ${took}: declare as resources.slowApplication ${wanted}`
}

/** §4.2, §8: a creation while a job of its application is in progress is answered 409 BadRequest. */
export const inProgress: Rule = (history) => {
  const excuses: string[] = []
  let conflicts = 0
  const evidence = applicationsIn(history).flatMap((application): Evidence[] => {
    const { creations, jobs } = application
    const all = meeting(creations.filter(isAsked), jobs, busySpan, isWithin)
    const granted = all.flatMap((beside): Evidence[] => {
      const { creation, job } = beside
      if (isConflict(creation)) return []
      const excuse = excuseFor(history, beside, all)
      if (excuse !== undefined) {
        excuses.push(excuse)
        return []
      }
      const values = isOdd(creation) ? 'with other values' : 'with the same inputs'
      const what = `${values}, while job ${job.id} of the application was in progress`
      const before = job.creation.exchange
      const shownBy = before.purpose.requirement
      return [{ exchange: creation.exchange, what, expected: '409 BadRequest', before, shownBy }]
    })
    const refused = conflictsOn(application)
    conflicts += refused.length
    const what = 'with a valid body, while a job of the application was in progress'
    return [
      ...granted,
      ...refused
        .filter(({ tpe }) => tpe !== 'BadRequest')
        .map(({ exchange }) => ({ exchange, what, expected: conflict })),
      ...(history.isRecorded ? [] : jobs.flatMap((job) => brokenRace(job) ?? [])),
    ]
  })
  const cases = conflicts + Math.min(evidence.length, 1)
  return verdictOf(evidence, cases, () => (excuses.at(-1) ?? unseen(history)) + remedy(history))
}

/** Whether a creation asks for what the one that made the job had asked for. */
const isSame = ({ creation, job }: Beside): boolean =>
  creation.request === job.creation.request &&
  creation.exchange.probe.body === job.creation.exchange.probe.body

/** Whether some creation with the same inputs as a job in progress was refused, and some with other values than any. */
function kindsRefused({ creations, jobs }: Application): { same: boolean; other: boolean } {
  const asked = creations.filter(isAsked)
  const isRefused = ({ status = 0, noise }: HistoryEvent): boolean =>
    status >= 400 && noise === undefined
  const beside = [
    // A 409 shows that some job was in progress.
    ...meeting(asked.filter(isConflict), jobs, possibleSpan),
    ...meeting(asked.filter(isRefused), jobs, busySpan, isWithin),
  ]
  const met = [...groupBy(beside, ({ creation }) => creation).values()]
  return {
    same: met.some((jobsMet) => jobsMet.some(isSame)),
    other: met.some((jobsMet) => !jobsMet.some(isSame)),
  }
}

/** The same, and a server may compare requests: held only if both the same inputs and other values were tried beside a job. */
export const inProgressWithOthers: Rule = (history) => {
  const verdict = inProgress(history)
  const kinds = applicationsIn(history).map(kindsRefused)
  const isTried = (kind: 'same' | 'other'): boolean => kinds.some((one) => one[kind])
  if (verdict.outcome !== 'held' || (isTried('same') && isTried('other'))) return verdict
  const values = isTried('same') ? 'with other values' : 'with the same inputs'
  const why = `no creation ${values} was answered while a job was in progress`
  return { outcome: 'open', why: why + remedy(history) }
}

function unseen(history: History): string {
  const jobs = jobsIn(history)
  if (jobs.length === 0) return 'no creation was granted, so no job was in progress'
  return jobs.some(({ readings }) => readings.some(isRead))
    ? 'no creation was answered while a reading showed a job in progress'
    : 'no job could be read'
}

/** Whether one reading of a job in progress lies between two of another one. */
function areBoth(one: Job, other: Job): boolean {
  const [mine, theirs] = [readingsInProgress(one), readingsInProgress(other)]
  const [first, last] = [mine[0], mine.at(-1)]
  return theirs.some(
    ({ sentAt, endedAt }) => first && last && first.endedAt <= sentAt && last.sentAt >= endedAt,
  )
}

/** §8: of creations at the same moment no two make jobs that are in progress together. */
export const atomic: Rule = (history) => {
  let [cases, open] = [0, 'no concurrent creation was answered 409']
  for (const { creations, jobs } of applicationsIn(history)) {
    for (const { creation, job: one } of meeting(creations, jobs, creationSpan)) {
      const other = madeBy(history, creation)
      if (!other || jobs.indexOf(one) > jobs.indexOf(other)) continue
      open = 'two concurrent creations were granted, but the jobs ended before they could be read'
      if (sameId(one.id, other.id)) {
        open = `two concurrent creations gave the same id, ${one.id}: no reading tells them apart`
      } else if (areBoth(one, other) || areBoth(other, one)) {
        const what = `with a valid body, at the same time as others; jobs ${one.id} and ${other.id} were then both read as in progress`
        const expected = '409 BadRequest for all but one of several concurrent creations'
        return verdictOf([{ exchange: creation.exchange, what, expected }], 1, open)
      }
    }
    const refused = creations.filter((one) => isAsked(one) && isConflict(one))
    cases += meeting(refused, jobs, creationSpan).length
  }
  return verdictOf([], cases, open)
}
