import { type HttpResponse, responseOf } from './response.ts'
import type { ExchangeRole } from '../report/model.ts'
import { type Run, perRun } from './run.ts'
import type { HookRequest } from '../target-file/model.ts'
import { jsonType } from './operation-probe.ts'
import { queryOf, withOwn } from './probe.ts'
import { createTransport } from '../http/transport.ts'
import type { Transport, HttpRequest, HttpResult, SendOptions } from '../http/message.ts'

/** What a request of the target file's own is sent for, and how long its answer is waited for. */
interface HookSending {
  readonly role: ExchangeRole
  /** The requirement whose scenario it belongs to; null if it belongs to none. */
  readonly requirement: string | null
  readonly timeoutMs: number
  /** Ends the exchange before its deadline. */
  readonly signal?: AbortSignal
}

/** No answer came to a request of the target file's own. */
export interface NoHookResponse {
  readonly status: undefined
  /** In words for a reader. */
  readonly why: string
}

/**
 * Sends a request of the target file's own (`before`, `after`, `cleanup`, `setup`, `teardown`): it is no part of the interface, and not
 * judged. It carries the full key only on the base URL's origin, and only if it sets no Authorization itself.
 * Its deadline is its own, so that it can be sent when the run is over. Gives the answer, or why none came.
 */
export async function sendHookRequest(
  run: Run,
  hook: HookRequest,
  sending: HookSending,
): Promise<HttpResponse | NoHookResponse> {
  const { role, requirement, timeoutMs, signal } = sending
  const { origin, pathname, search } = new URL(hook.url)
  const isOwn = origin === new URL(run.target.baseUrl).origin
  const path = pathname + withQuery(search, isOwn ? run.target.query : {})
  const full = hook.withKey ? await run.keys.full() : undefined
  const declared = isOwn ? run.target.headers : []
  const json = hook.body === undefined ? [] : [jsonType]
  const credential = full?.value === undefined ? [] : [{ name: 'authorization', value: full.value }]
  const headers = withOwn([...declared, ...json], [...hook.headers, ...credential])
  const body = hook.body === undefined ? {} : { body: JSON.stringify(hook.body) }
  const request: HttpRequest = { method: hook.method, path, headers, ...body }
  const result = await sendTo(run, origin, request, { timeoutMs, ...(signal && { signal }) })
  const sent = { url: hook.url, request, credential: full ?? { shown: '' } }
  run.client.recorder.record({ ...sent, result, operation: null, requirement, role })
  return result.kind === 'answer' ? responseOf(result) : { status: undefined, why: result.message }
}

/** The query with those members that it does not have itself. */
function withQuery(search: string, query: Readonly<Record<string, string>>): string {
  const own = new URLSearchParams(search)
  const added = Object.entries(query).filter(([name]) => !own.has(name))
  if (added.length === 0) return search
  return `${search === '' ? '?' : `${search}&`}${queryOf(Object.fromEntries(added))}`
}

const transportsOf = perRun(() => new Map<string, Transport>())

/** Closes the connections that hook requests used. */
export async function closeHookTransports(run: Run): Promise<void> {
  await Promise.all([...transportsOf(run).values()].map((transport) => transport.close()))
}

/** One client for each origin of the target's own requests, kept for the run; the injected one if the target has it. */
async function sendTo(run: Run, origin: string, request: HttpRequest, options: SendOptions): Promise<HttpResult> {
  const { tls, limits, baseUrl } = run.target
  const base = new URL(baseUrl)
  if (run.client.isInjected && origin === base.origin) {
    return run.client.transport.send({ ...request, path: below(base.pathname, request.path) }, options)
  }
  const transports = transportsOf(run)
  const known = transports.get(origin)
  const settings = { connections: limits.concurrency, insecure: run.options.insecure, tls }
  const transport = known ?? createTransport({ baseUrl: origin, bodyLimit: limits.maxAnswerBytes, ...settings })
  transports.set(origin, transport)
  return transport.send(request, options)
}

/** A path below the base URL's own, as a transport that begins there takes it. */
function below(base: string, path: string): string {
  const prefix = base.replace(/\/$/, '')
  return path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path
}
