import type { Probe } from './probe.ts'
import { pathOf } from './probe.ts'
import type { Run } from './run.ts'
import type { SendOptions, HttpRequest, HttpResult } from '../http/message.ts'
import { answerOf } from './answer.ts'
import type { Exchange, Forerunner, Purpose } from './exchange.ts'
import { isThrottled } from './throttle.ts'
import { letGo } from '../http/collect.ts'

/** Longest wait for an answer that takes no generation, in ms; `limits.timeoutMs` decides if it is declared. */
const promptMs = 15_000

/** The request as it is sent: the target's own headers first, the probe's over them. */
export function httpRequest(run: Run, probe: Probe): HttpRequest {
  const own = new Set([...probe.headers.map(({ name }) => name.toLowerCase()), 'authorization'])
  const headers = run.target.headers.filter(({ name }) => !own.has(name.toLowerCase())).concat(probe.headers)
  if (probe.credential.value !== undefined) headers.push({ name: 'authorization', value: probe.credential.value })
  return {
    method: probe.method,
    path: pathOf(probe),
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
  return role === 'poll' || (operation === 'jobs.create' && effect === 'generates')
}

/** What throttling and the circuit breaker are counted by. */
export function operationName({ operation, method, path }: Probe): string {
  return operation ?? `${method} ${path}`
}

export interface SendingOptions extends Pick<SendOptions, 'fresh' | 'after'> {
  /** A place under the ceiling that is already taken, and given back by its owner. */
  readonly hasPlace?: boolean
  /** At once, whatever pace the target asks for. */
  readonly unpaced?: boolean
}

/** One request, once: under the ceiling, at the pace asked for, recorded and shown to the observers. */
export async function sendOnce(
  run: Run,
  probe: Probe,
  purpose: Purpose,
  options: SendingOptions = {},
): Promise<Exchange> {
  const release = options.hasPlace
    ? undefined
    : await run.client.ceiling.acquire(run.life.signal, { urgent: isAboutRunningJob(probe, purpose) })
  try {
    if (!options.unpaced) await run.client.pacer.wait(run.life.signal)
    run.life.signal.throwIfAborted()
    // While it waited for its place the circuit breaker may have opened.
    run.client.breaker.check(operationName(probe))
    // A key of short life may have passed while the request waited for its turn.
    const fresh = probe.credential.full ? { ...probe, credential: await run.keys.full() } : probe
    const sent: Forerunner = { probe: fresh, purpose, request: httpRequest(run, fresh) }
    const result = await run.client.liveness.during(() =>
      run.client.transport.send(sent.request, {
        timeoutMs: deadlineOf(run, probe),
        signal: run.life.signal,
        fresh: options.fresh ?? false,
        mark: sent,
        ...(options.after ? { after: options.after } : {}),
      }),
    )
    run.life.signal.throwIfAborted()
    return recordExchange(run, sent, naming(result, run, probe))
  } finally {
    release?.()
  }
}

/** `sendOnce`, and once more if the connection had been closed by the target before any byte of an answer. */
export async function sendSurely(
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
export function recordExchange(run: Run, sent: Forerunner, result: HttpResult): Exchange {
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
    ...(result.before && 'probe' in result.before ? { before: result.before as Forerunner } : {}),
    ...(result.kind === 'answer' ? { answer: answerOf(result) } : { noAnswer: result }),
  }
  // Recorded by now, and never read as JSON.
  if (result.kind === 'answer' && result.cut) letGo(result.body)
  if (exchange.answer && !isThrottled(exchange.answer)) run.client.throttle.release()
  if (exchange.answer && !purpose.unobserved) for (const observe of run.client.observers) observe(exchange)
  return exchange
}
