import { additionOperation, uploadOperation } from '../../catalogue/operations.ts'
import { describeResponse, isOwnBreakdown } from '../../harness/engine/index.ts'
import {
  type Evidence,
  type History,
  type HistoryEvent,
  isConflict,
  sameId,
  verdictOf,
} from '../../harness/journal/index.ts'
import {
  additionsByFile,
  type Creator,
  creatorOf,
  fileOf,
  hasSettled,
  isAfter,
  isAnswered,
  isForFile,
  isForGraph,
  isGranted,
  isMeant,
  isOfConnection,
  isRefused,
  isSameRequest,
  madeBy,
  mayBeGone,
  overlaps,
  type RelationRule,
  seconds,
  thingsOf,
} from './attempts.ts'

/** Rules for things that may exist only once. */

/** When a file was added to another graph: later answers of the first are another requirement's matter. */
function addedElsewhere(history: History, first: HistoryEvent): number {
  if (first.operation !== additionOperation) return Infinity
  const isOther = (one: HistoryEvent): boolean =>
    one.isGranted && one.sentAt > first.sentAt && !sameId(one.within ?? '', first.within ?? '')
  return additionsByFile(history).get(fileOf(first))?.find(isOther)?.sentAt ?? Infinity
}

/** The same creation, repeated after an accepted one. */
const repetitionsOf = (
  history: History,
  attempts: readonly HistoryEvent[],
  first: HistoryEvent,
): HistoryEvent[] =>
  attempts.filter(
    (one) =>
      isAfter(one, first) &&
      one.sentAt < addedElsewhere(history, first) &&
      !mayBeGone(history, first.sentAt, one.endedAt) &&
      one.status !== undefined &&
      isSameRequest(one, first) &&
      // A single crash may be chance, and a recording contains it once.
      !(history.isRecorded && one.status >= 500),
  )

const turns = 3

/** Throttled each time while others were accepted in between: that is the answer. */
function throttledInTurn(history: History, { operation: id }: Creator, again: HistoryEvent[]) {
  const throttled = again.filter(({ noise }) => noise === 'throttled')
  const isBeside = ({ endedAt }: HistoryEvent, at: number): boolean => {
    const until = throttled[at + 1]?.sentAt ?? Infinity
    return history.events.some(
      (one) => one.operation === id && one.isGranted && one.sentAt > endedAt && one.sentAt < until,
    )
  }
  const isEachTime = !history.isRecorded && throttled.filter(isBeside).length >= turns
  return isEachTime ? throttled.slice(-1) : []
}

/** A file that is refused as a duplicate for its name: others were added to the graph before it and after it. */
function refusedByName(history: History): Evidence[] {
  const uploads = madeBy(history, uploadOperation)
  const additions = [...additionsByFile(history).values()].flat().filter(isMeant)
  const of = ({ object }: HistoryEvent, graph = '') =>
    additions.filter(
      (one) =>
        one.object !== undefined &&
        sameId(one.object, object ?? '') &&
        sameId(one.within ?? '', graph),
    )
  return uploads.flatMap((upload): Evidence[] => {
    const { name, object, within } = upload
    const twins = uploads.filter(
      (one) => name !== undefined && one.name === name && one.object !== object,
    )
    if (within !== undefined || twins.length === 0) return []
    const refused = additions.findLast((one) => one.object === object && isConflict(one))
    if (!refused) return []
    const { sentAt, within: graph, exchange } = refused
    const isThere = twins.some((twin) =>
      of(twin, graph).some((one) => one.isGranted && one.endedAt < sentAt),
    )
    const isOpen = additions.some(
      (one) => one.isGranted && one.within === graph && one.sentAt > sentAt,
    )
    const isLate = hasSettled(history, upload.endedAt, sentAt)
    if (!isThere || !isOpen || !isLate || !of(upload, graph).every(isConflict)) return []
    const what = `of a file under the name of another one in the graph, ${name}`
    return [{ exchange, what, expected: 'no 409: it is another file, with an id of its own' }]
  })
}

/** §7.3: an existing thing is not created again, whatever happened since. */
export const onceRule: RelationRule = (history, id) => {
  const creator = creatorOf(id)
  const { exists, what, same, isProcessed } = creator
  const isRight = ({ status, tpe }: HistoryEvent): boolean =>
    exists.some(([expected, ...names]) => status === expected && names.includes(tpe ?? ''))
  // A declared file may already be in the graph.
  const isThere = (one: HistoryEvent): boolean =>
    isProcessed && !history.isRecorded && isMeant(one) && isRight(one)
  let cases = 0
  const evidence = thingsOf(history, id).flatMap((attempts): Evidence[] => {
    const first = attempts.find(isGranted) ?? attempts.find(isThere)
    if (!first) return []
    const again = repetitionsOf(history, attempts, first)
    const answered = again.filter(isAnswered)
    const right = answered.filter(isRight)
    cases += right.length
    // Until processed, neither an acceptance nor an unknown file proves anything.
    const isEarly = (one: HistoryEvent): boolean =>
      isProcessed &&
      !hasSettled(history, first.endedAt, one.sentAt) &&
      (one.isGranted || one.status === 404)
    const wrong = answered.filter(
      (one) =>
        !isRight(one) &&
        !isEarly(one) &&
        !isForFile(history, one) &&
        !isForGraph(history, one) &&
        !isOfConnection(one, answered, isRight),
    )
    return [...wrong, ...throttledInTurn(history, creator, again)].map(({ exchange, sentAt }) => {
      const before = right.filter((one) => one.sentAt < sentAt).length
      const refused = before > 0 ? `, refused before (${before})` : ''
      const made = `made ${seconds(sentAt - first.endedAt)} before`
      return {
        exchange,
        what: `with ${same} as ${what} that exists, ${made}${refused}`,
        expected: exists,
        shownBy: first.exchange.purpose.requirement,
      }
    })
  })
  const byName = isProcessed && !history.isRecorded ? refusedByName(history) : []
  return verdictOf([...evidence, ...byName], cases, `no existing object was requested again`)
}

/** Of simultaneous creations of one thing at most one is accepted, and the server does not always crash. */
export const atomicRule: RelationRule = (history, id) => {
  const creator = creatorOf(id)
  let cases = 0
  let why = 'no two creations of the same thing were sent at once'
  let hasBroken = false
  for (const attempts of thingsOf(history, id)) {
    const meant = attempts.filter(isMeant)
    const granted = meant.filter(isGranted)
    const beside = meant.filter((one) =>
      meant.some((other) => other !== one && overlaps(one, other)),
    )
    const broken = ({ exchange }: HistoryEvent, expected: string, actual?: string): Evidence => ({
      exchange,
      what: `with ${creator.same}, at once with ${beside.length - 1} others`,
      expected,
      actual,
    })
    const second = granted.find((one, at) => granted.slice(0, at).some((two) => overlaps(one, two)))
    if (second) {
      const actual = `${beside.filter(isGranted).length} of them were accepted`
      return verdictOf([broken(second, 'at most one is accepted', actual)], cases + 1, why)
    }
    const refused = beside.filter((one) => isRefused(one) && granted.length > 0)
    cases += refused.length
    const shown = beside.find((one) => !one.isGranted)
    if (shown && granted.length === 0)
      why = `none of the concurrent creations was accepted: ${describeResponse(shown.exchange)}`
    const crash = refused.find(({ exchange }) => isOwnBreakdown(exchange))
    // The second must be refused; a server that always crashes on it is broken.
    if (crash && hasBroken)
      return verdictOf(
        [broken(crash, 'a refusal, not a crash, for all but one of them')],
        cases,
        why,
      )
    hasBroken ||= crash !== undefined
  }
  return verdictOf([], cases, why)
}
