import { isOwnBreakdown } from '../../harness/client/index.ts'
import {
  describeResponse,
  type Evidence,
  type History,
  type HistoryEvent,
  isConflict,
  type Rule,
  sameId,
  type Verdict,
  verdictOf,
} from '../../harness/journal/index.ts'
import { groupBy } from '../../harness/group-by.ts'
import { seconds } from '../created/rules.ts'
import { mayBeOfRefusals, proofOf, somebodyElse, timesAlike } from './no-effect.ts'
import {
  allAttempts,
  type Application,
  type Attempt,
  attemptsIn,
  createdAt,
  isAlone,
  isAsked,
  isRead,
  type Job,
  lostBefore,
  statusOf,
  viewOf,
  wereTogether,
} from './view.ts'

const conflict = [[409, 'BadRequest']] as const
/** Delay between a job's observed end and the release of its application, in ms. */
const releaseMs = 2000
const isInConflict = (attempt: Attempt): boolean =>
  isAsked(attempt.creation) && isConflict(attempt.creation) && attempt.met.length > 0

interface Beside {
  readonly creation: HistoryEvent
  readonly job: Job
}

const besideOf = (
  attempts: readonly Attempt[],
  jobsOf: (one: Attempt) => readonly Job[],
): Beside[] =>
  attempts
    .filter((attempt) => isAsked(attempt.creation))
    .flatMap((one) => jobsOf(one).map((job) => ({ creation: one.creation, job })))

const ageOf = (beside: Beside): number => beside.creation.sentAt - beside.job.creation.endedAt

/**
 * Readings may be delayed by this, in ms: an accepted creation after a 409 proves a fault if the job goes on for
 * longer. Less for a young job, which may be short.
 */
const lagMs = (beside: Beside): number => Math.min(400, 4 * ageOf(beside))

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
    return mayLag && job.busyUntil < creation.endedAt + lagMs(beside)
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

const attackOf = (event: HistoryEvent): Attack => {
  if (event.kind === 'reading') return 'reading without a key'
  return event.exchange.probe.credential.full ? 'malformed creation' : 'creation without a key'
}

/** Requests that were refused since another creation got 409: they may have taken away the lock. */
function attacksBefore(history: History, beside: Beside): HistoryEvent[] {
  const { creations } = beside.job.application
  const last = creations.findLast((one) => isAsked(one) && one.sentAt < beside.creation.sentAt)
  if (!last || !isConflict(last)) return []
  return [
    ...creations,
    ...history.of(beside.job.id).filter((one) => one.kind === 'reading'),
  ].filter(
    ({ request, sentAt, endedAt }) =>
      request === 'faulty' && sentAt >= last.endedAt && endedAt <= beside.creation.sentAt,
  )
}

const kindsOf = (attacks: readonly HistoryEvent[]): Attack[] => [...new Set(attacks.map(attackOf))]

export interface AttackLook {
  readonly attacks: readonly Attack[]
  /** Jobs beside which each creation after the attacks was accepted. */
  readonly freed: ReadonlySet<Job>
  /** Jobs that were not attacked, with a 409 at an age at which an attacked one was freed. */
  readonly kept: ReadonlySet<Job>
}

/** Undefined unless attacks released the lock of the application each time. */
export function attackLook(history: History, attempts: readonly Attempt[]): AttackLook | undefined {
  const withAttacks = (one: Beside) => ({ ...one, attacks: kindsOf(attacksBefore(history, one)) })
  const isAttacked = (one: { readonly attacks: readonly Attack[] }) => one.attacks.length > 0
  const granted = besideOf(attempts, (one) => one.beside)
    .filter((one) => one.creation.isGranted)
    .map(withAttacks)
    .filter(isAttacked)
  // So it is on most servers.
  if (granted.length === 0) return undefined
  const refused = besideOf(attempts, (one) => one.met)
    .filter((one) => isConflict(one.creation))
    .map(withAttacks)
  const isKept = (other: (typeof granted)[number]): boolean =>
    refused.some((one) => String(one.attacks) === String(other.attacks))
  const first = granted.find((one) => !isKept(one))
  if (!first) return undefined
  const freed = granted.filter((one) => String(one.attacks) === String(first.attacks))
  const attacked = new Set([...granted, ...refused.filter(isAttacked)].map((one) => one.job))
  const age = Math.min(...freed.map(ageOf))
  const kept = refused.filter((one) => !attacked.has(one.job) && ageOf(one) >= age)
  return {
    attacks: first.attacks,
    freed: new Set(freed.map((one) => one.job)),
    kept: new Set(kept.map((one) => one.job)),
  }
}

/** All of several simultaneous creations broke down, though one of them made a job. */
function brokenRace(job: Job): Evidence[] {
  const others = job.application.creations.filter(
    (one) => isAsked(one) && wereTogether(one, job.creation),
  )
  const isBroken = (event: HistoryEvent): boolean =>
    isOwnBreakdown(event.exchange) && event.endedAt <= job.busyUntil
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

/** §4.2, §8: a creation while a job of its application is in progress gets 409 BadRequest. */
export const inProgress: Rule = (history) => {
  const excuses: string[] = []
  let conflicts = 0
  const evidence = [...attemptsIn(history)].flatMap(([{ jobs }, attempts]): Evidence[] => {
    const all = besideOf(attempts, (one) => one.beside)
    const look = attackLook(history, attempts)
    const isProven = look && look.freed.size >= timesAlike && look.kept.size >= timesAlike
    const wronglyAnswered = (beside: Beside): Evidence[] => {
      const { creation, job } = beside
      if (isConflict(creation)) return []
      const attacks = attacksBefore(history, beside)
      const isFreed = isProven && String(kindsOf(attacks)) === String(look.attacks)
      const excuse = isFreed ? undefined : excuseFor(history, beside, all)
      if (excuse !== undefined) {
        excuses.push(excuse)
        return []
      }
      const refusals = attacks.map(
        (attack) =>
          `${attack.kind === 'reading' ? 'a reading of it' : 'another'} was refused (${describeResponse(attack.exchange)})`,
      )
      const values = creation.request === 'odd' ? 'with other values' : 'with the same inputs'
      const after = refusals.length === 0 ? '' : `, after ${refusals.join(' and ')}`
      const before = job.creation.exchange
      return [
        {
          exchange: creation.exchange,
          what: `${values}${after}, while job ${job.id} of the application was in progress`,
          expected: '409 BadRequest',
          before,
          shownBy: before.purpose.requirement,
          ...(after !== '' && { takes: 'refusal-before' as const }),
        },
      ]
    }
    const refused = attempts.filter(isInConflict)
    conflicts += refused.length
    const what = 'with a valid body, while a job of the application was in progress'
    return [
      ...all.flatMap(wronglyAnswered),
      ...refused
        .filter(({ creation: { tpe } }) => tpe !== 'BadRequest')
        .map(({ creation: { exchange } }) => ({ exchange, what, expected: conflict })),
      ...(history.isRecorded ? [] : jobs.flatMap(brokenRace)),
    ]
  })
  const cases = conflicts + Math.min(evidence.length, 1)
  return verdictOf(
    evidence,
    cases,
    () => (excuses.at(-1) ?? unseen(viewOf(history).jobs)) + remedy(history),
  )
}

function unseen(jobs: readonly Job[]): string {
  if (jobs.length === 0) return 'no creation was accepted, so no job was in progress'
  return jobs.some((job) => job.readings.some(isRead))
    ? 'no creation was answered while a job was seen in progress'
    : 'no job could be read'
}

function asksTheSame({ creation, met, beside }: Attempt): boolean[] {
  const { status = 0, request, exchange } = creation
  const jobs = isConflict(creation) ? met : status >= 400 ? beside : []
  if (!isAsked(creation) || jobs.length === 0) return []
  return [
    jobs.some(
      (job) =>
        job.creation.request === request &&
        job.creation.exchange.probe.body === exchange.probe.body,
    ),
  ]
}

/** Held only if both equal inputs and other values were tried beside a job: servers may compare requests. */
export const inProgressWithOthers: Rule = (history) => {
  const verdict = inProgress(history)
  if (verdict.outcome !== 'held') return verdict
  const tried = allAttempts(history).flatMap(asksTheSame)
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
      open = 'two concurrent creations were accepted, but the jobs ended before they could be read'
      if (sameId(one.id, other.id)) {
        open = `two concurrent creations returned the same id, ${one.id}: readings cannot distinguish them`
      } else if (areBoth(one, other) || areBoth(other, one)) {
        const what = `with a valid body, at the same time as others; jobs ${one.id} and ${other.id} were then both read as in progress`
        const expected = '409 BadRequest for all but one of several concurrent creations'
        return verdictOf([{ exchange: creation.exchange, what, expected }], 1, open)
      }
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

function burstsIn(attempts: readonly Attempt[]): Attempt[][] {
  const bursts: Attempt[][] = []
  let until = -Infinity
  for (const attempt of attempts.filter((attempt) => isAsked(attempt.creation))) {
    const { sentAt, endedAt } = attempt.creation
    if (sentAt >= until) bursts.push([])
    bursts.at(-1)?.push(attempt)
    until = Math.max(until, endedAt)
  }
  return bursts.filter((burst) => burst.length > 1)
}

/** All of several simultaneous creations are refused each time, although the application is free. */
export function refusedTogether(history: History): Evidence | undefined {
  if (released(history).outcome === 'broken') return undefined
  const isFree = ({ creation, freeSince = Infinity }: Attempt): boolean =>
    creation.sentAt - freeSince >= releaseMs * 0.95 && isApartFrom(history, [creation])
  const looks = [...attemptsIn(history)].map(([application, attempts]) => {
    const bursts = burstsIn(attempts).filter(([first]) => isFree(first!))
    const refused = bursts.filter((burst) => burst.every((one) => isConflict(one.creation)))
    return { application, bursts, refused }
  })
  const found = proofOf(
    history,
    looks.filter(
      ({ application: { creations }, bursts, refused }) =>
        refused.length >= timesAlike &&
        refused.length === bursts.length &&
        // After each burst, the application accepted a single creation.
        refused.every(([first], at) => {
          const next = refused[at + 1]?.[0]?.creation.sentAt ?? Infinity
          return creations.some(
            (creation) =>
              creation.isGranted &&
              creation.sentAt > first!.creation.sentAt &&
              creation.sentAt < next,
          )
        }) &&
        !refused.flat().some((one) => mayBeOfRefusals(history, one.creation)),
    ),
    looks.filter((look) => look.bursts.length > 0),
  )
  const [first] = found?.refused ?? []
  if (!found || !first?.[0]) return undefined
  const { exchange } = first[0].creation
  const what = `with a valid body, as one of ${first.length} at the same time on an application without a job: all were refused, in ${found.refused.length} attempts${somebodyElse(found.application)}`
  return { exchange, what, expected: '202 for one of several concurrent creations' }
}
