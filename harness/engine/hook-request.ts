import { type HttpResponse, isThrottled, responseOf } from './response.ts'
import { pause } from './outcome.ts'
import { longestPauseMs, retryAfter } from './throttle.ts'
import type { ExchangeRole } from '../report/index.ts'
import { perRun, type Run } from './run.ts'
import {
  fillRequest,
  fillTarget,
  type HookRequest,
  type SetupRequest,
} from '../target-file/index.ts'
import { queryOf, withOwn } from './exchange.ts'
import { jsonType } from './request.ts'
import {
  createTransport,
  type HttpRequest,
  type HttpResult,
  type SendOptions,
  type Transport,
} from '../http/index.ts'
import { getAt, preview } from '../../schemas/json.ts'
import { hintsOf } from './events.ts'

/** Purpose of a request of the target file's own, and how long its answer is waited for. */
interface HookSending {
  readonly role: ExchangeRole
  /** The requirement whose scenario it belongs to; null if it belongs to none. */
  readonly requirement: string | null
  /** If not given, 15 s, and 300 ms when the run is over. */
  readonly timeoutMs?: number
  /** Ends the exchange before its deadline. */
  readonly signal?: AbortSignal
}

/** A request that the target file declares got no answer. */
interface NoHookResponse {
  readonly status: undefined
  /** Description for a reader. */
  readonly why: string
}

/**
 * Sends a request of the target file's own (`before`, `after`, `cleanup`, `setup`, `teardown`): it is no part of the interface, and not
 * judged. It carries the full key only on the base URL's origin, and only if it sets no Authorization itself.
 * Its deadline is its own, so that it can be sent when the run is over. It keeps the pace asked for, unless somebody waits for the end
 * of an interrupted run. Gives the answer, or why none came.
 */
export async function sendHookRequest(
  run: Run,
  hook: HookRequest,
  sending: HookSending,
): Promise<HttpResponse | NoHookResponse> {
  const { role, requirement, signal } = sending
  const { timeoutMs = run.life.ended ? responseAfterEndMs : responseMs } = sending
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
  if (run.life.ended?.cause === 'interrupted') run.client.pacer.owe()
  else await run.client.pacer.wait(run.life.ended ? undefined : run.life.signal)
  const sent = { url: hook.url, request, credential: full ?? { shown: '' } }
  const send = async (fresh: boolean): Promise<HttpResult> => {
    const options = { timeoutMs, fresh, ...(signal && { signal }) }
    const result = await sendTo(run, origin, request, options)
    run.client.recorder.record({ ...sent, result, operation: null, requirement, role })
    return result
  }
  const first = await send(false)
  // The target had closed the connection before: the request did not reach it.
  const isStale = first.kind === 'no-answer' && first.staleConnection
  const result = isStale ? await send(true) : first
  return result.kind === 'answer'
    ? responseOf(result, run.api.errors)
    : { status: undefined, why: result.message }
}

/** The query with those members that it does not have itself. */
function withQuery(search: string, query: Readonly<Record<string, string>>): string {
  const own = new URLSearchParams(search)
  const added = Object.entries(query).filter(([name]) => !own.has(name))
  if (added.length === 0) return search
  return `${search === '' ? '?' : `${search}&`}${queryOf(Object.fromEntries(added))}`
}

const transportsOf = perRun(() => new Map<string, Transport>())

export async function closeHookTransports(run: Run): Promise<void> {
  await Promise.all([...transportsOf(run).values()].map((transport) => transport.close()))
}

/** Sends a request that the target file declares, by one client for each origin, or by the injected one. */
async function sendTo(
  run: Run,
  origin: string,
  request: HttpRequest,
  options: SendOptions,
): Promise<HttpResult> {
  const { tls, limits, baseUrl } = run.target
  const base = new URL(baseUrl)
  if (run.client.isInjected && origin === base.origin) {
    return run.client.transport.send(
      { ...request, path: below(base.pathname, request.path) },
      options,
    )
  }
  const transports = transportsOf(run)
  const known = transports.get(origin)
  const settings = { connections: limits.concurrency, insecure: run.options.insecure, tls }
  const transport =
    known ?? createTransport({ baseUrl: origin, bodyLimit: limits.maxAnswerBytes, ...settings })
  transports.set(origin, transport)
  return transport.send(request, options)
}

/** A path below the base URL's own, as a transport that begins there takes it. */
function below(base: string, path: string): string {
  const prefix = base.replace(/\/$/, '')
  return path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path
}

/** Deadline of a request that prepares the target or tidies it up, in ms; a shorter one when the run is over: it ends soon. */
const responseMs = 15_000
const responseAfterEndMs = 300

const stateOf = perRun(() => ({ isBegun: false, saved: new Map<string, string>() }))

/** Sends the requests of `setup` and fills in what they save. One that fails ends the run: what comes later counts on it. */
export async function setUp(run: Run): Promise<void> {
  const state = stateOf(run)
  state.isBegun = true
  for (const [at, request] of run.target.setup.entries()) {
    const problem = await setUpBy(run, fillRequest(request, state.saved))
    if (run.life.ended) return
    if (problem === undefined) continue
    run.life.end('setup', `setup[${at}] failed (${request.method} ${request.url}): ${problem}`)
    return
  }
  run.target = fillTarget(run.target, state.saved)
  for (const value of state.saved.values()) run.objects.takenIds.add(value.toLowerCase())
}

/** The command or function that gives the key gave none. */
const withoutKey = (error: Error): NoHookResponse => ({ status: undefined, why: error.message })

/** A request of `setup` that is throttled is sent again so often. */
const maxTries = 5

/** Sends it again after the wait that a throttled answer asks for, 60 s at most. */
async function sendPatiently(run: Run, request: HookRequest, sending: HookSending) {
  for (let attempt = 0; ; attempt++) {
    const response = await sendHookRequest(run, request, sending)
    if (response.status === undefined || !isThrottled(response) || attempt >= maxTries)
      return response
    const waitMs = retryAfter(response, Date.now()) || run.options.backoffMs * 2 ** attempt
    if (waitMs > longestPauseMs) return response
    await pause(run, waitMs)
  }
}

/** Gives what went wrong, if anything did. */
async function setUpBy(run: Run, request: SetupRequest): Promise<string | undefined> {
  const { signal } = run.life
  const sending = { role: 'setup', requirement: null, signal } as const
  const response = await sendPatiently(run, request, sending).catch(withoutKey)
  if (response.status === undefined) return response.why
  const json = response.json()
  const said = json.ok ? `with ${preview(json.value)}` : 'without JSON'
  if (response.status >= 400) return `it was answered ${response.status} ${said}`
  return save(request, response, said, stateOf(run).saved)
}

function save(
  { save: pointers }: SetupRequest,
  response: HttpResponse,
  said: string,
  saved: Map<string, string>,
) {
  const json = response.json()
  for (const [name, pointer] of Object.entries(pointers)) {
    const value = json.ok ? getAt(json.value, pointer) : undefined
    if ((typeof value !== 'string' && typeof value !== 'number') || value === '')
      return `there is no text or number at ${pointer}, which "save" calls ${name}: it was answered ${response.status} ${said}`
    saved.set(name, String(value))
  }
  return undefined
}

/** Sends the requests of `teardown`, whatever became of the run, if its setup was begun. One that fails is told. */
export async function tearDown(run: Run): Promise<void> {
  const { isBegun, saved } = stateOf(run)
  if (!isBegun) return
  for (const [at, request] of run.target.teardown.entries()) {
    const filled = fillRequest(request, saved)
    // The object that it names was never made.
    if (/\{\w+\}/.test(filled.url)) continue
    const problem = await tearDownBy(run, filled)
    if (problem !== undefined)
      hintsOf(run).add(
        `teardown[${at}]`,
        `teardown[${at}] failed (${filled.method} ${filled.url}): ${problem}`,
      )
  }
}

async function tearDownBy(run: Run, request: HookRequest): Promise<string | undefined> {
  const timeoutMs = run.life.ended?.cause === 'interrupted' ? responseAfterEndMs : responseMs
  const sending = { role: 'cleanup', requirement: null, timeoutMs } as const
  const response = await sendHookRequest(run, request, sending).catch(withoutKey)
  if (response.status === undefined) return response.why
  return response.status < 400 ? undefined : `it was answered ${response.status}`
}
