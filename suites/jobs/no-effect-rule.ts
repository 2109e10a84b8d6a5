import { groupBy } from '../../harness/group-by.ts'
import {
  derived,
  type History,
  type HistoryEvent,
  type Rule,
  verdictOf,
} from '../../harness/history/index.ts'
import { isProof, somebodyElse, timesAlike } from './conflict-rules.ts'
import { type Application, applicationsIn, isConflict } from './jobs.ts'
import { freeSince, lostBefore } from './spans.ts'

/** What a refusal starts shows within so many ms, and at these moments after it a driver looks. */
export const windowMs = 2000
export const moments = [500, 1000, 1700] as const
/** Creations so long after a refusal are alike: at once, and at each moment. */
const untilMs = [350, 800, 1400, windowMs] as const

/** A creation on an application of which every known job had ended, with what was refused there shortly before. */
interface Look {
  readonly creation: HistoryEvent
  readonly application: Application
  /** Since when the application was free, in ms; -Infinity if it had had no job. */
  readonly since: number
  readonly refused: readonly HistoryEvent[]
  /** From the last refusal to the creation, in ms. */
  readonly afterMs: number
  /** What was refused before: the requirement of each fault, or what it was answered, and the moment. */
  readonly kinds: readonly string[]
  /** Some of them came after the last creation that was granted: if others came since, one of those may be to blame. */
  readonly isNext: boolean
  /** The creation before it was not granted: then it shows nothing new of the application. */
  readonly isRepeated: boolean
}

/** How a refused request differs from the valid one: `without inputs`. */
const wordsOf = ({ exchange, status, tpe }: HistoryEvent): string =>
  exchange.purpose.what ?? `by ${status} ${tpe}`

function isRefused({ status = 0, noise, request }: HistoryEvent): boolean {
  const isClients = status >= 400 && status < 500 && status !== 409
  return noise === undefined && isClients && (request === 'faulty' || request === 'unknown')
}

/** Refusals on an application, and on those that do not exist: one application does not block another, and no one blocks none. */
function refusalsFor(history: History, application: Application): HistoryEvent[] {
  return applicationsIn(history)
    .flatMap((other) =>
      other.creations.filter(
        (one) => isRefused(one) && (other === application || one.status === 404),
      ),
    )
    .sort((one, other) => one.sentAt - other.sentAt)
}

/** Every look at an application, one sweep over time each. */
const looksIn = derived((history): Look[] =>
  applicationsIn(history).flatMap((application) => {
    const refusals = refusalsFor(history, application)
    let [first, next] = [0, 0]
    let last: HistoryEvent | undefined
    let grantedAt = -Infinity
    return application.creations
      .filter((one) => !isRefused(one) && one.noise === undefined)
      .flatMap((creation): Look[] => {
        const { sentAt } = creation
        while (next < refusals.length && refusals[next]!.endedAt <= sentAt) next++
        while (first < next && refusals[first]!.endedAt < sentAt - windowMs) first++
        const isRepeated = last !== undefined && !last.isGranted
        last = creation
        const from = grantedAt
        if (creation.isGranted) grantedAt = creation.endedAt
        const since = freeSince(history, creation)
        if (since === undefined) return []
        const refused = refusals.slice(first, next)
        const isNext = refused.some((one) => one.sentAt >= from)
        const kinds = refused.map(({ fault, status, tpe, endedAt }) => {
          const moment = untilMs.findIndex((ms) => sentAt - endedAt < ms)
          return `${fault ?? `${status} ${tpe}`} ${moment}`
        })
        const seen = { refused, kinds: [...new Set(kinds)], isNext, isRepeated }
        const afterMs = sentAt - (refused.at(-1)?.endedAt ?? -Infinity)
        return [{ creation, application, since, afterMs, ...seen }]
      })
  }),
)

const isBlocked = ({ creation }: Look): boolean => isConflict(creation)
const isGranted = ({ creation }: Look): boolean => creation.isGranted

/** Kinds of refusals after which creations were granted, on whatever application: how soon after them at least, in ms. */
const harmlessFrom = derived((history) => {
  const soonest = new Map<string, number>()
  for (const { kinds, afterMs } of looksIn(history).filter(isGranted))
    for (const kind of kinds) soonest.set(kind, Math.min(soonest.get(kind) ?? Infinity, afterMs))
  return soonest
})

/** A creation so soon after the end of a job, in ms, shows whether the application is free at once. */
const soonMs = 1000

/** Whether creations with nothing refused before them were granted at once after the end of a job, since a look was blocked. */
function isFreeAtOnce(looks: readonly Look[], { creation, application }: Look): boolean {
  const bare = looks.filter(
    (look) =>
      look.application === application &&
      look.refused.length === 0 &&
      !look.isRepeated &&
      look.since > creation.endedAt &&
      look.creation.sentAt - look.since < soonMs,
  )
  return bare.filter(isGranted).length >= timesAlike && !bare.some(isBlocked)
}

/** Looks after refusals of one kind alone, all of which were blocked. */
function blockedEachTime(looks: readonly Look[]): Look[] | undefined {
  const ofOneKind = looks.filter(({ kinds, isRepeated }) => kinds.length === 1 && !isRepeated)
  const groups = groupBy(ofOneKind, (look) => `${look.application.id} ${look.kinds[0]}`)
  return [...groups.values()].find((group) => {
    const blocked = group.filter(isBlocked)
    const longest = Math.max(...blocked.map(({ afterMs }) => afterMs))
    // What a refusal starts may be over a moment later.
    const isHarmless = group.some((look) => isGranted(look) && look.afterMs <= longest)
    return blocked.length >= timesAlike && !isHarmless && isFreeAtOnce(looks, blocked[0]!)
  })
}

/** Looks that refusals before them may have blocked: not if the same refusals did no harm elsewhere, or another time. */
const suspicious = derived((history): Look[] =>
  looksIn(history).filter(
    (look) =>
      isBlocked(look) &&
      !look.isRepeated &&
      look.isNext &&
      look.kinds.some(
        // What a refusal starts may be over a moment later.
        (kind) => (harmlessFrom(history).get(kind) ?? Infinity) > 1.25 * look.afterMs + 5,
      ),
  ),
)

/** Whether it may be the fault of refusals before it that a creation was answered 409. */
export const mayBeOfRefusals = (history: History, creation: HistoryEvent): boolean =>
  suspicious(history).some((look) => look.creation === creation) ||
  (looksIn(history).some((look) => look.creation === creation && look.refused.length > 0) &&
    noEffect(history).outcome === 'broken')

/** Looks from which on an application takes no creation any more, though it took one after the other before. */
function lockedFrom(history: History): Look[] {
  return suspicious(history).filter(({ application, creation }) => {
    const after = looksIn(history).filter(
      (look) => look.application === application && look.creation.sentAt > creation.sentAt,
    )
    const lastSentAt = after.at(-1)?.creation.sentAt ?? 0
    const isLong = lastSentAt - creation.sentAt >= history.limits.jobTimeoutMs
    return isLong && !after.some(isGranted) && application.jobs.length > 1
  })
}

/** §8: a creation that is refused starts no job: those after it are answered as those after none. */
export const noEffect: Rule = (history) => {
  const looks = looksIn(history)
  const proves = ({ application, creation }: Look): boolean =>
    !lostBefore(application, creation.sentAt) && isProof(history, application)
  const each = blockedEachTime(looks)?.filter(proves) ?? []
  const isEach = each.length >= timesAlike
  const found = isEach ? each[0] : lockedFrom(history).find(proves)
  if (found) {
    const { application, creation, refused, kinds, afterMs } = found
    const ways = kinds.length > 1 ? 'in several ways' : wordsOf(refused[0]!)
    const ms = Math.round(afterMs)
    const when = ms < untilMs[0] ? 'at once' : `${ms} ms`
    const how = isEach
      ? `in ${each.length} attempts`
      : `and for ${history.limits.jobTimeoutMs} ms after that`
    const what = `with a valid body, ${when} after ${refused.length > 1 ? 'others were' : 'another was'} refused ${ways}, ${how}${somebodyElse(application)}`
    const expected = '202: a refused creation starts no job'
    return verdictOf([{ exchange: creation.exchange, what, expected }], looks.length, '')
  }
  const cases = new Set(looks.filter(isGranted).flatMap(({ kinds }) => kinds)).size
  const isBusy = looks.some((look) => look.refused.length > 0 && isBlocked(look))
  const why = isBusy
    ? 'the application was busy after a refused creation, and after others as well'
    : 'no creation came after a refused one on an application that was free'
  return verdictOf([], cases, why)
}
