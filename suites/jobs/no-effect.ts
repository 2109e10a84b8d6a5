import { groupBy } from '../../harness/group-by.ts'
import {
  derived,
  type History,
  type HistoryEvent,
  isConflict,
  type Rule,
  sameId,
  verdictOf,
} from '../../harness/journal/index.ts'
import { type Application, type Attempt, attemptsIn, lostBefore, wereTogether } from './view.ts'

/** Observations needed where another client's job could look the same. */
export const timesAlike = 3
export const somebodyElse = (application: Application): string =>
  application.madeAt === undefined
    ? ' (a job of somebody else, or of another run, would look the same)'
    : ''

/** Others may use objects that the history did not make; in a recording they certainly do. */
export const isProof = (history: History, application: Application): boolean =>
  !history.isRecorded || application.madeAt !== undefined

/**
 * The application that proves a fault: preferably one that the run made, since nobody else uses it. A declared one
 * counts only if no application of the run could show the fault.
 * @param looked those that show the fault or its absence
 */
export function proofOf<T extends { readonly application: Application }>(
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

/** A creation on an application without known jobs in progress, and the refusals shortly before it. */
interface Look extends Attempt {
  readonly refused: readonly HistoryEvent[]
  /** From the last refusal of each kind (its fault or answer, and the moment) to the creation, in ms. */
  readonly kinds: ReadonlyMap<string, number>
  /** How many kinds of refusals of this application there are among them. */
  readonly own: number
  /** The first 409 after an accepted creation. */
  readonly isBlocked: boolean
  /** A refusal came after the last accepted creation and may be to blame. */
  readonly isNext: boolean
}

function isRefused({ status = 0, request }: HistoryEvent): boolean {
  const isClients = status >= 400 && status < 500 && status !== 409
  return isClients && (request === 'faulty' || request === 'unknown')
}

const looksIn = derived((history): Look[] => {
  const all = [...attemptsIn(history).values()]
  const ofNone = new Set(
    all
      .flatMap((attempts) => attempts.map((attempt) => attempt.creation))
      .filter((one) => isRefused(one) && one.status === 404),
  )
  return all.flatMap((attempts) => {
    // A creation refused beside a job cannot start another one.
    const own = attempts.flatMap((attempt) =>
      isRefused(attempt.creation) && attempt.beside.length === 0 ? attempt.creation : [],
    )
    const refusals = [...new Set([...own, ...ofNone])].sort((a, b) => a.sentAt - b.sentAt)
    let last: HistoryEvent | undefined
    let grantedAt = -Infinity
    return attempts.flatMap((attempt): Look[] => {
      const { creation, freeSince, met } = attempt
      const { sentAt, isGranted } = creation
      if (isRefused(creation)) return []
      const isBlocked = isConflict(creation) && last?.isGranted !== false
      const from = grantedAt
      last = creation
      if (isGranted) grantedAt = creation.endedAt
      // Of simultaneous creations, one may be refused because of another.
      const isRaced = met.some((job) => wereTogether(creation, job.creation))
      if (freeSince === undefined || isRaced) return []
      const refused = refusals.filter(
        (refusal) => refusal.endedAt <= sentAt && refusal.endedAt >= sentAt - windowMs,
      )
      const kindOf = ({ fault, status, tpe, endedAt }: HistoryEvent): string =>
        `${fault ?? `${status} ${tpe}`} ${untilMs.findIndex((ms) => sentAt - endedAt < ms)}`
      const named = refused.map((one) => [kindOf(one), one] as const)
      const kinds = new Map(named.map(([kind, one]) => [kind, sentAt - one.endedAt]))
      const ownKinds = new Set(named.flatMap(([kind, one]) => (ofNone.has(one) ? [] : kind)))
      const isNext = refused.some((one) => one.sentAt > from)
      return [{ ...attempt, refused, kinds, own: ownKinds.size, isBlocked, isNext }]
    })
  })
})

const isGranted = (look: Look): boolean => look.creation.isGranted

/**
 * Looks that refusals may have blocked, unless the same refusals did no harm at another time or place: after no more of
 * them, as a later one may put off the effect of the first.
 */
const suspicious = derived((history): Look[] => {
  const looks = looksIn(history)
  const granted = looks.filter(isGranted)
  return looks.filter(
    ({ isBlocked, isNext, kinds, own }) =>
      isBlocked &&
      isNext &&
      [...kinds].some(([kind, ms]) =>
        granted.every(
          // The effect of a refusal may be over a moment later.
          (one) => one.own > own || (one.kinds.get(kind) ?? Infinity) > 1.25 * ms + 5,
        ),
      ),
  )
})

export const isSuspectedElsewhere = (history: History, application: string): boolean =>
  suspicious(history).some((look) => !sameId(look.application.id, application))

export const mayBeOfRefusals = (history: History, creation: HistoryEvent): boolean =>
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
    (one) => !lostBefore(one.application, one.creation.sentAt) && isProof(history, one.application),
  )
  const isLocked = (look: Look): boolean => {
    const after = looks.filter((one) => isLater(one, look))
    const forMs = (after.at(-1)?.creation.sentAt ?? 0) - look.creation.sentAt
    return forMs >= jobTimeoutMs && !after.some(isGranted) && look.application.jobs.length > 1
  }
  /** Whether another application was not released without refusals either. */
  const isElsewhere = (look: Look): boolean =>
    looks.some((one) => one.own === 0 && one.isBlocked && one.application !== look.application)
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
