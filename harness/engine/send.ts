import { type Probe, pathOf } from './probe.ts'
import { busyStatus } from '../../catalogue/operations.ts'
import type { Run } from './run.ts'
import { isExpected, isOfFamily, hasStatusOf, answerOf } from './answer.ts'
import type { Exchange, Purpose, PreviousRequest } from './exchange.ts'
import { confirmOnFreshConnection, type SendAgain } from './reused-connection.ts'
import { isThrottled } from './throttle.ts'
import type { SendOptions, HttpRequest, HttpResult } from '../http/message.ts'
import { letGo } from '../http/collect.ts'

/** A request, or what makes a fresh one for each try (an object to be created gets a new name each time). */
export type Source = Probe | (() => Probe | Promise<Probe>)

export async function probeOf(source: Source): Promise<Probe> {
  return typeof source === 'function' ? source() : source
}

/**
 * Sends a request with the patience that a conforming target may ask for: 429 and 503 are backed off, a request that
 * cannot have had an effect is sent once more if no answer came, and so is any that met a connection which the target had
 * just closed. An answer that may be wrong because of what went before it on the connection is checked by further requests. Throws
 * `NotExercised` if the circuit breaker is open or the run is over.
 */
export async function sendWithRetries(
  run: Run,
  source: Source,
  purpose: Purpose,
  options: Pick<SendingOptions, 'fresh'> = {},
): Promise<Exchange> {
  const { exchange, garbled } = await sendUntilAnswered(run, source, purpose, options)
  if (exchange.throttled) return exchange
  const again: SendAgain = async (other) => sendOnce(run, await probeOf(source), purpose, other)
  if (!garbled) return confirmOnFreshConnection(run, exchange, again)
  await confirmOnFreshConnection(run, garbled, again)
  return exchange
}

interface Patient {
  readonly exchange: Exchange
  /** What came on a reused connection before that, and was no HTTP. */
  readonly garbled?: Exchange
}

async function sendUntilAnswered(
  run: Run,
  source: Source,
  purpose: Purpose,
  options: Pick<SendingOptions, 'fresh'>,
): Promise<Patient> {
  let attempt = 0
  let resent = false
  let unanswered: Exchange | undefined
  let fresh = options.fresh ?? false
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
      const exchange = await sendOnce(run, probe, purpose, { fresh })
      const { answer, noAnswer } = exchange
      if (noAnswer) {
        if (noAnswer.cause === 'malformed' && exchange.previousRequest) garbled = exchange
        if (noAnswer.staleConnection && !fresh) {
          unanswered = exchange
          fresh = true
          continue
        }
        // A request that should be granted is tried twice before it counts as unanswered: the second makes an object of its own.
        const repeatable = probe.effect === 'none' || purpose.wanted !== undefined || purpose.role === 'setup'
        if (!resent && repeatable) {
          unanswered = exchange
          resent = fresh = true
          continue
        }
        const last: Exchange = resent ? { ...exchange, unansweredTwice: true } : exchange
        run.client.breaker.count(operation, last)
        await run.client.liveness.confirm(noAnswer.endedAt)
        run.life.signal.throwIfAborted()
        return { exchange: last }
      }
      if (!answer) return { exchange }
      run.client.breaker.reset(operation)
      if (!isThrottled(answer) || isExpected(purpose.expects, answer)) {
        const told = unanswered ? { ...exchange, unanswered } : exchange
        return { exchange: told, ...(garbled && { garbled }) }
      }
      // It may be what the requirement expects, by another name: probe and control sent in turn tell soon.
      const most = isOfFamily(purpose.expects, answer) ? 1 : Infinity
      const tries = Math.min(run.client.throttle.tries(operation), most)
      const counted = !hasStatusOf(purpose.expects, answer)
      const pauseMs = run.client.throttle.hold(operation, answer, attempt, { tries, counted })
      if (pauseMs === undefined || attempt++ >= tries) return { exchange: { ...exchange, throttled: true, pauseMs } }
    }
  } finally {
    releaseQueue?.()
  }
}

/** Longest wait for an answer that takes no generation, in ms; `limits.timeoutMs` decides if it is declared. */
const promptMs = 15_000

/** The request as it is sent: the target's own headers first, the probe's over them. */
export function httpRequest(run: Run, probe: Probe): HttpRequest {
  const own = new Set([...probe.headers.map(({ name }) => name.toLowerCase()), 'authorization'])
  const headers = run.target.headers.filter(({ name }) => !own.has(name.toLowerCase())).concat(probe.headers)
  if (probe.credential.value !== undefined) headers.push({ name: 'authorization', value: probe.credential.value })
  return {
    method: probe.method,
    path: pathOf({ ...probe, query: { ...run.target.query, ...probe.query } }),
    headers,
    ...(probe.body === undefined ? {} : { body: probe.body }),
  }
}

/** How long this request may take in all, in ms. */
export function deadlineOf({ target: { limits, timeoutDeclared } }: Run, { effect }: Probe): number {
  return timeoutDeclared || effect === 'generates' ? limits.timeoutMs : Math.min(limits.timeoutMs, promptMs)
}

/** A result that says which limit ran out, if one did. */
function naming(result: HttpResult, { target }: Run, { effect }: Probe): HttpResult {
  if (result.kind === 'answer' || result.cause !== 'timeout') return result
  const usual = target.timeoutDeclared || effect === 'generates'
  const limit = usual ? 'limits.timeoutMs' : 'the limit as long as limits.timeoutMs is not declared'
  return { ...result, message: `${result.message} (${limit})` }
}

/** What is seen of a job while it is in progress: behind hundreds of other requests it would come too late. */
function isAboutRunningJob({ operation, effect }: Probe, { role }: Purpose): boolean {
  return role === 'poll' || (busyStatus(operation) !== undefined && effect !== 'none')
}

/** What throttling and the circuit breaker are counted by. */
export function operationName({ operation, method, path }: Probe): string {
  return operation ?? `${method} ${path}`
}

export interface SendingOptions extends Pick<SendOptions, 'fresh' | 'after'> {
  /** A place under the semaphore that is already taken, and given back by its owner. */
  readonly hasPlace?: boolean
  /** At once, whatever pace the target asks for. */
  readonly unpaced?: boolean
}

/** One request, once: under the semaphore, at the pace asked for, recorded and shown to the observers. */
export async function sendOnce(
  run: Run,
  probe: Probe,
  purpose: Purpose,
  options: SendingOptions = {},
): Promise<Exchange> {
  const release = options.hasPlace
    ? undefined
    : await run.client.semaphore.acquire(run.life.signal, { urgent: isAboutRunningJob(probe, purpose) })
  try {
    if (!options.unpaced) await run.client.pacer.wait(run.life.signal)
    run.life.signal.throwIfAborted()
    // While it waited for its place the circuit breaker may have opened.
    run.client.breaker.check(operationName(probe))
    // A key of short life may have passed while the request waited for its turn.
    const fresh = probe.credential.full ? { ...probe, credential: await run.keys.full() } : probe
    const sent: PreviousRequest = { probe: fresh, purpose, request: httpRequest(run, fresh) }
    const named = { name: () => nameOf(run, sent), hasBody: sent.request.body !== undefined }
    const result = await run.client.liveness.during(named, () =>
      run.client.transport.send(sent.request, {
        timeoutMs: deadlineOf(run, probe),
        signal: run.life.signal,
        fresh: options.fresh ?? false,
        tag: sent,
        ...(options.after ? { after: options.after } : {}),
      }),
    )
    run.life.signal.throwIfAborted()
    return recordExchange(run, sent, naming(result, run, probe))
  } finally {
    release?.()
  }
}

/** `POST http://127.0.0.1:8080/v1/translate (translate.run/401-expired-key)` */
function nameOf({ target, client }: Run, { probe, purpose, request }: PreviousRequest): string {
  const sentFor = purpose.requirement ?? operationName(probe)
  return client.recorder.redact(`${request.method} ${target.baseUrl}${request.path} (${sentFor})`)
}

/** `sendOnce`, and once more if the connection had been closed by the target before any byte of an answer. */
export async function sendWithStaleRetry(
  run: Run,
  probe: Probe,
  purpose: Purpose,
  options?: SendingOptions,
): Promise<Exchange> {
  const exchange = await sendOnce(run, probe, purpose, options)
  if (!exchange.noAnswer?.staleConnection) return exchange
  return { ...(await sendOnce(run, probe, purpose, { ...options, fresh: true })), resent: true }
}

/** Records an exchange and shows it to the observers. */
export function recordExchange(run: Run, sent: PreviousRequest, result: HttpResult): Exchange {
  const { probe, purpose, request } = sent
  const { operation, credential } = probe
  const { requirement, role } = purpose
  const url = run.target.baseUrl + request.path
  const recorded = run.client.recorder.record({ url, request, result, credential, operation, requirement, role })
  sent.recorded = recorded
  const { sentAt, endedAt } = result
  const exchange: Exchange = {
    probe,
    purpose,
    throttled: false,
    get recorded() {
      return recorded()
    },
    sentAt,
    endedAt,
    ...(result.previousTag && 'probe' in result.previousTag
      ? { previousRequest: result.previousTag as PreviousRequest }
      : {}),
    ...(result.kind === 'answer' ? { answer: answerOf(result) } : { noAnswer: result }),
  }
  // Recorded by now, and never read as JSON.
  if (result.kind === 'answer' && result.cut) letGo(result.body)
  if (exchange.answer && !isThrottled(exchange.answer)) run.client.throttle.release()
  if (exchange.answer && !purpose.unobserved) for (const observe of run.client.observers) observe(exchange)
  return exchange
}
