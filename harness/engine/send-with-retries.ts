import type { OperationId } from '../../catalogue/operations.ts'
import {
  type HttpResponse,
  isBlocked,
  isBreakdown,
  isThrottled,
  isExpected,
  isOfFamily,
  hasStatusOf,
  tpeOf,
} from './response.ts'
import type { SendAgain } from './connection-trial.ts'
import { describeResponse } from './describe.ts'
import type { Exchange, Probe, Purpose } from './exchange.ts'
import { forLiveness, livenessProbe, operationName, probeOf, sendOnce } from './send.ts'
import type { SendingOptions, Source } from './send.ts'
import { confirmOnFreshConnection } from './reused-connection.ts'
import { type Run, perRun } from './run.ts'
import { pause } from './outcome.ts'

/**
 * Sends a request with the patience that a conforming target may ask for: 429 and 503 are backed off, a request that
 * cannot have had an effect is sent once more if no answer came, and so is any that met a connection which the target had
 * just closed. An answer that may be wrong because of what went before it on the connection is checked by further requests, and
 * one that a guardrail or a model error met is sent again. Throws `NotExercised` if the circuit breaker is open or the run is over.
 */
export function sendWithRetries(
  run: Run,
  source: Source,
  purpose: Purpose,
  options: RetryOptions = {},
): Promise<Exchange> {
  return pastBlocks(() => sendChecked(run, source, purpose, options))
}

/** How often a request that should be granted is sent, if a guardrail or a model error meets it now and then. */
const triesOfGranted = 3
/**
 * How often one that should be refused is sent then: more often, since nothing is generated, and requests of a run that take turns
 * may meet every block of a server that blocks one of so many.
 */
const triesOfRefused = 8

/** Sends a request again while a guardrail or a model error meets it, unless that is what it is sent for. */
export async function pastBlocks(send: () => Promise<Exchange>): Promise<Exchange> {
  let exchange = await send()
  const { probe, purpose } = exchange
  const isRefused =
    probe.effect === 'none' && purpose.expects !== undefined && purpose.isSuccess === undefined
  const isMet = (): boolean => !exchange.throttled && isBlocked(exchange, exchange.purpose.expects)
  for (let tries = isRefused ? triesOfRefused : triesOfGranted; tries > 1 && isMet(); tries--)
    exchange = await send()
  return exchange
}

async function sendChecked(
  run: Run,
  source: Source,
  purpose: Purpose,
  options: RetryOptions,
): Promise<Exchange> {
  const { exchange, garbled } = await sendUntilAnswered(run, source, purpose, options)
  if (exchange.throttled) return exchange
  const again: SendAgain = async (other) =>
    sendOnce(run, await probeOf(source), purpose, { ...other, source })
  if (!garbled) return confirmOnFreshConnection(run, exchange, again)
  await confirmOnFreshConnection(run, garbled, again)
  return exchange
}

interface RetryOptions extends Pick<SendingOptions, 'fresh'> {
  readonly isGated?: boolean
}

interface Patient {
  readonly exchange: Exchange
  /** Exchange on a reused connection before that whose answer was no HTTP. */
  readonly garbled?: Exchange
}

/** Tries of a throttled request beside others; then it is sent alone, since the limit may be on requests at once. */
const triesBeside = 2

/** A request is sent again so often after it was refused by a target that turned out to live. */
const maxRefusals = 3

/** A request is sent again so often after a gateway answered it for the service, and if the service was away meanwhile. */
const maxInARow = 2
const maxGatewayErrors = 3

/** Errors of a gateway in place of an answer that came when the request was sent again: no matter of what was sent. */
export const gatewayErrorsOf = perRun(() => new WeakSet<HttpResponse>())

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

/** Throws the end of the run if the target is gone; true if it was gone for a while. */
async function confirmAlive(run: Run, { endedAt }: Exchange): Promise<boolean> {
  const wasGone = await run.client.liveness.confirm(endedAt)
  run.life.signal.throwIfAborted()
  return wasGone
}

async function sendUntilAnswered(
  run: Run,
  source: Source,
  purpose: Purpose,
  options: RetryOptions,
): Promise<Patient> {
  let attempt = 0
  let refusals = 0
  const gatewayErrors: HttpResponse[] = []
  let resent = false
  let unanswered: Exchange | undefined
  let fresh = options.fresh ?? false
  let alone = false
  let garbled: Exchange | undefined
  let releaseQueue: (() => void) | undefined
  try {
    for (;;) {
      const probe = await probeOf(source)
      const operation = operationName(probe)
      run.client.breaker.check(operation)
      if (run.client.throttle.isSerialized(operation))
        releaseQueue ??= await run.client.throttle.queue(operation, run.life.signal)
      await run.client.throttle.pass(operation, run.life.signal)
      const exchange = await sendOnce(run, probe, purpose, {
        ...{ fresh, alone: alone || attempt >= triesBeside },
        ...(options.isGated ? {} : { source }),
      })
      const { response, noResponse } = exchange
      if (noResponse) {
        if (noResponse.cause === 'malformed' && exchange.previousRequest) garbled = exchange
        // It never reached the target, which may be starting again.
        if (noResponse.detail === 'nobody-listens' && refusals++ < maxRefusals) {
          await confirmAlive(run, exchange)
          continue
        }
        if (noResponse.staleConnection && !fresh) {
          unanswered = exchange
          fresh = true
          resent ||= alone
          continue
        }
        // A request that should be granted is tried twice before it counts as unanswered: the second makes an object of its own.
        const repeatable =
          probe.effect === 'none' || purpose.isSuccess !== undefined || purpose.role === 'setup'
        if (!resent && repeatable) {
          unanswered = exchange
          // A target that takes few connections closes a further one: alone, and on one that is open, before another fresh one.
          const onOpen =
            noResponse.cause === 'reset' && !alone && exchange.previousRequest === undefined
          resent = fresh = !onOpen
          if (noResponse.cause === 'reset') {
            alone = true
            run.client.throttle.retried++
            await pause(run, run.options.backoffMs)
          }
          continue
        }
        const last: Exchange = resent ? { ...exchange, unansweredTwice: true } : exchange
        const wasGone = await confirmAlive(run, exchange)
        if (wasGone && repeatable && refusals++ < maxRefusals) {
          // By itself: one of those that were under way may have brought the target down, and would again.
          alone = true
          continue
        }
        if (!wasGone || repeatable) run.client.breaker.count(operation, last)
        return { exchange: last }
      }
      if (!response) return { exchange }
      run.client.breaker.reset(operation)
      await confirmKey(run, exchange)
      if (!isGatewayError(response))
        for (const error of gatewayErrors) gatewayErrorsOf(run).add(error)
      else if (
        !hasStatusOf(purpose.expects, response) &&
        gatewayErrors.push(response) <= maxGatewayErrors
      ) {
        // Sent again at least: a service that starts again may be back already, and one in many may be lost on the way.
        const wasAway = await run.client.liveness.wasAway(exchange)
        run.life.signal.throwIfAborted()
        if (wasAway || gatewayErrors.length <= maxInARow) {
          run.client.throttle.retried++
          continue
        }
      }
      if (!isThrottled(response) || isExpected(purpose.expects, response)) {
        const latest = unanswered ? { ...exchange, unanswered } : exchange
        return { exchange: latest, ...(garbled && { garbled }) }
      }
      // It may be what the requirement expects, by another name: probe and control sent in turn tell soon.
      const most = isOfFamily(purpose.expects, response) ? 1 : Infinity
      const tries = Math.min(run.client.throttle.tries(operation), most)
      const counted = !hasStatusOf(purpose.expects, response)
      const pauseMs = run.client.throttle.hold(operation, response, attempt, { tries, counted })
      if (pauseMs !== undefined && attempt++ < tries) continue
      if (purpose.role !== 'probe' && !purpose.badInput) stopIfSuspected(run, probe)
      return { exchange: { ...exchange, throttled: true } }
    }
  } finally {
    releaseQueue?.()
  }
}

/** A request that should be granted was throttled: after 30 s of that its operation gets no more. */
export function stopIfSuspected({ client }: Run, probe: Probe): void {
  const operation = operationName(probe)
  if (client.throttle.isSuspected(operation)) client.breaker.stop(operation)
}

/** An operation that answers the full key with 401 so often in a row has not done so by chance. */
const questions = 3

/** Looks at the key after a 401 of an operation, each taken once. */
const looked = perRun(() => new Map<OperationId, Promise<void>>())

/**
 * After a 401 to a key that nobody expects: if another operation, which has accepted the full key before, answers it with
 * 401 too, the key is refused by now. That ends the run: nothing more can be learned, and no requirement is to blame.
 */
async function confirmKey(run: Run, { response, probe, purpose }: Exchange): Promise<void> {
  const { operation, credential } = probe
  if (response?.status !== 401 || credential.value === undefined || operation === null) return
  const about = run.api.requirement(purpose.about ?? '')?.expects
  if (
    hasStatusOf(purpose.expects, response) ||
    hasStatusOf(Array.isArray(about) ? about : undefined, response)
  )
    return
  const other = operation === run.api.first ? run.api.reading : run.api.first
  if (!run.keys.accepting.has(other)) return
  const known = looked(run).get(operation) ?? askOther(run, other)
  looked(run).set(operation, known)
  await known
  run.life.signal.throwIfAborted()
}

async function askOther(run: Run, id: OperationId): Promise<void> {
  const { method, path } = run.api.operation(id)
  for (let question = 1; ; question++) {
    const exchange = await sendOnce(run, await livenessProbe(run, id), forLiveness, { fresh: true })
    if (exchange.response?.status !== 401) return
    if (question < questions) continue
    const why = `${method} ${path} was answered ${describeResponse(exchange)}`
    const remedy =
      'if it has expired, let keys.full be a command that gives a fresh one; if the target locks keys after wrong ones, declare "credentialProbes": "few" in limits'
    return run.life.end(
      'key',
      `the full key was accepted at first, and is refused by now (${why}): ${remedy}`,
    )
  }
}
