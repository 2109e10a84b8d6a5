import type { HttpResult, SendOptions } from '../http/index.ts'
import type { Exchange, PreviousRequest, Probe, Purpose } from './exchange.ts'
import { operationName, requestOf, type Source } from './request.ts'
import { responseOf } from './response.ts'
import type { Run } from './run.ts'

export interface SendingOptions extends Pick<SendOptions, 'fresh'> {
  /** Sent first, on a new connection that the request itself then reuses. */
  readonly after?: PreviousRequest
  /** Makes the request again at any time. */
  readonly source?: Source
  /** Uses a place from `holdPlaces` without waiting. */
  readonly hasPlace?: boolean
  /** While nothing else is open: a target may accept few requests at once. */
  readonly alone?: boolean
  /** Ignores the rate: later requests wait correspondingly longer, or not at all. */
  readonly pace?: 'paid-back' | 'none'
}

/** A new object is used before waiting requests within this time, in ms: a server may only fail early. */
const newMs = 1000

/**
 * Readings of a job in progress are urgent: behind hundreds of requests they would be too late. So are uses of new
 * objects, requests that others wait for, and all requests to objects with one job at a time, which are the critical
 * path.
 */
function isUrgent(
  { api, objects }: Pick<Run, 'api' | 'objects'>,
  { operation, effect, params }: Probe,
  { role }: Purpose,
): boolean {
  const since = performance.now() - newMs
  return (
    Object.values(params).some((id) => (objects.madeAt.get(id) ?? -Infinity) > since) ||
    role === 'poll' ||
    role === 'liveness' ||
    (role === 'control' && effect === 'creates') ||
    (operation !== null && api.operation(operation).busy !== undefined)
  )
}

/**
 * Sends one request once: waits for a place and for the rate, and is dropped if the circuit breaker opened meanwhile.
 */
export async function sendOnce(
  run: Run,
  probe: Probe,
  purpose: Purpose,
  options: SendingOptions = {},
): Promise<Exchange> {
  const { client, life } = run
  const { semaphore, pacer, liveness } = client
  const count = options.alone ? semaphore.size : 1
  const urgent = isUrgent(run, probe, purpose)
  const release = options.hasPlace
    ? undefined
    : await semaphore.acquire(life.signal, { count, urgent })
  try {
    if (options.pace === 'paid-back') pacer.owe()
    else if (options.pace === undefined) await pacer.wait(life.signal)
    if (liveness.checking) await liveness.checking
    life.signal.throwIfAborted()
    client.breaker.check(operationName(probe))
    return await transmit(run, probe, purpose, options)
  } finally {
    release?.()
  }
}

/** Time limit of an answer without generation, in ms; a declared `limits.timeoutMs` overrides it. */
const promptMs = 15_000

/** Throws for a request that would destroy an object which the target file declares: only what the run made may go. */
function requireOwn(
  { api, objects, target }: Pick<Run, 'api' | 'objects' | 'target'>,
  { operation, params }: Probe,
): void {
  if (operation === null || api.operation(operation).effect !== 'destroys') return
  for (const id of Object.values(params))
    if (target.ids.has(id.toLowerCase()) && !objects.madeAt.has(id))
      throw new Error(`${operation} would destroy ${id}, which this run did not make`)
}

/** The last step: adds the current key, sends, and records. */
async function transmit(
  run: Run,
  probe: Probe,
  purpose: Purpose,
  { source, fresh = false, after }: SendingOptions,
): Promise<Exchange> {
  const { client, life, target } = run
  requireOwn(run, probe)
  const sentFor = after ? { ...purpose, skipJudging: 'at all' as const } : purpose
  const sent = await requestOf(run, probe, sentFor, source)
  const isUsual = target.timeoutDeclared || probe.effect === 'generates'
  const timeoutMs = Math.min(target.limits.timeoutMs, isUsual ? Infinity : promptMs)
  client.liveness.sending(sent)
  let result: HttpResult | undefined
  try {
    result = await client.transport.send(sent.request, {
      timeoutMs,
      signal: life.signal,
      fresh,
      tag: sent,
      ...(after && {
        after: {
          request: after.request,
          tag: after,
          ended: (first) => void recordExchange(run, after, first),
        },
      }),
    })
  } finally {
    client.liveness.ended(sent, result)
    if (result) client.losses.note(result)
  }
  life.signal.throwIfAborted()
  return recordExchange(run, sent, naming(result, isUsual))
}

function naming(result: HttpResult, isUsual: boolean): HttpResult {
  if (result.kind === 'answer' || result.cause !== 'timeout') return result
  if (result.detail === 'still-coming')
    return { ...result, message: `${result.message}; increase limits.timeoutMs` }
  const limit = isUsual ? 'limits.timeoutMs' : 'the default limit without limits.timeoutMs'
  return { ...result, message: `${result.message} (${limit})` }
}

export function recordExchange(
  run: Pick<Run, 'client' | 'target' | 'api'>,
  sent: PreviousRequest,
  result: HttpResult,
): Exchange {
  const { probe, purpose, request } = sent
  const { recorder, watchers, observers } = run.client
  const previous = result.previousTag
  // A record is kept, and would keep the chain of previous exchanges alive.
  result.previousTag = undefined
  const recorded = recorder.record({
    url: run.target.baseUrl + request.path,
    request,
    result,
    credential: probe.credential,
    operation: probe.operation,
    requirement: purpose.requirement,
    role: purpose.role,
  })
  sent.recorded = recorded
  const isAnswer = result.kind === 'answer'
  const exchange: Exchange = {
    probe,
    purpose,
    response: isAnswer ? responseOf(result, run.api.errors) : undefined,
    noResponse: isAnswer ? undefined : result,
    previousRequest: previous && 'probe' in previous ? (previous as PreviousRequest) : undefined,
    throttled: false,
    get recorded() {
      return recorded()
    },
    sentAt: result.sentAt,
    endedAt: result.endedAt,
  }
  for (const watch of watchers) watch(exchange)
  if (exchange.response && !purpose.skipPassive) for (const observe of observers) observe(exchange)
  return exchange
}

/** `sendOnce`, repeated if the target had closed the connection before any byte of an answer. */
export async function sendWithStaleRetry(
  run: Run,
  probe: Probe,
  purpose: Purpose,
  options: SendingOptions = {},
): Promise<Exchange> {
  const unanswered = await sendOnce(run, probe, purpose, options)
  if (!unanswered.noResponse?.staleConnection) return unanswered
  run.client.losses.retried++
  return { ...(await sendOnce(run, probe, purpose, { ...options, fresh: true })), unanswered }
}

/** Sends a ready request at once on a held place; repeats it like `sendWithStaleRetry` if it has no effect. */
export type SendHeld = (
  probe: Probe,
  purpose: Purpose,
  options?: Pick<SendingOptions, 'fresh'>,
) => Promise<Exchange>

/**
 * Takes places of the semaphore ahead of waiters, and releases them after the work. A holder must never wait for
 * others: the work only gets `sendHeld`; making a request, which may send others, must happen before or after.
 */
export async function holdPlaces<T>(
  run: Run,
  count: number,
  work: (sendHeld: SendHeld) => Promise<T>,
): Promise<T> {
  const release = await run.client.semaphore.acquire(run.life.signal, { count, urgent: true })
  const sendHeld: SendHeld = (probe, purpose, options = {}) => {
    const send = probe.effect === 'none' ? sendWithStaleRetry : sendOnce
    return send(run, probe, purpose, { ...options, hasPlace: true, pace: 'paid-back' })
  }
  return work(sendHeld).finally(release)
}
