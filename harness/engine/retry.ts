import type { NoResponse } from '../http/index.ts'
import type { Exchange, Probe, Purpose } from './exchange.ts'
import { confirmKey, separateWrongKeys } from './key-watch.ts'
import { isHung, isLost } from './losses.ts'
import { pause } from './outcome.ts'
import { maxTries } from './pace.ts'
import {
  hasStatusOf,
  isExpected,
  isOfFamily,
  type HttpResponse,
  isBreakdown,
  isThrottled,
  tpeOf,
} from './response.ts'
import { operationName, probeOf, type Source } from './request.ts'
import type { Run } from './run.ts'
import { type SendingOptions, sendOnce } from './send.ts'

/** A request that is made anew for each try. */
export interface Outgoing extends Pick<SendingOptions, 'fresh'> {
  readonly run: Run
  readonly source: Source
  readonly purpose: Purpose
  /** An object that it names allows it now, and not at will. */
  readonly isGated?: boolean
}

interface Tries {
  readonly run: Run
  readonly purpose: Purpose
  /** The next try goes on a connection of its own; while nothing else is under way. */
  fresh: boolean
  alone: boolean
  /** The last try that got no answer. */
  unanswered?: Exchange
  /** It was sent again for want of an answer, as often as it takes if nothing else is lost. */
  resent: boolean
  lost: number
  /** It was sent once more since a few others got no answer in time either. */
  hung: boolean
  /** How often the target was gone, and came back. */
  refusals: number
  readonly gatewayErrors: HttpResponse[]
  throttled: number
}

/** The exchange that the tries end with, or `again` if another try is due. */
type Next = 'again' | Exchange

/**
 * Sends a request with the patience that a conforming target may ask for: 429 and 503 are backed off, a request that
 * cannot have had an effect is sent once more if no answer came, and so is any that met a connection which the target had
 * just closed. Throws `NotExercised` if the circuit breaker is open or the run is over.
 */
export async function sendWithPatience(outgoing: Outgoing): Promise<Exchange> {
  const { run, source, purpose, fresh = false, isGated } = outgoing
  const { breaker, throttle } = run.client
  const none = { alone: false, resent: false, lost: 0, hung: false, refusals: 0, throttled: 0 }
  const tries: Tries = { run, purpose, fresh, gatewayErrors: [], ...none }
  let releaseQueue: (() => void) | undefined
  try {
    for (;;) {
      const probe = await probeOf(source)
      const operation = operationName(probe)
      breaker.check(operation)
      if (throttle.isSerialized(operation))
        releaseQueue ??= await throttle.queue(operation, run.life.signal)
      await throttle.pass(operation, run.life.signal)
      await separateWrongKeys(run, probe)
      const exchange = await sendOnce(run, probe, purpose, {
        fresh: tries.fresh,
        alone: tries.alone || tries.throttled >= triesBeside,
        ...(isGated ? {} : { source }),
      })
      const next = exchange.response
        ? await afterResponse(exchange, exchange.response, tries)
        : await afterLoss(exchange, exchange.noResponse!, tries)
      if (next !== 'again') return next
    }
  } catch (error) {
    // The circuit breaker opened while it waited to be sent once more: others like it were lost as often as it takes.
    const { unanswered } = tries
    if (!unanswered || run.life.ended || !breaker.isOpen(operationName(unanswered.probe)))
      throw error
    return unansweredFor(unanswered)
  } finally {
    releaseQueue?.()
  }
}

/** An operation that leaves so many requests in a row without an answer gets no more of them. */
const mostUnanswered = 2
/** A request is sent again so often after it was refused by a target that turned out to live. */
const maxRefusals = 3

/** No answer came: the target may be starting again, its connection may have been stale, or the request was lost. */
async function afterLoss(exchange: Exchange, noResponse: NoResponse, tries: Tries): Promise<Next> {
  const { run, purpose } = tries
  const { probe } = exchange
  const { breaker, losses } = run.client
  const again = (): 'again' => {
    tries.unanswered = exchange
    losses.retried++
    return 'again'
  }
  if (isLost(noResponse)) tries.lost++
  // It never reached the target, which may be starting again.
  if (noResponse.detail === 'nobody-listens' && tries.refusals++ < maxRefusals) {
    await cameBack(run, exchange)
    return 'again'
  }
  if (noResponse.staleConnection && !tries.fresh) {
    tries.fresh = true
    tries.resent ||= tries.alone
    return again()
  }
  const repeatable = isRepeatable(probe, purpose)
  if (!tries.resent && repeatable) {
    // A target that takes few connections closes a further one: so alone, and on one that is open, before another fresh one.
    const isReset = noResponse.cause === 'reset'
    const onOpen = isReset && !tries.alone && exchange.previousRequest === undefined
    tries.resent = tries.fresh = !onOpen
    tries.alone ||= isReset
    again()
    if (isReset) await pause(run, run.options.backoffMs)
    return 'again'
  }
  // Chance may explain a loss in a run that lost other answers.
  if (repeatable && isLost(noResponse) && tries.lost < losses.proof(tries.lost, sizeOf(probe))) {
    tries.fresh = true
    again()
    await pause(run, run.options.backoffMs)
    return 'again'
  }
  if (repeatable && isHung(noResponse) && !tries.hung && losses.hangsNowAndThen(2)) {
    tries.hung = tries.fresh = true
    return again()
  }
  const wasGone = await cameBack(run, exchange)
  if (wasGone && repeatable && tries.refusals++ < maxRefusals) {
    // By itself: one of those that were under way may have brought the target down, and would again.
    tries.alone = true
    return 'again'
  }
  const last = tries.resent ? unansweredFor(exchange) : exchange
  // One that was sent again as often as it takes has proven it by itself.
  const byChance = isLost(noResponse) && !repeatable
  if (!wasGone || repeatable)
    breaker.count(operationName(probe), last, (row) =>
      byChance ? losses.proof(row, sizeOf(probe)) : mostUnanswered,
    )
  return last
}

/** Of a slow road only: the service did answer. */
const unansweredFor = (exchange: Exchange): Exchange =>
  exchange.noResponse?.detail === 'still-coming' ? exchange : { ...exchange, unansweredTwice: true }

/** A request that should be granted is tried twice before it counts as unanswered: the second makes an object of its own. */
function isRepeatable({ effect }: Probe, { isSuccess, role }: Purpose): boolean {
  return effect === 'none' || isSuccess !== undefined || role === 'setup'
}

function sizeOf({ body }: Probe): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : (body?.length ?? 0)
}

/** Throws the end of the run if the target is gone; true if it was gone for a while. */
async function cameBack(run: Run, exchange: Exchange): Promise<boolean> {
  const wasAway = await run.client.liveness.cameBack(exchange)
  run.life.signal.throwIfAborted()
  return wasAway
}

/** A request is sent again so often after a gateway answered it for the service, and if the service was away meanwhile. */
const maxInARow = 2
const maxGatewayErrors = 3

/** An answer came: of the service, of a gateway in its place, or one that asks for patience. */
async function afterResponse(
  exchange: Exchange,
  response: HttpResponse,
  tries: Tries,
): Promise<Next> {
  const { run, purpose, gatewayErrors, unanswered } = tries
  const { breaker, losses } = run.client
  breaker.reset(operationName(exchange.probe))
  await confirmKey(run, exchange)
  if (!isGatewayError(response))
    for (const error of gatewayErrors) run.findings.gatewayErrors.add(error)
  else if (
    !hasStatusOf(purpose.expects, response) &&
    gatewayErrors.push(response) <= maxGatewayErrors
  ) {
    // Sent again at least: a service that starts again may be back already, and one in many may be lost on the way.
    if ((await cameBack(run, exchange)) || gatewayErrors.length <= maxInARow) {
      losses.retried++
      return 'again'
    }
  }
  if (isThrottled(response) && !isExpected(purpose.expects, response))
    return afterThrottling(exchange, response, tries)
  return unanswered ? { ...exchange, unanswered } : exchange
}

/** A gateway says that the service behind it gave no answer, in an envelope or without. */
function isGatewayError(response: HttpResponse): boolean {
  return (
    (response.status === 502 || response.status === 504) &&
    !response.errors.isModelError(tpeOf(response))
  )
}

/** A breakdown of the service itself: a gateway may pass on one request of several at a time. */
export function isOwnBreakdown({ response }: Exchange): boolean {
  return response !== undefined && isBreakdown(response) && !isGatewayError(response)
}

/** Tries of a throttled request beside others; then it is sent alone, since the limit may be on requests at once. */
const triesBeside = 2

/** The operation is held back for as long as the target asks, or twice as long as before. */
function afterThrottling(exchange: Exchange, response: HttpResponse, tries: Tries): Next {
  const { run, purpose } = tries
  const { probe } = exchange
  const operation = operationName(probe)
  // It may be what the requirement expects, by another name.
  const most = isOfFamily(purpose.expects, response) ? 1 : maxTries
  const isCounted = !hasStatusOf(purpose.expects, response)
  const pauseMs = run.client.throttle.hold(operation, response, tries.throttled, isCounted)
  if (pauseMs !== undefined && tries.throttled++ < most) return 'again'
  return { ...exchange, throttled: true }
}
