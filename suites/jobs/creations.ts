import { isOwnBreakdown } from '../../harness/client/index.ts'
import { shapeFault } from '../../harness/run/index.ts'
import {
  isBreakdown,
  eachOf,
  type Evidence,
  type History,
  type HistoryEvent,
  isConflict,
  type Rule,
  verdictOf,
  describeResponse,
  sameId,
  type Verdict,
  derived,
} from '../../harness/journal/index.ts'
import { seconds } from '../created/rules.ts'
import {
  type Attempt,
  attemptsIn,
  isAlone,
  isAsked,
  ownJobs,
  wereTogether,
  allAttempts,
  type Application,
  createdAt,
  isRead,
  type Job,
  lostBefore,
  statusOf,
  viewOf,
} from './view.ts'
import { groupBy } from '../../harness/group-by.ts'

const created = '202 with the id, status and created_at of the new job'

const wrong = (event: HistoryEvent, more: Partial<Evidence> = {}): Evidence => ({
  ...{ exchange: event.exchange, what: 'with a valid body', expected: created },
  ...more,
})

function wrongAnswer(creation: HistoryEvent): Evidence | undefined {
  const { response } = creation.exchange
  if (creation.status !== 202) return wrong(creation)
  const fault = response && shapeFault(response, 'created-job')
  return fault && wrong(creation, fault)
}

function breakdownIn(attempts: readonly Attempt[]): Evidence | undefined {
  if (!attempts.some((attempt) => attempt.creation.isGranted)) return undefined
  const found = attempts.find((attempt) => {
    const { request, exchange } = attempt.creation
    const { response } = exchange
    const isOwn = response && isBreakdown(response) && ![502, 504].includes(response.status)
    return (
      request === 'valid' &&
      isOwn &&
      attempt.met.length === 0 &&
      !attempts.some((one) => wereTogether(one.creation, attempt.creation))
    )
  })
  return found && wrong(found.creation)
}

/**
 * Before the first job of an application that the run made: no other client can have one there, but a platform may
 * start its own.
 */
function refusedWhenNew(history: History, attempts: readonly Attempt[]): Evidence | undefined {
  const [{ application } = {}] = attempts
  if (application?.madeAt === undefined) return undefined
  const { madeAt, creations } = application
  const [first, ...more] = creations
  const isRefused = (one: HistoryEvent): boolean => isAsked(one) && isConflict(one)
  if (!first || !isRefused(first)) return undefined
  const isApart = perApplication(history).outcome === 'held'
  const end = more.findIndex((one) => !isRefused(one))
  const alike = [first, ...(end < 0 ? more : more.slice(0, end))]
  const granted = end < 0 ? Infinity : more[end]!.sentAt
  const late = alike.find(
    (one) =>
      one.sentAt - madeAt > history.limits.settleMs &&
      one.endedAt < granted &&
      (isApart || isAlone(history, one)),
  )
  if (!late) return undefined
  const what = `on an application that was made ${seconds(late.sentAt - madeAt)} before, and has had no job`
  const expected = `202: nobody else uses it, and what the platform does with a new one is over after ${history.limits.settleMs} ms (limits.settleMs)`
  return { exchange: late.exchange, what, expected }
}

export const neverBusyWhenNew: Rule = (history) => {
  const all = [...attemptsIn(history).values()]
  const found = all.flatMap((attempts) => refusedWhenNew(history, attempts) ?? [])
  return verdictOf(found.slice(0, 1), Math.min(found.length, 1), 'no application was created')
}

const grantedIn = (history: History): HistoryEvent[] =>
  history.events.filter((one) => one.operation === 'jobs.create' && one.isGranted && isAsked(one))

/** Whether some creation was answered as documented, so that a wrong answer is an exception. */
export const isSomeCreated = (history: History): boolean =>
  grantedIn(history).some((one) => !wrongAnswer(one))

export const createdRule: Rule = (history) => {
  const granted = grantedIn(history)
  const all = [...attemptsIn(history).values()]
  const evidence = [
    ...granted.map(wrongAnswer),
    ...all.flatMap((one) => [breakdownIn(one), refusedWhenNew(history, one)]),
    refusedTogether(history),
  ].filter((one) => one !== undefined)
  const cases = granted.length + Math.min(evidence.length, 1)
  return verdictOf(evidence, cases, 'no creation was accepted')
}

/** §4.2, §4.3: the id of a creation can be retrieved, at the latest `settleMs` later. */
export const retrievable = eachOf(
  ownJobs,
  (other, { limits: { settleMs } }) => {
    const own = other.readings.filter((one) => one.key === other.creation.key)
    if (own.some((one) => one.status === 200)) return 'held'
    const last = own.findLast((one) => one.status !== undefined)
    const afterMs = (last?.sentAt ?? 0) - other.creation.endedAt
    if (!last || !(afterMs >= settleMs) || last.status === 403) return undefined
    const expected = `200: the id that the creation returned can be retrieved, at the latest ${settleMs} ms later (limits.settleMs)`
    const shownBy = other.creation.exchange.purpose.requirement
    const what = `${seconds(afterMs)} after the creation of the job`
    return { exchange: last.exchange, what, expected, shownBy }
  },
  ({ limits: { settleMs } }) =>
    `no job was read for ${settleMs} ms (limits.settleMs) or until it was found`,
)

const conflict = [[409, 'BadRequest']] as const
/** Delay between a job's observed end and the release of its application, in ms. */
const releaseMs = 2000
const isInConflict = ({ creation, met }: Pick<Attempt, 'creation' | 'met'>): boolean =>
  isAsked(creation) && isConflict(creation) && met.length > 0

interface Beside {
  readonly creation: HistoryEvent
  readonly job: Job
}

/**
 * Readings may be delayed by this, in ms: an accepted creation after a 409 proves a fault if the job goes on for
 * longer. Less for a young job, which may be short.
 */
const lagMs = ({ creation, job }: Beside): number =>
  Math.min(400, 4 * (creation.sentAt - job.creation.endedAt))

/** Unanswered creations beside one job, each on a fresh connection, that prove a fault. */
const leastLost = 3

/** Why an answer other than 409 proves nothing, if so. */
function excuseFor(history: History, beside: Beside, all: readonly Beside[]): string | undefined {
  const { creation, job } = beside
  const { isFirst, isGranted, request, sentAt, status } = creation
  const alike = all.filter((one) => one.job === job).map((one) => one.creation)
  const said = `another creation got ${status ?? 'no answer'}`
  if (isGranted) {
    const other = viewOf(history).madeBy(creation)
    // An identical answer repeats the first job; a repeated id may belong to another one.
    if (other && sameId(other.id, job.id))
      return createdAt(creation) === createdAt(job.creation)
        ? undefined
        : `another creation returned the id of the first job, ${job.id}: readings cannot distinguish them`
    const mayLag = alike.some((one) => isConflict(one) && one.sentAt < sentAt)
    return mayLag &&
      job.busyUntil < creation.endedAt + lagMs(beside) &&
      !isFreedEachTime(history, beside)
      ? `${said}, but the first job was seen ended soon after: readings may be delayed`
      : undefined
  }
  if (status === undefined) {
    const lost = alike.filter((one) => one.isFirst)
    const isProof = isFirst && lost.length >= leastLost
    return isProof && lost.every((one) => one.status === undefined) ? undefined : said
  }
  // A server may refuse undeclared values; another requirement checks that a new application exists.
  const isOdd = request === 'odd' && (status === 400 || status >= 500)
  const isMissing = status === 404 && job.application.madeAt !== undefined
  return request === 'unknown' || isOdd || isMissing ? said : undefined
}

/** A request that is refused, and may take away the lock of a job in progress. */
export type Attack = 'malformed creation' | 'creation without a key' | 'reading without a key'

const attackOf = ({ kind, exchange }: HistoryEvent): Attack => {
  if (kind === 'reading') return 'reading without a key'
  return exchange.probe.credential.full ? 'malformed creation' : 'creation without a key'
}

/** What was refused since another creation got 409, and may have taken away the lock. */
function attacksBefore(history: History, { creation, job }: Beside): HistoryEvent[] {
  const { creations } = job.application
  const last = creations.findLast((one) => isAsked(one) && one.sentAt < creation.sentAt)
  if (!last || !isConflict(last)) return []
  return [...creations, ...history.of(job.id)].filter(
    ({ request, sentAt, endedAt }) =>
      request === 'faulty' && sentAt >= last.endedAt && endedAt <= creation.sentAt,
  )
}

/**
 * After which attacks each creation beside a job was accepted, the jobs beside which it was, and those that were not
 * attacked, with a 409 at such an age. Readings may show late that a short job had ended: three of each tell.
 */
export function freedLocks(history: History, application: Application) {
  const looks = (attemptsIn(history).get(application) ?? []).flatMap(({ creation, beside, met }) =>
    (creation.isGranted ? beside : isInConflict({ creation, met }) ? met : []).map((job) => {
      const attacks = [...new Set(attacksBefore(history, { creation, job }).map(attackOf))]
      return { creation, job, attacks, ageMs: creation.sentAt - job.creation.endedAt }
    }),
  )
  const refused = looks.filter((one) => isConflict(one.creation))
  const accepted = looks.filter((one) => one.creation.isGranted && one.attacks.length > 0)
  const first = accepted.find(
    (one) => !refused.some((other) => String(other.attacks) === String(one.attacks)),
  )
  if (!first) return undefined
  const freed = accepted.filter((one) => String(one.attacks) === String(first.attacks))
  const attacked = new Set(looks.flatMap((one) => (one.attacks.length > 0 ? one.job : [])))
  const ageMs = Math.min(...freed.map((one) => one.ageMs))
  const kept = refused.filter((one) => !attacked.has(one.job) && one.ageMs >= ageMs)
  const jobsOf = (some: typeof looks): Set<Job> => new Set(some.map((one) => one.job))
  return { attacks: first.attacks, freed: jobsOf(freed), kept: jobsOf(kept) }
}

function isFreedEachTime(history: History, { job }: Beside): boolean {
  const { freed, kept } = freedLocks(history, job.application) ?? {}
  return freed?.has(job) === true && freed.size >= timesAlike && kept!.size >= timesAlike
}

/** All of several simultaneous creations broke down, though one of them made a job. */
function brokenRace(job: Job): Evidence[] {
  const others = job.application.creations.filter(
    (one) => isAsked(one) && wereTogether(one, job.creation),
  )
  const isBroken = ({ exchange, endedAt }: HistoryEvent): boolean =>
    isOwnBreakdown(exchange) && endedAt <= job.busyUntil
  if (others.length < 2 || !others.every(isBroken)) return []
  const what = `with a valid body, at the same time as others: one of them made job ${job.id}, which was in progress after that`
  return [{ exchange: others[0]!.exchange, what, expected: '409 BadRequest' }]
}

const longEnoughMs = 3000

function remedy(history: History): string {
  const lasted = (job: Job): number => (job.end?.endedAt ?? -Infinity) - job.creation.endedAt
  const [longest] = viewOf(history).jobs.toSorted((one, other) => lasted(other) - lasted(one))
  const ms = longest ? lasted(longest) : -Infinity
  if (!longest || ms < 0 || ms > longEnoughMs || history.isRecorded) return ''
  return `; application ${longest.application.id}: its longest job was seen ended after ${Math.round(ms).toLocaleString('en')} ms: declare as resources.slowApplication one whose jobs last a second or more, and about ten round trips over a network`
}

function unseen(jobs: readonly Job[]): string {
  if (jobs.length === 0) return 'no creation was accepted, so no job was in progress'
  return jobs.some((job) => job.readings.some(isRead))
    ? 'no creation was answered while a job was seen in progress'
    : 'no job could be read'
}

/** §4.2, §8: a creation while a job of its application is in progress gets 409 BadRequest. */
export const inProgress: Rule = (history) => {
  const attempts = allAttempts(history)
  const conflicts = attempts.filter(isInConflict).map((one) => one.creation)
  const all = attempts.flatMap(({ beside, creation }) =>
    isAsked(creation) ? beside.map((job) => ({ creation, job })) : [],
  )
  const judged = all
    .filter((one) => !isConflict(one.creation))
    .map((beside) => ({ ...beside, excuse: excuseFor(history, beside, all) }))
  const accepted = judged
    .filter((one) => one.excuse === undefined)
    .map((beside): Evidence => {
      const { creation, job } = beside
      const values = creation.request === 'odd' ? 'with other values' : 'with the same inputs'
      const refusals = attacksBefore(history, beside).map(
        ({ kind, exchange }) =>
          `${kind === 'reading' ? 'a reading of it' : 'another'} was refused (${describeResponse(exchange)})`,
      )
      const after = refusals.length === 0 ? '' : `, after ${refusals.join(' and ')}`
      const before = job.creation.exchange
      return {
        exchange: creation.exchange,
        what: `${values}${after}, while job ${job.id} of the application was in progress`,
        expected: '409 BadRequest',
        before,
        shownBy: before.purpose.requirement,
        ...(after !== '' && { takes: 'refusal-before' }),
      }
    })
  const what = 'with a valid body, while a job of the application was in progress'
  const misnamed = conflicts
    .filter((one) => one.tpe !== 'BadRequest')
    .map(({ exchange }) => ({ exchange, what, expected: conflict }))
  const races = history.isRecorded ? [] : viewOf(history).jobs.flatMap(brokenRace)
  const evidence = [...accepted, ...misnamed, ...races]
  return verdictOf(
    evidence,
    conflicts.length + Math.min(evidence.length, 1),
    () => (judged.at(-1)?.excuse ?? unseen(viewOf(history).jobs)) + remedy(history),
  )
}

/** Held only if both equal inputs and other values were tried beside a job: servers may compare requests. */
export const inProgressWithOthers: Rule = (history) => {
  const verdict = inProgress(history)
  if (verdict.outcome !== 'held') return verdict
  const tried = allAttempts(history).flatMap(({ creation, met, beside }) => {
    const jobs = isConflict(creation) ? met : (creation.status ?? 0) >= 400 ? beside : []
    const isSame = (job: Job): boolean =>
      job.creation.request === creation.request &&
      job.creation.exchange.probe.body === creation.exchange.probe.body
    return isAsked(creation) && jobs.length > 0 ? jobs.some(isSame) : []
  })
  if (tried.includes(true) && tried.includes(false)) return verdict
  const values = tried.includes(true) ? 'with other values' : 'with the same inputs'
  const why = `no creation ${values} was answered while a job was in progress`
  return { outcome: 'open', why: why + remedy(history) }
}

function areBoth(one: Job, other: Job): boolean {
  const { inProgress: mine } = one
  const [first, last] = [mine[0], mine.at(-1)]
  return other.inProgress.some(
    (each) => first && last && first.endedAt <= each.sentAt && last.sentAt >= each.endedAt,
  )
}

/** §8: no two of simultaneous creations make jobs that are in progress together. */
export const atomic: Rule = (history) => {
  let [cases, open] = [0, 'no concurrent creation got 409']
  for (const { creation, met } of allAttempts(history)) {
    for (const one of met.filter((job) => wereTogether(creation, job.creation))) {
      if (isAsked(creation) && isConflict(creation)) cases++
      const other = viewOf(history).madeBy(creation)
      if (!other) continue
      open = sameId(one.id, other.id)
        ? `two concurrent creations returned the same id, ${one.id}: readings cannot distinguish them`
        : 'two concurrent creations were accepted, but the jobs ended before they could be read'
      if (sameId(one.id, other.id) || !(areBoth(one, other) || areBoth(other, one))) continue
      const what = `with a valid body, at the same time as others; jobs ${one.id} and ${other.id} were then both read as in progress`
      const expected = '409 BadRequest for all but one of several concurrent creations'
      return verdictOf([{ exchange: creation.exchange, what, expected }], 1, open)
    }
  }
  return verdictOf([], cases, open)
}

/** §8: a job in progress on one application does not block another one. */
export const perApplication: Rule = (history) => {
  const looks = [...attemptsIn(history)].map(([application, attempts]) => {
    // On a free application, while a job of another one is in progress.
    const beside = attempts
      .filter(({ creation, freeSince = Infinity }) => {
        const freeMs = creation.sentAt - freeSince
        return freeMs >= (isConflict(creation) ? releaseMs : 0)
      })
      .flatMap((attempt) => attempt.elsewhere.map((job) => ({ creation: attempt.creation, job })))
    const granted = beside.filter((one) => one.creation.isGranted).length
    // Counts only if the application accepts a creation after the other job.
    const blocked = beside.filter(
      ({ creation, job: { end } }) =>
        isConflict(creation) &&
        !lostBefore(application, creation.sentAt) &&
        !mayBeOfRefusals(history, creation) &&
        application.creations.some(
          (one) => one.isGranted && one.sentAt > (end?.endedAt ?? Infinity),
        ),
    )
    const times = new Set(blocked.map((one) => one.job)).size
    return { application, granted, blocked, times }
  })
  const shown = looks.filter((look) => look.granted === 0 && look.times >= timesAlike)
  // One or two 409s are inconclusive.
  const looked = looks.filter((look) => look.granted > 0 || look.times >= timesAlike)
  const found = proofOf(history, shown, looked)
  if (found) {
    const [{ creation, job }] = found.blocked as [Beside]
    const what = `with a valid body, while only job ${job.id} of another application was in progress, in ${found.times} attempts${somebodyElse(found.application)}`
    const expected = '202: a job in progress on another application is not a conflict'
    return verdictOf([{ exchange: creation.exchange, what, expected }], 1, '')
  }
  const cases = looks.reduce((sum, look) => sum + look.granted, 0)
  const most = Math.max(0, ...looks.map((look) => look.times))
  const why =
    most > 0
      ? `the other application was busy during a job in ${most} attempts`
      : 'no creation was answered while another application was seen with a job in progress'
  return withConflict(
    history,
    verdictOf([], cases, () => why + remedy(history)),
  )
}

function withConflict(history: History, verdict: Verdict): Verdict {
  if (verdict.outcome !== 'held' || allAttempts(history).some(isInConflict)) return verdict
  return { outcome: 'open', why: 'no creation got 409 in this run' }
}

function isApartFrom(history: History, creations: readonly HistoryEvent[]): boolean {
  return (
    perApplication(history).outcome === 'held' || creations.some((one) => isAlone(history, one))
  )
}

/** §4.2: once its job has ended, the application accepts another one. */
export const released: Rule = (history) => {
  let open = 'no reading showed a job of the application ended'
  const shown: { application: Application; kept: HistoryEvent[]; keptMs: number }[] = []
  const looked: { application: Application }[] = []
  let cases = 0
  for (const [application, attempts] of attemptsIn(history)) {
    const after = attempts.filter(({ freeSince = -Infinity }) => freeSince > -Infinity)
    const granted = after.filter((one) => one.creation.isGranted).length
    cases += granted
    if (granted > 0) looked.push({ application })
    const refused = after.filter((one) => isConflict(one.creation))
    for (const row of groupBy(refused, (one) => one.freeSince).values()) {
      const kept = row.map((one) => one.creation)
      const last = kept.at(-1)!
      const keptMs = last.sentAt - kept[0]!.sentAt
      const isLong = kept.length >= timesAlike && keptMs >= releaseMs * 0.95
      if (!isLong || kept.some((one) => mayBeOfRefusals(history, one))) continue
      if (lostBefore(application, last.sentAt))
        open = 'a creation that got no answer may have started a job that nobody knows of'
      else if (!isApartFrom(history, kept))
        open = 'a job of one application may block another: see jobs.create/409-per-application'
      else shown.push({ application, kept, keptMs })
    }
  }
  // Nobody else's jobs take turns for so long without a gap.
  const isEndless = (one: (typeof shown)[number]): boolean =>
    !history.isRecorded && one.keptMs >= history.limits.jobTimeoutMs * 0.95
  const found = proofOf(history, shown, looked) ?? shown.find(isEndless)
  if (found) {
    const { application, kept, keptMs } = found
    const end = application.jobs.flatMap((job) => job.end ?? []).at(-1)
    const ended = end && statusOf(end) === 'failed' ? 'failed' : 'ended'
    const what = `with a valid body, after a retrieval showed the last job of the application ${ended}, and so were ${kept.length - 1} more in ${seconds(keptMs)}${somebodyElse(application)}`
    const expected = '202, as the application has no job in progress'
    return verdictOf([{ exchange: kept.at(-1)!.exchange, what, expected }], kept.length, open)
  }
  if (shown.length > 0)
    open =
      "the application was busy after its last known job: somebody else's job would look the same"
  return withConflict(history, verdictOf([], cases, open))
}

/** Creations that overlap, by the first of each group. */
function burstsIn(attempts: readonly Attempt[]): Attempt[][] {
  const bursts: Attempt[][] = []
  for (const attempt of attempts.filter((one) => isAsked(one.creation))) {
    const last = bursts.at(-1)
    if (last?.some((one) => one.creation.endedAt > attempt.creation.sentAt)) last.push(attempt)
    else bursts.push([attempt])
  }
  return bursts
}

/** All of several simultaneous creations are refused each time, although the application is free. */
export function refusedTogether(history: History): Evidence | undefined {
  if (released(history).outcome === 'broken') return undefined
  const isRefused = (burst: readonly Attempt[]): boolean =>
    burst.every((one) => isConflict(one.creation))
  const looks = [...attemptsIn(history)].map(([application, attempts]) => {
    const all = burstsIn(attempts)
    const bursts = all.filter(([first, ...more]) => {
      const { creation, freeSince = Infinity } = first!
      const isFree = creation.sentAt - freeSince >= releaseMs * 0.95
      return more.length > 0 && isFree && isApartFrom(history, [creation])
    })
    // After each burst, the application accepted a single creation.
    const refused = bursts.filter(
      (burst) => isRefused(burst) && all[all.indexOf(burst) + 1]?.[0]?.creation.isGranted,
    )
    return { application, bursts, refused }
  })
  const found = proofOf(
    history,
    looks.filter(
      ({ bursts, refused }) =>
        refused.length >= timesAlike &&
        refused.length === bursts.length &&
        !refused.flat().some((one) => mayBeOfRefusals(history, one.creation)),
    ),
    looks.filter((look) => look.bursts.length > 0),
  )
  const [first] = found?.refused ?? []
  if (!found || !first) return undefined
  const { exchange } = first[0]!.creation
  const what = `with a valid body, as one of ${first.length} at the same time on an application without a job: all were refused, in ${found.refused.length} attempts${somebodyElse(found.application)}`
  return { exchange, what, expected: '202 for one of several concurrent creations' }
}

/** Observations needed where another client's job could look the same. */
export const timesAlike = 3
const somebodyElse = (application: Application): string =>
  application.madeAt === undefined
    ? ' (a job of somebody else, or of another run, would look the same)'
    : ''

/**
 * The application that proves a fault: preferably one that the run made, since nobody else uses it. A declared one
 * counts only if no application of the run could show the fault.
 * @param looked those that show the fault or its absence
 */
function proofOf<T extends { readonly application: Application }>(
  history: History,
  shown: readonly T[],
  looked: readonly Pick<T, 'application'>[],
): T | undefined {
  const isMade = ({ application: { madeAt } }: Pick<T, 'application'>): boolean =>
    madeAt !== undefined
  return shown.find(isMade) ?? (history.isRecorded || looked.some(isMade) ? undefined : shown[0])
}

/** Time in which an effect of a refusal shows, in ms. */
export const windowMs = 2000
export const moments = [500, 1000, 1700] as const
/** Bounds of intervals after a refusal that count as equal: at once, and later moments. */
const untilMs = [350, 800, 1400, windowMs] as const

/** A creation on an application without known jobs in progress, and the refusals since the last accepted one. */
interface Look extends Attempt {
  readonly refused: readonly HistoryEvent[]
  /** From the last refusal of each kind (its fault or answer, and about when) to the creation, in ms. */
  readonly kinds: ReadonlyMap<string, number>
  /** The first 409 after an accepted creation. */
  readonly isBlocked: boolean
}

function isRefused({ status = 0, request }: HistoryEvent): boolean {
  const isClients = status >= 400 && status < 500 && status !== 409
  return isClients && (request === 'faulty' || request === 'unknown')
}

const looksIn = derived((history): Look[] => {
  const ofNone = allAttempts(history)
    .map((attempt) => attempt.creation)
    .filter((one) => isRefused(one) && one.status === 404)
  return [...attemptsIn(history).values()].flatMap((attempts) => {
    // A creation refused beside a job cannot start another one.
    const own = attempts.flatMap(({ beside, creation }) =>
      isRefused(creation) && beside.length === 0 ? creation : [],
    )
    const refusals = [...new Set([...own, ...ofNone])].sort((a, b) => a.sentAt - b.sentAt)
    let last: HistoryEvent | undefined
    let grantedAt = -Infinity
    return attempts.flatMap((attempt): Look[] => {
      const { creation, freeSince, met } = attempt
      const { sentAt } = creation
      if (isRefused(creation)) return []
      const isBlocked = isConflict(creation) && last?.isGranted !== false
      const from = Math.max(grantedAt, sentAt - windowMs)
      last = creation
      if (creation.isGranted) grantedAt = creation.endedAt
      // Of simultaneous creations, one may be refused because of another.
      const isRaced = met.some((job) => wereTogether(creation, job.creation))
      if (freeSince === undefined || isRaced) return []
      const refused = refusals.filter((one) => one.sentAt >= from && one.endedAt <= sentAt)
      const kindOf = ({ fault, status, tpe, endedAt }: HistoryEvent): string =>
        `${fault ?? `${status} ${tpe}`} ${untilMs.findIndex((ms) => sentAt - endedAt <= ms)}`
      const kinds = new Map(refused.map((one) => [kindOf(one), sentAt - one.endedAt]))
      return [{ ...attempt, refused, kinds, isBlocked }]
    })
  })
})

const isGranted = (look: Look): boolean => look.creation.isGranted

/** Looks that refusals may have blocked, unless the same refusals did no harm at another time or place. */
const suspicious = derived((history): Look[] => {
  const harmless = looksIn(history).filter(isGranted)
  return looksIn(history).filter(
    ({ isBlocked, kinds }) =>
      isBlocked &&
      [...kinds].some(([kind, ms]) =>
        // The effect of a refusal may be over a moment later.
        harmless.every((one) => (one.kinds.get(kind) ?? Infinity) > 1.25 * ms + 5),
      ),
  )
})

export const isSuspectedElsewhere = (history: History, application: string): boolean =>
  suspicious(history).some((look) => !sameId(look.application.id, application))

const mayBeOfRefusals = (history: History, creation: HistoryEvent): boolean =>
  suspicious(history).some((look) => look.creation === creation) ||
  (looksIn(history).some((look) => look.creation === creation && look.refused.length > 0) &&
    noEffect(history).outcome === 'broken')

const isLater = (look: Look, one: Look): boolean =>
  look.application === one.application && look.creation.sentAt > one.creation.sentAt

/** Looks after one kind of refusals, while creations without refusals were accepted since the first. */
function blockedEachTime(looks: readonly Look[], suspects: readonly Look[]): Look[] {
  const groups = groupBy(
    suspects.filter((suspect) => suspect.kinds.size === 1),
    (one) => `${one.application.id} ${[...one.kinds.keys()].join()}`,
  )
  const isProven = (group: readonly Look[]): boolean => {
    const bare = looks.filter((look) => look.refused.length === 0 && isLater(look, group[0]!))
    return bare.filter(isGranted).length >= timesAlike && !bare.some((one) => one.isBlocked)
  }
  return [...groups.values()].find((group) => group.length >= timesAlike && isProven(group)) ?? []
}

/** §8: a refused creation starts no job: later creations get the same answers as without it. */
export const noEffect: Rule = (history) => {
  const { jobTimeoutMs } = history.limits
  const looks = looksIn(history)
  const suspects = suspicious(history).filter(
    ({ application, creation }) =>
      !lostBefore(application, creation.sentAt) &&
      // Others may use what the history did not make; in a recording they certainly do.
      (!history.isRecorded || application.madeAt !== undefined),
  )
  const isLocked = (look: Look): boolean => {
    const after = looks.filter((one) => isLater(one, look))
    const forMs = (after.at(-1)?.creation.sentAt ?? 0) - look.creation.sentAt
    return forMs >= jobTimeoutMs && !after.some(isGranted) && look.application.jobs.length > 1
  }
  /** Whether another application was not released without refusals either. */
  const isElsewhere = (look: Look): boolean =>
    looks.some(
      (one) => one.refused.length === 0 && one.isBlocked && one.application !== look.application,
    )
  const each = blockedEachTime(looks, suspects)
  const found = each[0] ?? suspects.find((look) => isLocked(look) && !isElsewhere(look))
  if (found) {
    const { application, creation, refused, kinds } = found
    const [{ exchange, status, tpe }] = refused as [HistoryEvent]
    const ways =
      kinds.size > 1 ? 'in several ways' : (exchange.purpose.what ?? `by ${status} ${tpe}`)
    const ms = Math.round(creation.sentAt - refused.at(-1)!.endedAt)
    const when = ms < untilMs[0] ? 'at once' : `${ms} ms`
    const how = each[0] ? `in ${each.length} attempts` : `and for ${jobTimeoutMs} ms after that`
    const what = `with a valid body, ${when} after ${refused.length > 1 ? 'others were' : 'another was'} refused ${ways}, ${how}${somebodyElse(application)}`
    const expected = '202: a refused creation starts no job'
    return verdictOf([{ exchange: creation.exchange, what, expected }], looks.length, '')
  }
  const cases = new Set(looks.filter(isGranted).flatMap((look) => [...look.kinds.keys()])).size
  const isBusy = looks.some((look) => look.refused.length > 0 && isConflict(look.creation))
  const why = isBusy
    ? 'the application was busy after a refused creation, and after others as well'
    : 'no creation came after a refused one on an application that was free'
  return verdictOf([], cases, why)
}
