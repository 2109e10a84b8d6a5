import {
  broken,
  derived,
  heldBy,
  type History,
  type HistoryEvent,
  type Rule,
  sameId,
} from '../../harness/history/index.ts'
import {
  applicationsIn,
  creationsOn,
  freeSince,
  isConflict,
  isAsked,
  jobsOn,
  lostBefore,
  madeAt,
} from './jobs.ts'

/** What a refusal starts shows within so many ms, and at these moments after it a driver looks. */
export const windowMs = 2000
export const moments = [500, 1000, 1700] as const
/** Creations so long after a refusal are alike: at once, and at each moment. */
const untilMs = [350, 800, 1400, windowMs] as const

/** A creation on an application of which every known job had ended, with what was refused there shortly before. */
export interface Look {
  readonly creation: HistoryEvent
  readonly application: string
  /** Since when the application was free, in ms; -Infinity if it had had no job. */
  readonly since: number
  readonly refused: readonly HistoryEvent[]
  /** Some of them came after the last creation that was granted: if others came since, one of those may be to blame. */
  readonly isNext: boolean
  /** The creation before it was not granted: then it shows nothing new of the application. */
  readonly isRepeated: boolean
}

/** The kind of a refusal: the requirement that its fault belongs to, or what it was answered. */
const kindOf = ({ fault, status, tpe }: HistoryEvent): string => fault ?? `${status} ${tpe}`

/** How a refused request differs from the valid one: `without inputs`. */
const wordsOf = ({ exchange, status, tpe }: HistoryEvent): string =>
  exchange.purpose.what ?? `by ${status} ${tpe}`

function isRefused({ status = 0, noise, request }: HistoryEvent): boolean {
  const isClients = status >= 400 && status < 500 && status !== 409
  return noise === undefined && isClients && (request === 'faulty' || request === 'unknown')
}

/** Refusals on an application, and on those that do not exist: one application does not block another, and no one blocks none. */
function refusalsFor(history: History, application: string): HistoryEvent[] {
  const elsewhere = applicationsIn(history).filter((id) => !sameId(id, application))
  return [application, ...elsewhere]
    .flatMap((id) =>
      creationsOn(history, id).filter(
        (one) => isRefused(one) && (id === application || one.status === 404),
      ),
    )
    .sort((one, other) => one.sentAt - other.sentAt)
}

/** Every look at an application, one sweep over time each. */
export const looksIn = derived((history): Look[] =>
  applicationsIn(history).flatMap((application) => {
    const refusals = refusalsFor(history, application)
    let [first, next] = [0, 0]
    let last: HistoryEvent | undefined
    let grantedAt = -Infinity
    return creationsOn(history, application)
      .filter((one) => !isRefused(one) && one.noise === undefined)
      .flatMap((creation): Look[] => {
        const { sentAt } = creation
        while (next < refusals.length && refusals[next]!.endedAt <= sentAt) next++
        while (first < next && refusals[first]!.endedAt < sentAt - windowMs) first++
        const isRepeated = last !== undefined && !last.isGranted
        last = creation
        const from = grantedAt
        if (creation.isGranted) grantedAt = creation.endedAt
        const since = isAsked(creation) ? freeSince(history, creation) : undefined
        if (since === undefined) return []
        const refused = refusals.slice(first, next)
        const isNext = refused.some((one) => one.sentAt >= from)
        return [{ creation, application, since, refused, isNext, isRepeated }]
      })
  }),
)

const afterMs = ({ creation }: Look, refusal: HistoryEvent): number =>
  creation.sentAt - refusal.endedAt

/** From the last refusal to the creation, in ms. */
const sinceRefusal = (look: Look): number => afterMs(look, look.refused.at(-1)!)

/** What was refused before a look, and how long before: the requirement of each fault, and the moment. */
const kindsOf = (look: Look): string[] => [
  ...new Set(
    look.refused.map(
      (one) => `${kindOf(one)} ${untilMs.findIndex((ms) => afterMs(look, one) < ms)}`,
    ),
  ),
]
const isBlocked = ({ creation }: Look): boolean => isConflict(creation)
const isGranted = ({ creation }: Look): boolean => creation.isGranted

/** Kinds of refusals after which creations were granted, on whatever application: how soon after them at least, in ms. */
const harmlessFrom = derived((history) => {
  const soonest = new Map<string, number>()
  for (const look of looksIn(history).filter(isGranted))
    for (const kind of kindsOf(look))
      soonest.set(kind, Math.min(soonest.get(kind) ?? Infinity, sinceRefusal(look)))
  return soonest
})

/** A fault that somebody else's job could imitate has to be seen so often. */
const timesAlike = 3
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
function blockedEachTime(history: History): Look[] | undefined {
  const looks = looksIn(history)
  const groups = new Map<string, Look[]>()
  for (const look of looks) {
    const [kind, ...more] = kindsOf(look)
    if (kind === undefined || more.length > 0 || look.isRepeated) continue
    const key = `${look.application} ${kind}`
    groups.set(key, [...(groups.get(key) ?? []), look])
  }
  return [...groups.values()].find((group) => {
    const blocked = group.filter(isBlocked)
    const longest = Math.max(...blocked.map(sinceRefusal))
    // What a refusal starts may be over a moment later.
    const isHarmless = group.some((look) => isGranted(look) && sinceRefusal(look) <= longest)
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
      kindsOf(look).some(
        // What a refusal starts may be over a moment later.
        (kind) => (harmlessFrom(history).get(kind) ?? Infinity) > 1.25 * sinceRefusal(look) + 5,
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
    return isLong && !after.some(isGranted) && jobsOn(history, application).length > 1
  })
}

/** §8: a creation that is refused starts no job: those after it are answered as those after none. */
export const noEffect: Rule = (history) => {
  const looks = looksIn(history)
  const isProof = ({ application, creation }: Look): boolean =>
    !lostBefore(history, application, creation.sentAt) &&
    (!history.isRecorded || madeAt(history, application) !== undefined)
  const fail = (look: Look, how: string): ReturnType<Rule> => {
    const [first, ...more] = look.refused
    const ways = kindsOf(look).length > 1 ? 'in several ways' : first ? wordsOf(first) : ''
    const ms = Math.round(sinceRefusal(look))
    const when = ms < untilMs[0] ? 'at once' : `${ms} ms`
    const others =
      madeAt(history, look.application) === undefined
        ? " (somebody else's job would look the same)"
        : ''
    const what = `with a valid body, ${when} after ${more.length > 0 ? 'others were' : 'another was'} refused ${ways}, ${how}${others}`
    const expected = '202: a refused creation starts no job'
    return broken({ exchange: look.creation.exchange, what, expected }, looks.length)
  }
  const each = blockedEachTime(history)?.filter(isProof)
  if (each?.[0] && each.length >= timesAlike) return fail(each[0], `in ${each.length} attempts`)
  const [locked] = lockedFrom(history).filter(isProof)
  if (locked) return fail(locked, `and for ${history.limits.jobTimeoutMs} ms after that`)
  const cases = new Set(looks.filter((look) => isGranted(look)).flatMap(kindsOf)).size
  const isBusy = looks.some((look) => look.refused.length > 0 && isBlocked(look))
  return heldBy(
    cases,
    isBusy
      ? 'the application was busy after a refused creation, and after others as well'
      : 'no creation came after a refused one on an application that was free',
  )
}
