import type { Pairs } from '../../catalogue/answers.ts'
import { requirementById } from '../../catalogue/catalogue.ts'
import { isOwnBreakdown } from '../../harness/client/index.ts'
import { shapeFinding } from '../../harness/run/index.ts'
import {
  eachOf,
  type Evidence,
  type History,
  type HistoryEvent,
  isConflict,
  judged,
  overlaps,
  type Rule,
  seconds,
  timesAlike,
  verdictOf,
  describePairs,
  describeResponse,
  isExpected,
  isMeant,
  sameId,
  derived,
  open,
} from '../../harness/journal/index.ts'
import {
  type Attempt,
  attemptsIn,
  createdAt,
  isBeside,
  type Job,
  statusOf,
  viewOf,
} from './view.ts'
import { groupBy } from '../../harness/group-by.ts'

/** What a creation beside a job gets (§4.2, §8). */
export const conflict = requirementById['jobs.create/409-job-in-progress'].expects as Pairs
/** Between a job's observed end and the release of its application: 2 s, as a timer may fire early. */
const releaseMs = 1900

const isGranted = (attempt: Attempt): boolean => attempt.creation.isGranted
const isBusy = (attempt: Attempt): boolean => isConflict(attempt.creation)

export const createdAnswer = '202 with the id, status and created_at of the new job'

function createdShows({ creation: { exchange, status } }: Attempt) {
  const found = status === 202 ? shapeFinding(exchange, 'created-job') : { expected: createdAnswer }
  if (!found) return 'held'
  if ('reason' in found) return { why: found.reason }
  return { exchange, what: 'with a valid body', ...found }
}

/** On an application of the run, before its first job: only a platform may have started one there. */
function refusedWhenNew(history: History): Evidence[] {
  const { settleMs } = history.limits
  return attemptsIn(history).flatMap((attempts) => {
    const { creations, madeAt = Infinity } = attempts[0]!.application
    const late = attempts.find(
      (attempt) =>
        attempt.creation.sentAt - madeAt > settleMs &&
        creations.every(
          (one) => one.sentAt > attempt.creation.endedAt || (isMeant(one) && isConflict(one)),
        ) &&
        isApart(history, attempt),
    )
    if (!late) return []
    const { exchange, sentAt } = late.creation
    const what = `on an application that was made ${seconds(sentAt - madeAt)} before, and has had no job`
    const expected = `202: nobody else uses it, and what the platform does with a new one is over after ${settleMs} ms (limits.settleMs)`
    return [{ exchange, what, expected }]
  })
}

export const createdRule: Rule = (history) => {
  // In a recording, each accepted creation is judged by itself.
  const granted = history.isRecorded ? [] : attemptsIn(history).flat().filter(isGranted)
  const refused = [...refusedWhenNew(history), refusedTogether(history)]
  return judged([...granted.map(createdShows), ...refused], 'no creation was accepted')
}

// Creations beside a job of the application

interface Beside {
  readonly creation: HistoryEvent
  readonly job: Job
}

const besides = derived((history): Beside[] =>
  attemptsIn(history)
    .flat()
    .flatMap(({ creation, met }) =>
      met
        .filter((job) => job.creation.key === creation.key)
        .filter((job) => isConflict(creation) || isBeside(creation, job))
        .map((job) => ({ creation, job })),
    ),
)

/** Whether an answer other than 409 proves nothing. */
function isExcused(history: History, { creation, job }: Beside): boolean {
  const { request, status } = creation
  const alike = besides(history).flatMap((one) => (one.job === job ? one.creation : []))
  // Only several without an answer prove a fault, unless the client of a recording broke off.
  const isProof = !history.isRecorded && alike.length >= timesAlike
  if (status === undefined) return !isProof || alike.some((one) => one.status !== undefined)
  if (creation.isGranted) {
    const other = viewOf(history).madeBy(creation)
    // An identical answer repeats the first job; a repeated id may belong to another one.
    if (other && sameId(other.id, job.id)) return createdAt(creation) !== createdAt(job.creation)
    // Readings may be late: after a 409, only a job that goes on for longer proves a fault. A young one may be short.
    const lagMs = Math.min(400, 4 * (creation.sentAt - job.creation.endedAt))
    return (
      job.busyUntil < creation.endedAt + lagMs &&
      alike.some((one) => isConflict(one) && one.sentAt < creation.sentAt)
    )
  }
  // A server may refuse undeclared values; another requirement checks that a new application exists.
  const isOdd = status === 400 || status === 404 || status >= 500
  return request === 'unknown' || (request === 'odd' && isOdd)
}

const hasSameInputs = (one: HistoryEvent, other: HistoryEvent): boolean =>
  one.request === other.request && (one.request === 'valid' || one.content === other.content)

function acceptedBeside({ creation, job }: Beside): Evidence {
  const { creations } = job.application
  const earlier = creations.slice(0, creations.indexOf(creation))
  // Refusals may have taken away the lock.
  const refused = earlier.slice(earlier.findLastIndex(isMeant) + 1)
  const answers = refused.map((one) => describeResponse(one.exchange)).join(', ')
  const after = answers && `, after others were refused (${answers})`
  const isSame = hasSameInputs(creation, job.creation)
  const values = isSame ? 'with the same inputs' : 'with other values'
  const before = job.creation.exchange
  return {
    exchange: creation.exchange,
    what: `${values}${after}, while job ${job.id} of the application was in progress`,
    expected: conflict,
    before,
    shownBy: before.purpose.requirement,
    ...(after && { takes: 'refusal-before' }),
  }
}

const rivalsOf = (job: Job): HistoryEvent[] =>
  job.application.creations.filter((one) => isMeant(one) && overlaps(one, job.creation))

/** All of several simultaneous creations broke down, though one of them made a job. */
function brokenRace(job: Job): Evidence | undefined {
  const others = rivalsOf(job)
  const isBroken = (event: HistoryEvent) =>
    isOwnBreakdown(event.exchange) && event.endedAt <= job.busyUntil
  if (others.length < 2 || !others.every(isBroken)) return undefined
  const what = `with a valid body, at the same time as others: one of them made job ${job.id}, which was in progress after that`
  return { exchange: others[0]!.exchange, what, expected: conflict }
}

/** Other creations can meet a job that lasts so long. */
const longEnoughMs = 3000

/** What to declare if jobs are too short. */
function remedy(history: History): string {
  const ended = viewOf(history).jobs.flatMap(({ application: { id }, creation, end }) =>
    end ? { id, ms: Math.round(end.endedAt - creation.endedAt) } : [],
  )
  const [longest] = ended.sort((one, other) => other.ms - one.ms)
  if (!longest || longest.ms > longEnoughMs || history.isRecorded) return ''
  return `; application ${longest.id}: its longest job was seen ended after ${longest.ms} ms: declare as resources.slowApplication one whose jobs last a second or more, and about ten round trips over a network`
}

/** Values that no creation beside a job had, if any were to be tried: servers may compare requests. */
function untried(history: History): string {
  const isVaried = history.events.some(
    ({ operation, request, within = '' }) =>
      operation === 'jobs.create' &&
      request === 'odd' &&
      viewOf(history).applicationOf(within).madeAt === undefined,
  )
  const refused = besides(history).filter((one) => (one.creation.status ?? 0) >= 400)
  const tried = [...groupBy(refused, (one) => one.creation)].map(([creation, all]) =>
    all.some((one) => hasSameInputs(creation, one.job.creation)),
  )
  if (!isVaried || new Set(tried).size !== 1) return ''
  return tried[0] ? ' with other values' : ' with the same inputs'
}

/** §4.2, §8: a creation while a job of its application is in progress is refused. */
export const inProgress: Rule = (history) => {
  const lacking = untried(history)
  const shown = besides(history).map((one) => {
    const { creation } = one
    if (!isConflict(creation)) return isExcused(history, one) ? undefined : acceptedBeside(one)
    if (isExpected(conflict, creation.exchange.response!)) return lacking ? undefined : 'held'
    const what = 'with a valid body, while a job of the application was in progress'
    return { exchange: creation.exchange, what, expected: conflict }
  })
  const races = history.isRecorded ? [] : viewOf(history).jobs.map(brokenRace)
  return judged(
    [...shown, ...races],
    `no creation${lacking} got an answer that proves anything while a job was seen in progress${remedy(history)}`,
  )
}

/** §8: no two of simultaneous creations make jobs that are in progress together. */
export const atomic = eachOf(
  (history) =>
    viewOf(history).jobs.flatMap((job) => rivalsOf(job).map((creation) => ({ creation, job }))),
  ({ creation, job }, history) => {
    const other = viewOf(history).madeBy(creation)
    const [first] = job.inProgress
    // A reading of it in progress is between two such readings of the job.
    const areBoth = other?.inProgress.some(
      (each) => first && first.endedAt <= each.sentAt && each.endedAt <= job.busyUntil,
    )
    if (!other || !areBoth) return isConflict(creation) ? 'held' : undefined
    const what = `with a valid body, at the same time as others; jobs ${job.id} and ${other.id} were then both read as in progress`
    const expected = `${describePairs(conflict)} for all but one of several concurrent creations`
    return { exchange: creation.exchange, what, expected }
  },
  'no concurrent creation got 409, and no two of their jobs were read as in progress',
)

// Refused creations on an application whose jobs have ended

/** What one application shows of what should not be refused. */
interface Shown {
  readonly granted?: number
  /** Further attempts tell. */
  readonly isUndecided?: boolean
  readonly fault?: Evidence
  /** Nobody else's jobs look like that. */
  readonly isSure?: boolean
}

type Show = (attempts: readonly Attempt[], history: History) => Shown

/**
 * Looks at each application. Nobody else uses those of the run: their fault counts first, and that of a declared one only
 * if they leave it open.
 */
function faultOn(history: History, show: Show) {
  const seen = attemptsIn(history).map((attempts) => ({
    ...show(attempts, history),
    isMade: attempts[0]!.application.madeAt !== undefined,
  }))
  const isOfRun = seen.some((one) => one.isMade && ((one.granted ?? 0) > 0 || one.isUndecided))
  const shown = seen.filter((one) => one.fault)
  const declared = history.isRecorded ? undefined : shown.find((one) => one.isSure || !isOfRun)
  const { fault, isMade } = shown.find((one) => one.isMade) ?? declared ?? {}
  const remark = isMade ? '' : ' (a job of somebody else, or of another run, would look the same)'
  return {
    fault: fault && { ...fault, what: `with a valid body, ${fault.what}${remark}` },
    granted: seen.reduce((sum, one) => sum + (one.granted ?? 0), 0),
    isDoubtful: !fault && shown.length > 0 && !isOfRun,
  }
}

const ofSomebody = 'creations got 409, and jobs of somebody else may be the reason'

/** Held only if some creation got 409 in this run. */
function conflictVerdict(history: History, show: Show, why: string) {
  const { fault, granted, isDoubtful } = faultOn(history, show)
  if (fault) return verdictOf([fault], 1, '')
  if (isDoubtful) return open(ofSomebody)
  const isSeen = besides(history).some((one) => isConflict(one.creation))
  if (granted === 0 || isSeen) return verdictOf([], granted, why)
  return open('no creation got 409 in this run')
}

/** Neither a lost creation, which may have started a job, nor a refusal explains its 409. */
function isUnexplained(history: History, { application, creation }: Attempt): boolean {
  const last = application.creations.findLast(
    (one) =>
      one.sentAt < creation.sentAt && isMeant(one) && (one.isGranted || one.status === undefined),
  )
  const isOfLost = last?.isGranted === false
  return isConflict(creation) && !isOfLost && !mayBeOfRefusals(history, creation)
}

/** Whether no job of another application explains it. */
const isApart = (history: History, attempt: Attempt): boolean =>
  attempt.elsewhere.length === 0 || perApplication(history).outcome === 'held'

const besideOther: Show = (attempts, history) => {
  const { application } = attempts[0]!
  // A platform may use a new application for a while.
  const newUntil = (application.madeAt ?? -Infinity) + history.limits.settleMs
  const beside = attempts.flatMap((attempt) => {
    const { creation, elsewhere, freeSince = Infinity } = attempt
    const freeFrom = isBusy(attempt) ? Math.max(freeSince + releaseMs, newUntil) : freeSince
    const others = elsewhere.filter((job) => isBeside(creation, job))
    return creation.sentAt >= freeFrom ? others.map((job) => ({ attempt, job })) : []
  })
  const granted = beside.filter((one) => isGranted(one.attempt)).length
  // Counts only if the application accepts a creation after the other job.
  const isAccepted = ({ end }: Job) =>
    application.creations.some((one) => one.isGranted && one.sentAt > (end?.endedAt ?? Infinity))
  const blocked = beside.filter((one) => isAccepted(one.job) && isUnexplained(history, one.attempt))
  const times = new Set(blocked.map((one) => one.job)).size
  // One or two 409s are inconclusive.
  if (granted > 0 || times < timesAlike) return { granted }
  const { attempt, job } = blocked[0]!
  const { exchange } = attempt.creation
  const what = `while only job ${job.id} of another application was in progress, in ${times} attempts`
  const expected = '202: a job in progress on another application is not a conflict'
  return { granted, fault: { exchange, what, expected } }
}

/** §8: a job in progress on one application does not block another one. */
export const perApplication: Rule = (history) =>
  conflictVerdict(
    history,
    besideOther,
    `no creation was granted while another application was seen with a job in progress${remedy(history)}`,
  )

type Series = [Attempt, ...Attempt[]]

function seriesOf(
  attempts: readonly Attempt[],
  continues: (one: Attempt, last: Series) => boolean,
): Series[] {
  const all: Series[] = []
  for (const one of attempts) {
    const last = all.at(-1)
    if (last && continues(one, last)) last.push(one)
    else all.push([one])
  }
  return all
}

const afterEnd: Show = (attempts, history) => {
  const after = attempts.filter((one) => (one.freeSince ?? -Infinity) > -Infinity)
  const granted = after.filter(isGranted).length
  const msOf = (row: Series): number => row.at(-1)!.creation.sentAt - row[0].creation.sentAt
  // An answer of another kind between them shows that it was not busy all the time.
  const inARow = seriesOf(
    after,
    (one, [first]) => isBusy(one) && isBusy(first) && one.freeSince === first.freeSince,
  )
  const kept = inARow.findLast(
    (row) =>
      row.length >= timesAlike &&
      msOf(row) >= releaseMs &&
      row.every((one) => isUnexplained(history, one)) &&
      row.some((one) => isApart(history, one)),
  )
  if (!kept) return { granted, isUndecided: after.length > 0 }
  const ms = msOf(kept)
  const { end } = kept[0].application.jobs.findLast((job) => job.end)!
  const what = `after a retrieval showed the last job of the application ${statusOf(end!)}, and so were ${kept.length - 1} more in ${seconds(ms)}`
  const expected = '202, as the application has no job in progress'
  return {
    granted,
    fault: { exchange: kept.at(-1)!.creation.exchange, what, expected },
    // Nobody else's jobs take turns for so long without a gap.
    isSure: ms >= history.limits.jobTimeoutMs * 0.95,
  }
}

/** §4.2: once its job has ended, the application accepts another one. */
export const released: Rule = (history) =>
  conflictVerdict(
    history,
    afterEnd,
    'no creation was granted after a reading that showed the last known job of its application ended',
  )

/** All of several simultaneous creations on a free application are refused, each time. */
function refusedTogether(history: History): Evidence | undefined {
  return faultOn(history, (attempts) => {
    const all = seriesOf(attempts, ({ creation: { sentAt } }, burst) =>
      burst.some((one) => one.creation.endedAt > sentAt),
    )
    const granted = all.filter((burst) => burst.length > 1 && burst.some(isGranted)).length
    const refused = all.filter((burst, at) => {
      const [first] = burst
      const { creation, freeSince = Infinity } = first
      const isFree = creation.sentAt - freeSince >= releaseMs && all[at + 1]?.some(isGranted)
      const isFault = burst.length > 1 && burst.every((one) => isUnexplained(history, one))
      return isFree && isFault && isApart(history, first)
    })
    if (granted > 0 || refused.length < timesAlike) return { granted }
    const [burst] = refused as [Series]
    const what = `as one of ${burst.length} at the same time on an application without a job: all were refused, in ${refused.length} attempts`
    const expected = '202 for one of several concurrent creations'
    return { granted, fault: { exchange: burst[0].creation.exchange, what, expected } }
  }).fault
}

// Creations after refused ones

/** An effect of a refusal shows within this time. */
export const windowMs = 2000
export const moments = [500, 1000, 1700] as const
/** How often an effect must show where jobs of somebody else look the same. */
export const mostLooks = 2 * timesAlike

/** A creation on an application without known jobs in progress, if what came before it was granted. */
interface Look extends Attempt {
  /** The last refusal since the last accepted creation, and the kinds of all: their faults or answers. */
  readonly refusal: HistoryEvent | undefined
  readonly kinds: readonly string[]
}

const isRefused = ({ status = 0 }: HistoryEvent): boolean =>
  status >= 400 && status < 500 && status !== 409

/** A creation refused beside a job cannot start another one. */
const refusalsIn = derived((history) =>
  viewOf(history)
    .applications()
    .flatMap(({ creations, jobs }) =>
      creations.filter((one) => isRefused(one) && !jobs.some((job) => isBeside(one, job))),
    ),
)

const looksIn = derived((history): Look[] =>
  attemptsIn(history).flatMap((attempts) => {
    let last: HistoryEvent | undefined
    return attempts.flatMap((attempt): Look[] => {
      const { application, creation, freeSince } = attempt
      if (isRefused(creation)) return []
      const previous = last
      // A conflict beside a job says nothing about what came before.
      if (creation.isGranted || freeSince !== undefined) last = creation
      if (previous?.isGranted === false || freeSince === undefined) return []
      const from = Math.max(previous?.endedAt ?? -Infinity, creation.sentAt - windowMs)
      // One for no application may block any.
      const before = refusalsIn(history)
        .filter((one) => one.sentAt >= from && one.endedAt <= creation.sentAt)
        .filter(({ status, within = '' }) => status === 404 || sameId(within, application.id))
      const kinds = new Set(before.map((one) => one.fault ?? `${one.status} ${one.tpe}`))
      return [{ ...attempt, refusal: before.at(-1), kinds: [...kinds] }]
    })
  }),
)

const isBusyAnyway = (look: Look): boolean => isBusy(look) && !look.refusal

/** Looks that refusals may have blocked, unless the same ones were harmless elsewhere. */
const suspicious = derived((history): Look[] => {
  const granted = looksIn(history).filter(isGranted)
  const harmless = new Set(granted.flatMap((look) => look.kinds))
  return looksIn(history).filter(
    (look) => isBusy(look) && look.kinds.some((kind) => !harmless.has(kind)),
  )
})

/** Once refusals are known to have effects, any of them may have blocked any application. */
const mayBeOfRefusals = (history: History, creation: HistoryEvent): boolean =>
  suspicious(history).some((look) => look.creation === creation) ||
  (noEffect(history).outcome === 'broken' &&
    refusalsIn(history).some((one) => one.endedAt <= creation.sentAt))

/** Looks that each followed one kind of refusal, while those in between without any were granted. */
function blockedEachTime(looks: readonly Look[]): Look[] {
  // Somebody else has jobs there now and then.
  const least = looks.some(isBusyAnyway) ? mostLooks : timesAlike
  const blocked = looks.filter((look) => isBusy(look) && look.kinds.length === 1)
  const groups = groupBy(blocked, (look) => look.kinds[0]!)
  const proof = [...groups].find(([kind, group]) => {
    const between = looks.slice(looks.indexOf(group[0]!), looks.indexOf(group.at(-1)!))
    const bare = between.filter((look) => !look.refusal)
    const wasHarmless = between.some((look) => isGranted(look) && look.kinds.includes(kind))
    const isOften = Math.min(group.length, bare.length) >= least
    return isOften && bare.every(isGranted) && !wasHarmless
  })
  return proof?.[1] ?? []
}

/** §8: a refused creation starts no job: later creations get the same answers as without it. */
export const noEffect: Rule = (history) => {
  const { jobTimeoutMs } = history.limits
  const looks = looksIn(history)
  const { fault, isDoubtful } = faultOn(history, (attempts) => {
    const { application } = attempts[0]!
    const isHere = (look: Look) => look.application === application
    const each = blockedEachTime(looks.filter(isHere))
    const isLocked = ({ creation: { sentAt } }: Look) => {
      const since = attempts.filter((one) => one.creation.sentAt >= sentAt)
      const isLong = since.at(-1)!.creation.sentAt - sentAt >= jobTimeoutMs
      return isLong && since.every(isBusy) && application.jobs.length > 1
    }
    const found = each[0] ?? suspicious(history).filter(isHere).find(isLocked)
    if (!found) return {}
    const { sentAt } = found.creation
    const { exchange, endedAt, status, tpe } = found.refusal!
    const ways = exchange.purpose.what ?? `by ${status} ${tpe}`
    const how = each[0] ? `in ${each.length} attempts` : `and for ${jobTimeoutMs} ms after that`
    const what = `${Math.round(sentAt - endedAt)} ms after another was refused ${ways}, ${how}`
    const expected = '202: a refused creation starts no job'
    return { fault: { exchange: found.creation.exchange, what, expected } }
  })
  if (isDoubtful) return open(ofSomebody)
  // Where creations are blocked without refusals, too, those prove no effect.
  const [unclear] = looks.some(isBusyAnyway) ? [] : suspicious(history)
  const harmless = unclear ? [] : looks.filter((look) => isGranted(look) && look.refusal)
  const why = unclear
    ? `a creation got 409 after refusals (${unclear.kinds.join(', ')}), and none of them was seen to do no harm`
    : 'no creation was granted after a refused one on an application that was free'
  return judged([fault, ...harmless.map(() => 'held' as const)], why)
}
