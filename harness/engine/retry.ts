import type { NoResponse } from '../http/index.ts'
import type { Exchange, Probe, Purpose } from './exchange.ts'
import { confirmKey, separateWrongKeys } from './key-watch.ts'
import { isLost } from './losses.ts'
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

/** A request that is made anew for each attempt. */
export interface Outgoing extends Pick<SendingOptions, 'fresh'> {
  readonly run: Run
  readonly source: Source
  readonly purpose: Purpose
  /** An object allows it now, but not at any time. */
  readonly isGated?: boolean
}

interface Tries {
  readonly run: Run
  readonly purpose: Purpose
  /** The next attempt uses a new connection. */
  fresh: boolean
  alone: boolean
  unanswered?: Exchange
  /** Repeated without an answer as often as is conclusive. */
  resent: boolean
  /** Tries that got no answer, refused connections apart. */
  lost: number
  /** How often the target was away, and came back. */
  away: number
  readonly gatewayErrors: HttpResponse[]
  throttled: number
}

/** The final exchange, or `again` for another attempt. */
type Next = 'again' | Exchange

/**
 * Sends a request with the retries that a conforming target may need: backs off after 429 and 503, repeats a request
 * without effect that got no answer, and any on a connection that the target had just closed. Throws `NotExercised` if
 * the circuit breaker is open or the run is over.
 */
export async function sendWithPatience(outgoing: Outgoing): Promise<Exchange> {
  const { run, source, purpose, fresh = false, isGated } = outgoing
  const { breaker, throttle } = run.client
  const none = { alone: false, resent: false, lost: 0, away: 0, throttled: 0 }
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
    // The circuit breaker opened meanwhile: similar requests were lost conclusively.
    const { unanswered } = tries
    if (!unanswered || run.life.ended || !breaker.isOpen(operationName(unanswered.probe)))
      throw error
    return unansweredFor(unanswered)
  } finally {
    releaseQueue?.()
  }
}

/** After this many consecutive unanswered requests, an operation gets no more. */
const mostUnanswered = 2
/** A request is sent again so often after the target was away, and came back. */
const maxAway = 3

/** No answer: the target may be restarting, the connection stale, or the request lost. */
async function afterLoss(exchange: Exchange, noResponse: NoResponse, tries: Tries): Promise<Next> {
  const { run, purpose } = tries
  const { probe } = exchange
  const { breaker, losses } = run.client
  // It never reached the target, which may be starting again.
  if (noResponse.detail === 'nobody-listens' && tries.away++ < maxAway) {
    await cameBack(run, exchange)
    return 'again'
  }
  tries.lost++
  const isReset = isLost(noResponse)
  const repeatable = isRepeatable(probe, purpose)
  const isStale = noResponse.staleConnection && !tries.fresh
  const bytes = sizeOf(probe)
  if (
    isStale ||
    (repeatable && (!tries.resent || losses.mayBeChance(noResponse, tries.lost, bytes)))
  ) {
    tries.unanswered = exchange
    losses.retried++
    // A target with few connections closes further ones: retry alone, on an open connection, before another fresh one.
    const onOpen = !isStale && isReset && !tries.alone && exchange.previousRequest === undefined
    tries.fresh = !onOpen
    tries.resent ||= isStale ? tries.alone : !onOpen
    tries.alone ||= isReset && !isStale
    if (isReset && !isStale) await pause(run, run.options.backoffMs)
    return 'again'
  }
  const wasAway = await cameBack(run, exchange)
  if (wasAway && repeatable && tries.away++ < maxAway) {
    // Alone: one of the concurrent requests may have brought the target down, and would again.
    tries.alone = true
    return 'again'
  }
  const last = tries.resent ? unansweredFor(exchange) : exchange
  // One repeated to a conclusion has proven it by itself.
  const byChance = isReset && !repeatable
  // Bad input that only causes a state is judged where it is a case: that must still be sent.
  const isStateOnly = purpose.role === 'setup' && purpose.badInput === true
  if (!isStateOnly && (!wasAway || repeatable))
    breaker.count(operationName(probe), last, (row) =>
      byChance ? losses.proof(row, bytes) : mostUnanswered,
    )
  return last
}

/** Only over a slow network: the service did answer. */
const unansweredFor = (exchange: Exchange): Exchange =>
  exchange.noResponse?.detail === 'still-coming' ? exchange : { ...exchange, unansweredTwice: true }

/** A valid request counts as unanswered after two attempts, each with its own object. */
function isRepeatable({ effect }: Probe, { isSuccess, role }: Purpose): boolean {
  return effect === 'none' || isSuccess !== undefined || role === 'setup'
}

function sizeOf({ body }: Probe): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : (body?.length ?? 0)
}

/** Throws the end of the run if the target is gone; true if it was gone for a while. */
async function cameBack(run: Pick<Run, 'client' | 'life'>, exchange: Exchange): Promise<boolean> {
  const wasAway = await run.client.liveness.cameBack(exchange)
  run.life.signal.throwIfAborted()
  return wasAway
}

/** Retries after a gateway's answer, and after an outage of the service. */
const maxInARow = 2
const maxGatewayErrors = 3

/** An answer came: from the service, from a gateway, or throttled. */
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
    // Repeated at least once: a restarting service may be back, and single requests may be lost.
    if ((await cameBack(run, exchange)) || gatewayErrors.length <= maxInARow) {
      losses.retried++
      return 'again'
    }
  }
  if (isThrottled(response) && !isExpected(purpose.expects, response))
    return afterThrottling(exchange, response, tries)
  return unanswered ? { ...exchange, unanswered } : exchange
}

function isGatewayError(response: HttpResponse): boolean {
  return (
    (response.status === 502 || response.status === 504) &&
    !response.errors.isModelError(tpeOf(response))
  )
}

/** A crash of the service itself: a gateway may forward one of several requests at a time. */
export function isOwnBreakdown({ response }: Exchange): boolean {
  return response !== undefined && isBreakdown(response) && !isGatewayError(response)
}

/** Concurrent retries of a throttled request; then it goes alone, since the limit may be on concurrency. */
const triesBeside = 2

/** Pauses the operation as long as requested, or twice as long as before. */
function afterThrottling(exchange: Exchange, response: HttpResponse, tries: Tries): Next {
  const { run, purpose } = tries
  const { probe } = exchange
  const operation = operationName(probe)
  // It may be the expected answer under another name.
  const most = isOfFamily(purpose.expects, response) ? 1 : maxTries
  const isCounted = !hasStatusOf(purpose.expects, response)
  const pauseMs = run.client.throttle.hold(operation, response, tries.throttled, isCounted)
  if (pauseMs !== undefined && tries.throttled++ < most) return 'again'
  return { ...exchange, throttled: true }
}
