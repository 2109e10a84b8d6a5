import type { HttpRequest, HttpResult, PrecedingRequest, SendOptions } from '../http/index.ts'
import { type HeaderLine, isNamed } from '../http/index.ts'
import type { OperationId } from '../../catalogue/operations.ts'
import type { Run } from './run.ts'
import type { Credential, Probe, Exchange, Purpose, PreviousRequest } from './exchange.ts'
import { withOwn, pathOf } from './exchange.ts'
import { readsDeclared } from '../target-file/index.ts'
import type { Effect } from '../../catalogue/operation.ts'
import { isThrottled, responseOf } from './response.ts'

interface ProbeParts {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: readonly HeaderLine[]
  /** Sent as JSON. */
  readonly json?: unknown
  readonly credential?: Credential
  readonly effect?: Probe['effect']
}

export const jsonType: HeaderLine = { name: 'content-type', value: 'application/json' }

/** A request of that operation, with the full key if no other credential is given; at the path that the target declares. */
export async function operationProbe(run: Run, id: OperationId, parts: ProbeParts): Promise<Probe> {
  const { method, path } = run.api.operation(id)
  const hasJson = Object.hasOwn(parts, 'json')
  const binding = run.target.operations[id]
  const headers = withOwn(binding?.headers ?? [], parts.headers ?? [])
  const hasType = headers.some((line) => isNamed(line, 'content-type'))
  return {
    operation: id,
    method,
    path: binding?.path ?? path,
    params: parts.params ?? {},
    query: { ...binding?.query, ...parts.query },
    headers: hasJson && !hasType ? [jsonType, ...headers] : headers,
    credential: parts.credential ?? (await run.keys.full()),
    effect: parts.effect ?? 'none',
    ...(hasJson ? { body: JSON.stringify(parts.json) } : {}),
  }
}

/** Nothing has this id: what a gateway answers there, it answers everywhere. */
const nobodysId = '00000000-0000-4000-8000-000000000000'

/** A request with the full key that changes nothing: it tells whether the target lives, and shows a connection the key. */
export function livenessProbe(run: Run, id = run.api.first): Promise<Probe> {
  const params = Object.keys(run.api.operation(id).params ?? {}).map((name) => [name, nobodysId])
  return operationProbe(run, id, { params: Object.fromEntries(params) as Record<string, string> })
}

export const forLiveness: Purpose = { requirement: null, role: 'liveness', skipPassive: true }

/** Tells what a conforming target does when it grants the operation's valid request. Reading a declared object makes none. */
export function effectOf(run: Run, operation: OperationId): Effect {
  return readsDeclared(operation, run.target.file) ? 'none' : run.api.granted(operation).effect
}

/** A request, or what makes a fresh one for each try (an object to be created gets a new name each time). */
export type Source = Probe | (() => Probe | Promise<Probe>)

export async function probeOf(source: Source): Promise<Probe> {
  return typeof source === 'function' ? source() : source
}

/** Longest wait for an answer that takes no generation, in ms; `limits.timeoutMs` decides if it is declared. */
const promptMs = 15_000

/** The request as it is sent: the target's own headers first, the probe's over them. */
export function httpRequest(run: Run, probe: Probe): HttpRequest {
  const { method, headers, body, credential } = probe
  const { value } = credential
  const own = value === undefined ? headers : [...headers, { name: 'authorization', value }]
  const request = {
    method,
    path: pathOf(probe, run.target.query),
    headers: withOwn(run.target.headers, own),
  }
  return body === undefined ? request : { ...request, body }
}

/** How long this request may take in all, in ms. */
function deadlineOf({ target: { limits, timeoutDeclared } }: Run, { effect }: Probe): number {
  return timeoutDeclared || effect === 'generates'
    ? limits.timeoutMs
    : Math.min(limits.timeoutMs, promptMs)
}

/** A result that says which limit ran out, if one did. */
function naming(result: HttpResult, { target }: Run, { effect }: Probe): HttpResult {
  if (result.kind === 'answer' || result.cause !== 'timeout') return result
  const usual = target.timeoutDeclared || effect === 'generates'
  const limit = usual ? 'limits.timeoutMs' : 'the limit as long as limits.timeoutMs is not declared'
  return { ...result, message: `${result.message} (${limit})` }
}

/**
 * Readings of a job in progress are urgent: behind hundreds of other requests they would come too late. So is what others
 * wait for, and all requests to what runs one job at a time: they go one after the other, and nothing in a run takes longer.
 */
function isUrgent({ api }: Run, { operation }: Probe, { role }: Purpose): boolean {
  return (
    role === 'poll' ||
    role === 'liveness' ||
    (operation !== null && api.operation(operation).busy !== undefined)
  )
}

/** Name of an operation for throttling and the circuit breaker. */
export function operationName({ operation, method, path }: Probe): string {
  return operation ?? `${method} ${path}`
}

export interface SendingOptions extends Pick<SendOptions, 'fresh'> {
  /** Sent first, on a connection of its own that the request itself then follows on. */
  readonly after?: PreviousRequest
  /** Makes the request once more at will. */
  readonly source?: Source
  /** On one of the places that `holdPlaces` took: it waits for none. */
  readonly hasPlace?: boolean
  /** While nothing else is under way: a target may take few requests at once. */
  readonly alone?: boolean
  /** Sent at once, whatever pace the target asks for. */
  readonly unpaced?: boolean
}

/** One request, once: under the semaphore, at the pace asked for, recorded and shown to the observers. */
export async function sendOnce(
  run: Run,
  probe: Probe,
  purpose: Purpose,
  options: SendingOptions = {},
): Promise<Exchange> {
  const { client, life } = run
  const release = options.hasPlace
    ? undefined
    : await client.semaphore.acquire(life.signal, {
        count: options.alone ? client.semaphore.size : 1,
        urgent: isUrgent(run, probe, purpose),
      })
  try {
    if (!options.unpaced) await client.pacer.wait(life.signal)
    if (client.liveness.checking) await client.liveness.checking
    life.signal.throwIfAborted()
    // While it waited for its place the circuit breaker may have opened.
    client.breaker.check(operationName(probe))
    const sentFor = options.after ? { ...purpose, skipJudging: 'at all' as const } : purpose
    const sent = await requestOf(run, probe, sentFor, options.source)
    client.liveness.sending(sent)
    let result: HttpResult | undefined
    try {
      result = await client.transport.send(sent.request, {
        timeoutMs: deadlineOf(run, probe),
        signal: life.signal,
        fresh: options.fresh ?? false,
        tag: sent,
        ...(options.after && { after: precedingOf(run, options.after) }),
      })
    } finally {
      client.liveness.ended(sent, result)
    }
    life.signal.throwIfAborted()
    return recordExchange(run, sent, naming(result, run, probe))
  } finally {
    release?.()
  }
}

/** The request to be sent now: a key of short life may have passed while it waited for its turn. */
export async function requestOf(
  run: Run,
  probe: Probe,
  purpose: Purpose,
  source?: Source,
): Promise<PreviousRequest> {
  const credential = await run.keys.current(probe.credential)
  const fresh = credential === probe.credential ? probe : { ...probe, credential }
  const again = source === undefined ? {} : { again: () => probeOf(source) }
  return { probe: fresh, purpose, request: httpRequest(run, fresh), ...again }
}

function precedingOf(run: Run, previous: PreviousRequest): PrecedingRequest {
  return {
    request: previous.request,
    tag: previous,
    ended: (result) => void recordExchange(run, previous, result),
  }
}

/** `POST http://127.0.0.1:8080/v1/translate (translate.run/401-expired-key)` */
export function nameOf(
  { target, client }: Run,
  { probe, purpose, request }: PreviousRequest,
): string {
  const sentFor = purpose.requirement ?? operationName(probe)
  return client.recorder.redact(`${request.method} ${target.baseUrl}${request.path} (${sentFor})`)
}

/** `sendOnce`, and once more if the connection had been closed by the target before any byte of an answer. */
export async function sendWithStaleRetry(
  run: Run,
  probe: Probe,
  purpose: Purpose,
  options: SendingOptions = {},
): Promise<Exchange> {
  const exchange = await sendOnce(run, probe, purpose, options)
  if (!exchange.noResponse?.staleConnection) return exchange
  return { ...(await sendOnce(run, probe, purpose, { ...options, fresh: true })), resent: true }
}

/** Sends a request that is ready on one of the places that are held, at once; once more as `sendWithStaleRetry` if it has no effect. */
export type SendHeld = (
  probe: Probe,
  purpose: Purpose,
  options?: Pick<SendingOptions, 'fresh'>,
) => Promise<Exchange>

/**
 * Takes places of the semaphore, before all who wait in no hurry, and gives them back when the work is done. Whoever holds places
 * never waits for others: the work gets nothing but `sendHeld`, and what makes a request, which may take requests of its own, comes
 * before or after it.
 */
export async function holdPlaces<T>(
  run: Run,
  count: number,
  work: (sendHeld: SendHeld) => Promise<T>,
): Promise<T> {
  const release = await run.client.semaphore.acquire(run.life.signal, { count, urgent: true })
  const sendHeld: SendHeld = (probe, purpose, options = {}) => {
    const send = probe.effect === 'none' ? sendWithStaleRetry : sendOnce
    return send(run, probe, purpose, { ...options, hasPlace: true, unpaced: true })
  }
  return work(sendHeld).finally(release)
}

/** Records an exchange and shows it to the observers. */
export function recordExchange(run: Run, sent: PreviousRequest, given: HttpResult): Exchange {
  // What is recorded is kept, and would hold the exchange before it on the connection, which holds the one before.
  const { previousTag, ...result } = given
  const { probe, purpose, request } = sent
  const { operation, credential } = probe
  const { requirement, role } = purpose
  const url = run.target.baseUrl + request.path
  const recorded = run.client.recorder.record({
    url,
    request,
    result,
    credential,
    operation,
    requirement,
    role,
  })
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
    ...(previousTag && 'probe' in previousTag
      ? { previousRequest: previousTag as PreviousRequest }
      : {}),
    ...(result.kind === 'answer'
      ? { response: responseOf(result, run.api.errors) }
      : { noResponse: result }),
  }
  if (exchange.response && !isThrottled(exchange.response)) run.client.throttle.granted()
  if (!exchange.response) for (const hook of run.hooks) hook.unanswered?.(run, exchange)
  if (exchange.response && !purpose.skipPassive)
    for (const observe of run.client.observers) observe(exchange)
  return exchange
}
