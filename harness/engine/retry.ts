import type { Exchange, Probe, Purpose } from './exchange.ts'
import { kindOfRequest } from './grant-rate.ts'
import { confirmKey, separateWrongKeys } from './key-watch.ts'
import { isHung, isLost } from './losses.ts'
import { pause } from './outcome.ts'
import { operationName, probeOf, type Source } from './request.ts'
import { type HttpResponse, isBreakdown, isThrottled, tpeOf } from './response.ts'
import { isExpected, isOfFamily, hasStatusOf } from './pairs.ts'
import { perRun, type Run } from './run.ts'
import { type SendingOptions, sendTry } from './send.ts'

/** A request that is made anew for each try. */
export interface Outgoing extends Pick<SendingOptions, 'fresh'> {
  readonly run: Run
  readonly source: Source
  readonly purpose: Purpose
  /** An object that it names allows it now, and not at will. */
  readonly isGated?: boolean
}

/** What the tries of one request have in common; each policy has members of its own. */
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
  /** How many answers were lost. */
  lost: number
  /** It was sent once more since a few others got no answer in time either. */
  hung: boolean
  /** How often the target was gone, and came back. */
  refusals: number
  readonly gatewayErrors: HttpResponse[]
  /** Throttled answers so far. */
  throttled: number
}

/** Looks at what came: gives the exchange if that is the end, or `again` if another try is due. */
type Policy = (exchange: Exchange, tries: Tries) => 'again' | Exchange | Promise<'again' | Exchange>

/**
 * Sends a request with the patience that a conforming target may ask for: 429 and 503 are backed off, a request that
 * cannot have had an effect is sent once more if no answer came, and so is any that met a connection which the target had
 * just closed. Throws `NotExercised` if the circuit breaker is open or the run is over.
 */
export async function sendWithPatience(outgoing: Outgoing): Promise<Exchange> {
  const { run, source, purpose, fresh = false, isGated } = outgoing
  const { breaker, throttle } = run.client
  const tries: Tries = {
    run,
    purpose,
    fresh,
    alone: false,
    resent: false,
    lost: 0,
    hung: false,
    refusals: 0,
    gatewayErrors: [],
    throttled: 0,
  }
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
      const exchange = await sendTry({
        run,
        probe,
        purpose,
        fresh: tries.fresh,
        alone: tries.alone || tries.throttled >= triesBeside,
        ...(isGated ? {} : { source }),
      })
      const decided = await (exchange.response ? onResponse : onLoss)(exchange, tries)
      if (decided !== 'again') return decided
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
const onLoss: Policy = async (exchange, tries) => {
  const { run, purpose } = tries
  const { noResponse, probe } = exchange
  const { breaker, losses } = run.client
  if (isLost(noResponse!)) tries.lost++
  // It never reached the target, which may be starting again.
  if (noResponse!.detail === 'nobody-listens' && tries.refusals++ < maxRefusals) {
    await confirmAlive(run, exchange)
    return 'again'
  }
  if (noResponse!.staleConnection && !tries.fresh) {
    tries.unanswered = exchange
    tries.fresh = true
    tries.resent ||= tries.alone
    losses.retried++
    return 'again'
  }
  const repeatable = isRepeatable(probe, purpose)
  if (!tries.resent && repeatable) {
    await prepareAgain(exchange, tries)
    return 'again'
  }
  // Chance may explain a loss in a run that lost other answers.
  if (repeatable && isLost(noResponse!) && tries.lost < losses.proof(tries.lost, sizeOf(probe))) {
    tries.unanswered = exchange
    tries.fresh = true
    losses.retried++
    await pause(run, run.options.backoffMs)
    return 'again'
  }
  if (repeatable && isHung(noResponse!) && !tries.hung && losses.hangsNowAndThen(2)) {
    tries.unanswered = exchange
    tries.hung = tries.fresh = true
    losses.retried++
    return 'again'
  }
  const wasGone = await confirmAlive(run, exchange)
  if (wasGone && repeatable && tries.refusals++ < maxRefusals) {
    // By itself: one of those that were under way may have brought the target down, and would again.
    tries.alone = true
    return 'again'
  }
  const last = tries.resent ? unansweredFor(exchange) : exchange
  // One that was sent again as often as it takes has proven it by itself.
  const byChance = isLost(noResponse!) && !repeatable
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

/** A lost request goes once more: a target that takes few connections closes a further one. So alone, and on one that is open, before another fresh one. */
async function prepareAgain(exchange: Exchange, tries: Tries): Promise<void> {
  const isReset = exchange.noResponse!.cause === 'reset'
  const onOpen = isReset && !tries.alone && exchange.previousRequest === undefined
  tries.unanswered = exchange
  tries.resent = tries.fresh = !onOpen
  tries.run.client.losses.retried++
  if (!isReset) return
  tries.alone = true
  await pause(tries.run, tries.run.options.backoffMs)
}

function sizeOf({ body }: Probe): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : (body?.length ?? 0)
}

/** Throws the end of the run if the target is gone; true if it was gone for a while. */
async function confirmAlive(run: Run, { endedAt }: Exchange): Promise<boolean> {
  const wasGone = await run.client.liveness.confirm(endedAt)
  run.life.signal.throwIfAborted()
  return wasGone
}

const onResponse: Policy = async (exchange, tries) => {
  const { run, purpose, gatewayErrors, unanswered } = tries
  const { probe } = exchange
  const response = exchange.response!
  run.client.breaker.reset(operationName(probe))
  await confirmKey(run, exchange)
  if (isGatewayError(response)) {
    if ((await onGatewayError(exchange, tries)) === 'again') return 'again'
  } else for (const error of gatewayErrors) gatewayErrorsOf(run).add(error)
  if (isThrottled(response) && !isExpected(purpose.expects, response))
    return onThrottled(exchange, tries)
  return unanswered ? { ...exchange, unanswered } : exchange
}

/** A request is sent again so often after a gateway answered it for the service, and if the service was away meanwhile. */
const maxInARow = 2
const maxGatewayErrors = 3

/** Errors of a gateway in place of an answer that came when the request was sent again: no matter of what was sent. */
export const gatewayErrorsOf = perRun(() => new WeakSet<HttpResponse>())

/** Sent again at least: a service that starts again may be back already, and one in many may be lost on the way. */
const onGatewayError: Policy = async (exchange, { run, purpose, gatewayErrors }) => {
  const response = exchange.response!
  if (hasStatusOf(purpose.expects, response) || gatewayErrors.push(response) > maxGatewayErrors)
    return exchange
  const wasAway = await run.client.liveness.wasAway(exchange)
  run.life.signal.throwIfAborted()
  if (!wasAway && gatewayErrors.length > maxInARow) return exchange
  run.client.losses.retried++
  return 'again'
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
const onThrottled: Policy = (exchange, tries) => {
  const { run, purpose } = tries
  const { probe } = exchange
  const response = exchange.response!
  const operation = operationName(probe)
  const { throttle } = run.client
  // It may be what the requirement expects, by another name: probe and control sent in turn tell soon.
  const most = isOfFamily(purpose.expects, response) ? 1 : Infinity
  const limit = Math.min(throttle.tries(operation), most)
  const counted = !hasStatusOf(purpose.expects, response)
  const pauseMs = throttle.hold(operation, response, tries.throttled, {
    tries: limit,
    counted,
    kind: kindOfRequest(probe),
  })
  if (pauseMs !== undefined && tries.throttled++ < limit) return 'again'
  if (purpose.role !== 'probe' && !purpose.badInput) stopIfSuspected(run, probe)
  return { ...exchange, throttled: true }
}

/** A request that should be granted was throttled: after 30 s of that its operation gets no more. */
export function stopIfSuspected({ client }: Run, probe: Probe): void {
  const operation = operationName(probe)
  if (client.throttle.isSuspected(operation)) client.breaker.stop(operation)
}
