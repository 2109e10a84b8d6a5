import { refusalOfExisting } from '../../catalogue/catalogue.ts'
import { operationOf } from '../../catalogue/operations.ts'
import { describeResponse } from './describe.ts'
import {
  differing,
  type Exchange,
  isBareError,
  isRight,
  isThrottling,
  isWrong,
  kindOf,
  kindOfFailure,
  isRefusedByClient,
  type PreviousRequest,
  type Probe,
  isExpected,
  isOfFamily,
  mentionsExpected,
  type Open,
  open,
} from './exchange.ts'
import type { Ask, Asks, Conclusion, Entry, Journal, Known } from './journal.ts'

/**
 * Attempts while transient guardrails or model errors interfere. For valid requests 5: among the hundreds of a run, a
 * server that blocks one in twelve blocks none every time. For invalid ones more: they generate nothing, and a server
 * that blocks every n-th request may hit each of a rotation.
 */
const triesIfBlocked = { granted: 5, refused: 8 }
const settlingEveryMs = 1000

/**
 * Decides the answer to a request; if something other than the request may have made it wrong, asks again with that
 * changed.
 */
export function answerTo(ask: Ask, all: readonly Entry[], known: Known): Conclusion {
  const other = ask.otherwise && { ...ask, source: ask.otherwise, otherwise: undefined }
  const at = other ? all.findIndex((one) => !one.ask.otherwise) : -1
  if (other && at >= 0) return answerTo(other, all.slice(at), known)
  const conclusion = concludeFrom(ask, all, known)
  if (!('answer' in conclusion)) return conclusion
  const { answer } = conclusion
  // How a body is refused, such as for a name of a file that is not allowed.
  if (other && [400, 415, 422].includes(answer.response?.status ?? 0)) return { asks: [other] }
  if (ask.settles && maySettle(ask.settles, answer, all, known)) {
    const { settleMs } = known
    // Soon, and once more when it has to show.
    const pauseMs = all.length > 1 ? settleMs : Math.min(settlingEveryMs, settleMs)
    return { asks: [{ ...ask, pauseMs }] }
  }
  // What was lost before may have had an effect, though the same request was answered several times since.
  const lost =
    all.length > 1 &&
    all.find((entry) => entry.exchange.probe === answer.probe && entry.exchange.unanswered)
  if (!lost || answer.unanswered) return conclusion
  return { ...conclusion, answer: { ...answer, unanswered: lost.exchange.unanswered } }
}

export type Look = { readonly outcome: 'answered'; readonly exchange: Exchange } | Open | Asks

/** The answer to a request in the journal, or what to send for it. */
export function lookAt(journal: Journal, request: Ask, known: Known): Look {
  const conclusion = answerTo(request, journal.entriesOf(request), known)
  if ('answer' in conclusion) return { outcome: 'answered', exchange: conclusion.answer }
  const why = journal.unsent.get(request.name)
  return why ? open(why) : { outcome: 'asks', asks: conclusion.asks }
}

function concludeFrom(ask: Ask, all: readonly Entry[], known: Known): Conclusion {
  if (all.length === 0) return { asks: [ask] }
  const { expects, isSuccess } = ask.purpose
  // Another requirement may have sent it, to which other answers are right.
  const entries = all.map((one) => {
    const { purpose } = one.exchange
    return purpose.expects === expects && purpose.isSuccess === isSuccess
      ? one
      : { ...one, exchange: { ...one.exchange, purpose: { ...purpose, expects, isSuccess } } }
  })
  const at = entries.findLastIndex((one) => !one.ask.once)
  const sent = entries[at]?.exchange
  if (!sent) return { asks: [ask] }
  if (isBlocked(sent)) {
    const blocks = entries.filter((one) => !one.ask.once && isBlocked(one.exchange))
    if (blocks.length < mostBlocks(sent)) return { asks: [ask] }
  }
  // An answer that is not HTTP was resent, but its connection is still checked.
  const suspected = sent.unanswered?.noResponse?.cause === 'malformed' ? sent.unanswered : sent
  // Most answers are right, and judged again with each further one of their requirement.
  if (suspected === sent && !isUnknown(sent, known)) return { answer: sent }
  if (isAwaited(sent) && isUnknown(sent, known) && isSettling(known, sent))
    return { asks: [{ ...ask, source: sent.probe, pauseMs: settlingEveryMs }] }
  if (!mayBeSpoiled(suspected, known)) return { answer: sent }
  const trial = entries.slice(at + 1).map((one) => one.exchange)
  const conclusion = onConnections(ask, suspected, trial, known)
  return 'answer' in conclusion && suspected !== sent ? { ...conclusion, answer: sent } : conclusion
}

/** Whether there is time for a later answer that may be good. */
const maySettle = (
  settles: NonNullable<Ask['settles']>,
  exchange: Exchange,
  all: readonly Entry[],
  known: Known,
): boolean =>
  all.at(-1)!.exchange.sentAt < settles.since + known.settleMs &&
  !exchange.throttled &&
  !exchange.unansweredTimes &&
  !settles.isGood(exchange)

const isUnknown = (exchange: Exchange, known: Known): boolean =>
  isWrong(exchange) && !known.wrongAnywhere.has(kindOfFailure(exchange))

/** By a guardrail or a model error that it is not about. */
const isBlocked = (exchange: Exchange): boolean =>
  !exchange.throttled &&
  exchange.response?.isBlock === true &&
  !isExpected(exchange.purpose.expects, exchange.response)

const mostBlocks = (exchange: Exchange): number =>
  exchange.probe.effect === 'none' && exchange.purpose.expects && !exchange.purpose.isSuccess
    ? triesIfBlocked.refused
    : triesIfBlocked.granted

/** Requests that cause a state wait on their own, and a new job may be missing: a later reading finds it. */
const isAwaited = (exchange: Exchange): boolean =>
  exchange.purpose.role !== 'poll' &&
  (exchange.purpose.expects ?? exchange.purpose.isSuccess) !== undefined

/**
 * True if the request names an object that the run made less than `settleMs` ago, so that the answer may only mean that
 * it is not there yet.
 */
export function isSettling(known: Pick<Known, 'settleMs' | 'madeAt'>, exchange: Exchange): boolean {
  const status = exchange.response?.status ?? 0
  if (status < 400 || status > 499 || [401, 403, 429].includes(status)) return false
  const { params, query, body } = exchange.probe
  const isNew = (at = -Infinity): boolean => at > exchange.sentAt - known.settleMs
  const ids = Object.values({ ...query, ...params }).flat()
  if (ids.some((id) => isNew(known.madeAt.get(id)))) return true
  if (typeof body !== 'string') return false
  for (const [id, at] of known.madeAt) if (isNew(at) && body.includes(id)) return true
  return false
}

export function countsAsGranted(exchange: Exchange): boolean {
  const { response } = exchange
  const { operation } = exchange.probe
  if (!response || response.isGranted) return response !== undefined
  const mayBeDone = operation !== null && operationOf(operation).alreadyDone !== undefined
  return mayBeDone && isExpected(refusalOfExisting(operation), response)
}

function mayBeSpoiled(exchange: Exchange, known: Known): boolean {
  const { previousRequest, purpose, response } = exchange
  return (
    previousRequest !== undefined &&
    isUnknown(exchange, known) &&
    !isBlocked(exchange) &&
    !isSettling(known, exchange) &&
    !(purpose.role === 'poll' && response?.status === 404)
  )
}

/**
 * Whether each answer must be wrong (after the previous request) or right (on a fresh connection): an order that
 * neither alternating replicas nor a periodic fault shows, nor, the first time, a fault in every third answer by
 * chance.
 */
const wrongBehind = {
  proven: [true, true, false, true],
  first: [true, true, false, true, true, false, true, true, false, true, true],
  once: [true, true, true, true],
} as const

export const sentFor = (request: PreviousRequest): string =>
  `${request.probe.operation} ${request.purpose.about ?? request.purpose.requirement}`

/**
 * Judges a wrong answer on a reused connection. If it is right on a fresh one and wrong again after the previous
 * request, that request is to blame: its requirement fails, and the right answer counts. Otherwise the answers differ,
 * and the wrong one is judged.
 */
function onConnections(
  ask: Ask,
  wrong: Exchange,
  trial: readonly Exchange[],
  known: Pick<Known, 'spoilers'>,
): Conclusion {
  const isRepeatable = mayRepeat(wrong)
  // Without an answer from the service itself, there was most likely no effect.
  if (!isRepeatable && wrong.response && !isBareError(wrong.response)) return { answer: wrong }
  const [fresh, ...others] = trial
  const onFresh: Conclusion = { asks: [{ ...ask, once: true, fresh: true }] }
  if (!fresh) return onFresh
  if (isWrong(fresh)) return { answer: wrong, wrongAnywhere: kindOfFailure(wrong) }
  if (!isRight(fresh)) return { answer: wrong }
  const before = wrong.previousRequest!
  // To serve a request without a key is that request's own fault.
  const isServed = !wrong.probe.credential.full && wrong.response?.isGranted === true
  if (isServed && !before.probe.credential.full) return { answer: wrong }
  const trials = known.spoilers.has(sentFor(before)) ? 'proven' : 'first'
  for (const [at, isBehind] of wrongBehind[isRepeatable && !isServed ? trials : 'once'].entries()) {
    const other = others[at]
    const after = isBehind ? repeated(before) : undefined
    if (isBehind && !after) return { answer: wrong }
    if (!other) return after ? { asks: [{ ...ask, once: true, after }] } : onFresh
    const fits = isBehind ? other.previousRequest && isWrong(other) : isRight(other)
    if (!fits)
      return { answer: { ...wrong, finding: differing([wrong, ...trial].map(describeResponse)) } }
  }
  return isServed
    ? { answer: { ...wrong, finding: { kind: 'remembers-key' } } }
    : { answer: fresh, blames: wrong }
}

/** Repeats the request; undefined if it cannot be repeated at will, such as one that starts a job. */
function repeated(request: PreviousRequest): Ask | undefined {
  const { again, purpose } = request
  const { effect, operation } = request.probe
  if (effect === 'none') return { source: request.probe, purpose }
  const goesOn = effect === 'generates' && operationOf(operation!).creates !== undefined
  return again && !goesOn ? { source: again, purpose } : undefined
}

/** Number of attempts at the end, since an answer may vary, by replica or at random. */
const timesAtEnd = 4

/** Whether it has no effect, or was refused; what was created by mistake exists the next time. */
function mayRepeat(exchange: Exchange): boolean {
  const { probe, response } = exchange
  if (response?.isGranted && leavesState(probe)) return false
  return probe.effect === 'none' || (response !== undefined && isRefusedByClient(response.status))
}

/** Whether a failed request may be sent again: it creates nothing, or was refused before. */
export const isHarmless = (exchange: Exchange): boolean =>
  exchange.response !== undefined && !isThrottling(exchange) && mayRepeat(exchange)

/** Whether it creates an object, adds one to another, or destroys one: once accepted, the same request gets another answer. */
export function leavesState(probe: Probe): boolean {
  if (probe.operation === null) return false
  const { creates, freshFileAt, effect } = operationOf(probe.operation)
  return creates !== undefined || freshFileAt !== undefined || effect === 'destroys'
}

const isSilentAtEnd = (one: Exchange): boolean =>
  !one.response || one.isOfGateway || isThrottling(one)

/**
 * How many more answers to a failed request are needed at the end of the run.
 * @param isOften several, whatever comes first
 */
export function moreAtEnd(failed: Exchange, later: readonly Exchange[], isOften: boolean): number {
  if (later.length >= timesAtEnd || later.some(isSilentAtEnd)) return 0
  // A request that creates something after all is not sent again.
  const mayMake = failed.probe.effect !== 'none' && leavesState(failed.probe)
  if (mayMake && later.some((one) => one.response!.isGranted)) return 0
  const [first] = later
  if (first && !isOften && kindOf(first) === kindOf(failed)) return 0
  const leavesNothing = !mayMake && failed.probe.effect !== 'creates'
  // All at once if that leaves nothing behind: sending one per failure in turn would hit the same of several
  // instances every time.
  return leavesNothing && (isOften || first) ? timesAtEnd - later.length : 1
}

/** What answers at the end of the run show of an earlier failure; undefined if they are like it. */
export function findingAtEnd(failed: Exchange, later: readonly Exchange[]): Exchange['finding'] {
  const kinds = new Set(later.map(kindOf))
  if (later.some(isSilentAtEnd) || (kinds.size === 1 && kinds.has(kindOf(failed)))) return undefined
  return kinds.size === 1
    ? { kind: 'otherwise-later', response: describeResponse(later[0]!) }
    : differing([failed, ...later].map(describeResponse))
}

export const maxTries = 5
/** Retries of what may be the expected answer in another form: a limit of the service may hit two in a row. */
const triesIfAlike = 2
/** Concurrent retries of a throttled request; then it goes alone, since the limit may be on concurrency. */
const triesBeside = 2
/** Retries because the target was away meanwhile. */
const maxAway = 3

interface Chance {
  /** How many attempts in a row without an answer rule it out. */
  proof(): number
}

export type Retry = ReturnType<typeof retryOf>

/** A valid request counts as unanswered after two attempts, each with its own object. */
export function isRepeatable(exchange: Exchange): boolean {
  const { probe, purpose } = exchange
  return probe.effect === 'none' || purpose.isSuccess !== undefined || purpose.role === 'setup'
}

/**
 * Decides after the tries of a request whether to send it again, and how: after 429 and 503, and if it was lost and has
 * no effect, or never arrived. `look`: what follows depends on whether the target was away at the last one.
 */
export function retryOf(ask: Ask, tries: readonly Exchange[], chance: Chance) {
  let next: 'again' | 'look' | 'over' = 'again'
  let { fresh = false, alone = false } = ask
  let unanswered: Exchange | undefined
  /** Repeated without an answer as often as is conclusive. */
  let isResent = false
  let lost = 0
  let away = 0
  let ofGateway = 0
  let throttled = 0
  for (const one of tries) {
    const { noResponse, response, wasAway } = one
    const { expects } = one.purpose
    const isStale = noResponse?.staleConnection === true && !ask.after
    const isReset = noResponse?.cause === 'reset'
    // It never reached the target, which may be starting again.
    const isUnheard = noResponse?.detail === 'nobody-listens' && away < maxAway
    const isOfService = response !== undefined && !one.isOfGateway
    if (isStale) next = 'again'
    else if (ask.once) next = 'over'
    else if (isOfService) {
      // It may be the expected answer under another name, or in a form that cannot be read.
      const isAlike = () => isOfFamily(expects, response) || mentionsExpected(expects, response)
      const mayHelp = isThrottling(one) && !one.isTooLong
      const most = mayHelp && !one.isOwnLimit && isAlike() ? triesIfAlike : maxTries
      next = mayHelp && throttled < most ? 'again' : 'over'
    } else {
      // A gateway answers for a service that restarts, too: it takes one more.
      const own = response ? ofGateway : lost + 1
      // What a gateway answers for the service had most likely no effect.
      const mayRepeat = response !== undefined || isRepeatable(one)
      const isProven = (response !== undefined || isResent) && own >= chance.proof()
      const mayBeChance = mayRepeat && !isProven
      const wasAwayOnly = mayRepeat && wasAway === true && away < maxAway
      const mayHelp = isUnheard || mayBeChance || wasAwayOnly
      // Lost alone, it may itself have brought the target down; that soon rules out chance.
      const looks = response || isUnheard || alone || !mayBeChance
      next = looks && wasAway === undefined ? 'look' : mayHelp ? 'again' : 'over'
    }
    if (next !== 'again' && one === tries.at(-1)) break
    if (isStale) {
      unanswered ??= one
      fresh = true
    } else if (isOfService) throttled++
    else {
      if (!isUnheard) unanswered = one
      if (response) ofGateway++
      else if (!isUnheard) {
        lost++
        // A target that allows few connections closes new ones: retry alone on an open connection, then on a new one.
        fresh = !isReset || alone || one.previousRequest !== undefined
        isResent ||= fresh
      }
      if (isUnheard || wasAway) away++
      alone ||= response !== undefined || isUnheard || isReset || wasAway === true
    }
  }
  const how = { fresh, alone: alone || throttled >= triesBeside, attempt: throttled }
  return { next, how, unanswered, isResent, lost, ofGateway }
}
