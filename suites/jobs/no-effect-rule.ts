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

/** A creation on an application of which every known job had ended, with what was refused there since the last one before it. */
export interface Look {
  readonly creation: HistoryEvent
  readonly application: string
  /** Since when the application was free, in ms; -Infinity if it had had no job. */
  readonly since: number
  readonly refused: readonly HistoryEvent[]
  /** From the last refusal to the creation, in ms. */
  readonly afterMs: number
  /** The creation before it was not granted: then it shows nothing new of the application. */
  readonly isRepeated: boolean
}

/** What a refusal starts shows within so many ms. */
const longestMs = 2000
/** Creations so long after refusals are alike: at once, and at each of the moments that are tried. */
const untilMs = [350, 800, 1400, longestMs] as const

/** The kind of a refusal: the requirement that its fault belongs to, or what it was answered. */
const kindOf = ({ fault, status, tpe }: HistoryEvent): string => fault ?? `${status} ${tpe}`

/** How a refused request differs from the valid one: `without inputs`. */
const wordsOf = ({ exchange, status, tpe }: HistoryEvent): string =>
  exchange.purpose.what ?? `by ${status} ${tpe}`

const momentOf = ({ afterMs }: Look): number => untilMs.findIndex((ms) => afterMs < ms)

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
    let next = 0
    let last: HistoryEvent | undefined
    return creationsOn(history, application)
      .filter((one) => !isRefused(one) && one.noise === undefined)
      .flatMap((creation): Look[] => {
        const since = freeSince(history, creation)
        const from = Math.max(since ?? creation.sentAt, last?.endedAt ?? -Infinity)
        const refused: HistoryEvent[] = []
        for (; next < refusals.length && refusals[next]!.endedAt <= creation.sentAt; next++)
          if (refusals[next]!.sentAt >= from) refused.push(refusals[next]!)
        const isRepeated = last !== undefined && !last.isGranted
        last = creation
        if (since === undefined || !isAsked(creation)) return []
        const afterMs = creation.sentAt - (refused.at(-1)?.endedAt ?? -Infinity)
        return [{ creation, application, since, refused, afterMs, isRepeated }]
      })
  }),
)

const kindsOf = ({ refused }: Look): string[] => [...new Set(refused.map(kindOf))]
const isBlocked = ({ creation }: Look): boolean => isConflict(creation)
const isGranted = ({ creation }: Look): boolean => creation.isGranted

/** Kinds of refusals after which creations were granted, on whatever application. */
const harmless = derived((history) => new Set(looksIn(history).filter(isGranted).flatMap(kindsOf)))

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
    if (kind === undefined || more.length > 0 || momentOf(look) < 0 || look.isRepeated) continue
    const key = `${look.application} ${kind} ${momentOf(look)}`
    groups.set(key, [...(groups.get(key) ?? []), look])
  }
  return [...groups.values()].find((group) => {
    const blocked = group.filter(isBlocked)
    return (
      blocked.length >= timesAlike && !group.some(isGranted) && isFreeAtOnce(looks, blocked[0]!)
    )
  })
}

/**
 * The look from which on an application takes no creation any more, though it took one after the other before; none if refusals
 * of these kinds did no harm elsewhere.
 */
const lockedFrom = derived((history): Look[] =>
  applicationsIn(history).flatMap((application): Look[] => {
    const looks = looksIn(history).filter((look) => look.application === application)
    const first = looks.findLastIndex((look) => !look.isRepeated && isBlocked(look))
    const look = looks[first]
    const after = looks.slice(first + 1)
    if (!look || look.refused.length === 0 || after.some(isGranted)) return []
    const lastSentAt = after.at(-1)?.creation.sentAt ?? 0
    const isLong = lastSentAt - look.creation.sentAt >= history.limits.jobTimeoutMs
    const isAlive = jobsOn(history, application).length > 1
    const isHarmless = kindsOf(look).every((kind) => harmless(history).has(kind))
    return isLong && isAlive && !isHarmless ? [look] : []
  }),
)

/** Whether that an application stays locked since a creation is the fault of refusals before it. */
export const isBlamedOnRefusals = (history: History, creation: HistoryEvent): boolean =>
  lockedFrom(history).some((look) => look.creation === creation)

/** §8: a creation that is refused starts no job: those after it are answered as those after none. */
export const noEffect: Rule = (history) => {
  const looks = looksIn(history)
  const isProof = ({ application, creation }: Look): boolean =>
    !lostBefore(history, application, creation.sentAt) &&
    (!history.isRecorded || madeAt(history, application) !== undefined)
  const fail = (look: Look, how: string): ReturnType<Rule> => {
    const [first, ...more] = look.refused
    const ways = kindsOf(look).length > 1 ? 'in several ways' : first ? wordsOf(first) : ''
    const when = momentOf(look) === 0 ? 'at once' : `${Math.round(look.afterMs)} ms`
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
