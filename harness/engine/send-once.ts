import type { Probe } from './probe.ts'
import { pathOf } from './probe.ts'
import type { Run } from './run.ts'
import type { WireRequest, WireResult } from '../http/message.ts'
import { answerOf } from './answer.ts'
import type { Exchange, Purpose } from './exchange.ts'
import { isThrottled } from './throttle.ts'

/** Longest wait for an answer that takes no generation, in ms. */
const promptMs = 15_000

/** The request as it goes over the wire: the target's own headers first, the probe's over them. */
export function wireRequest(run: Run, probe: Probe): WireRequest {
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
export function deadlineOf(run: Run, probe: Probe): number {
  const { timeoutMs } = run.target.limits
  return probe.effect === 'generates' ? timeoutMs : Math.min(timeoutMs, promptMs)
}

/** What is seen of a job while it is in progress: behind hundreds of other requests it would come too late. */
function isAboutRunningJob({ operation, effect }: Probe, { role }: Purpose): boolean {
  return role === 'poll' || (operation === 'jobs.create' && effect === 'generates')
}

/** What patience and silence are counted by. */
export function operationName({ operation, method, path }: Probe): string {
  return operation ?? `${method} ${path}`
}

export interface SendingOptions {
  /** A place under the ceiling that is already taken, and given back by its owner. */
  readonly hasPlace?: boolean
  /** On a connection of its own. */
  readonly fresh?: boolean
  /** At once, whatever pace the target asks for. */
  readonly unpaced?: boolean
}

/** One request, once: under the ceiling, at the pace asked for, recorded and shown to whoever watches. */
export async function sendOnce(
  run: Run,
  probe: Probe,
  purpose: Purpose,
  options: SendingOptions = {},
): Promise<Exchange> {
  const leave = options.hasPlace
    ? undefined
    : await run.client.ceiling.enter(run.life.signal, { urgent: isAboutRunningJob(probe, purpose) })
  try {
    if (!options.unpaced) await run.client.pacer.wait(run.life.signal)
    run.life.signal.throwIfAborted()
    // While it waited for its place the operation may have fallen silent.
    run.client.breaker.check(operationName(probe))
    // A key of short life may have passed while the request waited for its turn.
    const fresh = probe.credential.full ? { ...probe, credential: await run.keys.full() } : probe
    const request = wireRequest(run, fresh)
    const result = await run.client.liveness.during(() =>
      run.client.transport.send(request, {
        timeoutMs: deadlineOf(run, probe),
        signal: run.life.signal,
        fresh: options.fresh ?? false,
      }),
    )
    run.life.signal.throwIfAborted()
    return recordExchange(run, fresh, purpose, request, result)
  } finally {
    leave?.()
  }
}

/** `sendOnce`, and once more where the connection had been closed by the target before any byte of an answer. */
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

/** Records an exchange and tells whoever watches. */
export function recordExchange(
  run: Run,
  probe: Probe,
  purpose: Purpose,
  request: WireRequest,
  result: WireResult,
): Exchange {
  const { operation, credential } = probe
  const { requirement, role } = purpose
  const url = run.target.baseUrl + request.path
  const recorded = run.client.recorder.record({ url, request, result, credential, operation, requirement, role })
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
    ...(result.kind === 'answer' ? { answer: answerOf(result) } : { noAnswer: result }),
  }
  if (exchange.answer && !isThrottled(exchange.answer)) run.client.throttle.release()
  if (exchange.answer && !purpose.unseen) for (const observe of run.client.observers) observe(exchange)
  return exchange
}
