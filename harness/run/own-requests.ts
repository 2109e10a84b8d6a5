import { setTimeout as sleep } from 'node:timers/promises'
import type { OperationId } from '../../catalogue/operations.ts'
import { getAt, preview } from '../../schemas/json.ts'
import { type HttpRequest, isOfGateway } from '../http/index.ts'
import { redacted, secretsInQuery } from '../recording/redactor.ts'
import type { Created, ExchangeRole } from '../report/index.ts'
import { fillRequest, fillTarget, type HookRequest } from '../target/index.ts'
import { type Credential, queryOf, withOwn, maxTries, HttpResponse } from '../journal/index.ts'
import {
  type Client,
  type Given,
  allEnded,
  jsonType,
  longestPauseMs,
  retryAfter,
} from '../client/index.ts'

/** Time limit of a setup or teardown request, in ms; a shorter one if the run had to end. */
const responseMs = 15_000
const responseAfterEndMs = 300

interface HookSending {
  readonly role: ExchangeRole
  readonly requirement: string | null
  readonly timeoutMs?: number
  /** Repeated until then (`performance.now()`), also without an answer: it may be carried out twice. */
  readonly until?: number
}

interface NoHookResponse {
  readonly status: undefined
  readonly why: string
  readonly isStale?: boolean
}

type HookResponse = HttpResponse | NoHookResponse

async function sendOnce(
  client: Client,
  { target }: Given,
  hook: HookRequest,
  sending: HookSending,
  { full, fresh }: { readonly full: Credential | undefined; readonly fresh: boolean },
): Promise<HookResponse> {
  const { role, requirement } = sending
  const timeoutMs = sending.timeoutMs ?? (isHurried(client) ? responseAfterEndMs : responseMs)
  const { origin, pathname, search } = new URL(hook.url)
  const isOwn = origin === new URL(target.baseUrl).origin
  const json = hook.body === undefined ? [] : [jsonType]
  const credential = full?.value === undefined ? [] : [{ name: 'authorization', value: full.value }]
  const request: HttpRequest = {
    method: hook.method,
    path: pathname + withQuery(search, isOwn ? target.query : {}),
    headers: withOwn([...(isOwn ? target.headers : []), ...json], [...hook.headers, ...credential]),
    body: hook.body === undefined ? undefined : JSON.stringify(hook.body),
  }
  const about = { credential: full ?? { shown: '' }, requirement, role }
  const signal = role === 'setup' ? client.life.signal : undefined
  const result = await client.sendElsewhere(hook.url, request, { timeoutMs, signal, fresh }, about)
  return result.kind === 'answer'
    ? new HttpResponse(result)
    : { status: undefined, why: result.message, isStale: result.staleConnection }
}

function withQuery(search: string, query: Readonly<Record<string, string>>): string {
  const own = new URLSearchParams(search)
  const added = Object.entries(query).filter(([name]) => !own.has(name))
  if (added.length === 0) return search
  return `${search === '' ? '?' : `${search}&`}${queryOf(Object.fromEntries(added))}`
}

/**
 * Sends a request of the target file (`before`, `after`, `cleanup`, `setup`, `teardown`), which is not judged; again if
 * it is throttled, or a gateway answers. It carries the full key only on the base URL's origin, and only without its own
 * Authorization. It has its own time limit, so that it can be sent after the run, unless it prepares a state. It keeps
 * the requested rate, except after an interrupt. Returns the answer, or why there is none.
 */
export async function sendHookRequest(
  client: Client,
  given: Given,
  request: HookRequest,
  sending: HookSending,
): Promise<HookResponse> {
  const { signal } = client.life
  // A name in the file may stand for a secret that an answer to `setup` gave.
  for (const value of secretsInQuery(request.url))
    given.keys.learn({ value, shown: redacted, full: false })
  let attempt = 0
  let fresh = false
  for (;;) {
    const key = request.withKey ? given.keys.full() : undefined
    const full = key instanceof Promise ? await key.catch((error: unknown) => error as Error) : key
    if (full instanceof Error) return { status: undefined, why: full.message }
    const response = await sendOnce(client, given, request, sending, { full, fresh })
    const isSilent = response.status === undefined
    fresh = isSilent && response.isStale === true
    if (fresh) continue
    const mayHelp = isSilent
      ? sending.until !== undefined
      : response.isThrottled || isOfGateway(response)
    const asked = isSilent ? undefined : retryAfter(response, Date.now())
    const waitMs = asked || given.options.backoffMs * 2 ** attempt
    const isTooLong =
      waitMs > longestPauseMs || performance.now() + waitMs > (sending.until ?? Infinity)
    if (!mayHelp || attempt >= maxTries || isTooLong || isHurried(client)) return response
    await sleep(waitMs, undefined, signal.aborted ? {} : { signal }).catch(() => undefined)
    if (signal.aborted && sending.role === 'setup') return response
    attempt++
  }
}

export async function setUp(client: Client, given: Given): Promise<void> {
  const saved = (given.objects.saved = new Map<string, string>())
  const sending = { role: 'setup', requirement: null } as const
  for (const [at, declared] of given.target.setup.entries()) {
    const request = fillRequest(declared, saved)
    const response = await sendHookRequest(client, given, request, sending)
    if (client.life.ended) return
    const problem = response.status === undefined ? response.why : save(request, response, saved)
    if (problem === undefined) continue
    client.life.end('setup', `setup[${at}] failed (${request.method} ${request.url}): ${problem}`)
    return
  }
  given.target = fillTarget(given.target, saved)
  for (const value of saved.values()) given.objects.takenIds.add(value.toLowerCase())
}

function save(
  request: HookRequest,
  response: HttpResponse,
  saved: Map<string, string>,
): string | undefined {
  const json = response.json()
  const answered = `it returned ${response.status} ${json.ok ? `with ${preview(json.value)}` : 'without JSON'}`
  if (response.status >= 400) return answered
  for (const [name, pointer] of Object.entries(request.save ?? {})) {
    const value = json.ok ? getAt(json.value, pointer) : undefined
    if ((typeof value !== 'string' && typeof value !== 'number') || value === '')
      return `there is no string or number at ${pointer}, which "save" calls ${name}: ${answered}`
    saved.set(name, String(value))
  }
  return undefined
}

/**
 * Sends the requests of `teardown`, whatever happened; reports failures.
 * @param saved values from setup
 */
export async function tearDown(
  client: Client,
  given: Given,
  saved: Map<string, string>,
): Promise<void> {
  const timeoutMs = client.life.ended?.cause === 'interrupted' ? responseAfterEndMs : responseMs
  const sending = { role: 'cleanup', requirement: null, timeoutMs } as const
  for (const [at, declared] of given.target.teardown.entries()) {
    const request = fillRequest(declared, saved)
    if (/\{\w+\}/.test(request.url)) continue
    const response = await sendHookRequest(client, given, request, sending)
    if (response.status !== undefined && response.status < 400) continue
    const problem = response.status === undefined ? response.why : `it returned ${response.status}`
    const name = `teardown[${at}]`
    client.findings.signs.add(name, `${name} failed (${request.method} ${request.url}): ${problem}`)
  }
}

const atOnce = 8
/** Time limit in ms of all clean-up after an interrupt, and otherwise of its repetitions. */
const afterInterruptMs = 600
const repeatsMs = 60_000

export async function cleanUp(client: Client, given: Given): Promise<void> {
  const { created, cleanups } = given.objects
  const begunAt = performance.now()
  const cleanupOf = (one: Created): readonly HookRequest[] =>
    given.target.operations[one.operation as OperationId]?.cleanup ?? []
  const waiting = created.filter((object) => cleanupOf(object).length > 0)
  for (const object of waiting) cleanups.set(object, 'the run ended before')
  const isOver = (): boolean =>
    client.life.ended?.cause === 'unreachable' ||
    (isHurried(client) && performance.now() - begunAt > afterInterruptMs)
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next && !isOver(); next = waiting.shift())
      cleanups.set(next, await removed(client, given, next, cleanupOf(next), begunAt))
  }
  await allEnded(Array.from({ length: Math.min(atOnce, given.target.limits.concurrency) }, worker))
}

function isHurried(client: Client): boolean {
  const { ended } = client.life
  return (
    ended !== undefined && ['interrupted', 'lost', 'throttled', 'unreachable'].includes(ended.cause)
  )
}

async function removed(
  client: Client,
  given: Given,
  created: Created,
  requests: readonly HookRequest[],
  begunAt: number,
): Promise<string | null> {
  const sending = { role: 'cleanup', requirement: null, until: begunAt + repeatsMs } as const
  for (const request of requests) {
    const filled = fillRequest(request, new Map([['id', created.id]]))
    const response = await sendHookRequest(client, given, filled, sending)
    if (response.status === undefined) return response.why
    const isGone = response.status === 404 || response.status === 410
    if (response.status >= 400 && !isGone) return `answered ${response.status}`
  }
  return null
}
