import {
  type HeaderLine,
  type HttpRequest,
  isNamed,
  type NoResponse,
  type WireResponse,
} from '../http/index.ts'
import type { OperationId, Effect } from '../../catalogue/operations.ts'
import {
  codeNames,
  guardrail,
  isModelError,
  type Pair,
  type Pairs,
} from '../../catalogue/answers.ts'
import type { ExchangeRole, FailureExchange, Reason } from '../report/index.ts'
import { member, parsedJson } from '../../schemas/json.ts'
import { validate } from '../../schemas/validate.ts'

export interface Credential {
  readonly value?: string
  readonly shown: string
  /** Its form for a shell, if a variable with a key can produce it. */
  readonly inShell?: string
  /** True for the key with full rights: only its answers show whether the key is accepted. */
  readonly full: boolean
}

export interface Probe {
  /** Null: a path or method outside the interface. */
  readonly operation: OperationId | null
  readonly method: string
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string | readonly string[]>>
  readonly headers: readonly HeaderLine[]
  readonly credential: Credential
  readonly body?: string | Uint8Array | undefined
  /** Effect on a conforming target: anything but `none` is not repeated on its own. */
  readonly effect: Effect
  readonly creates?: string
  /** Kind and place of its one fault, as in the fault matrix. */
  readonly fault?: string | undefined
}

/** A request, or why none can be made. */
export type Made = Probe | Open

/** At once, or later: making it may send requests. */
export type Making = Made | Promise<Made>

/** A request, or a function that makes a new one per attempt (a new name for a creation). */
export type Source = Probe | (() => Making)

export const probeOf = (source: Source): Making =>
  typeof source === 'function' ? source() : source

/** The request with a change, if it could be made. */
export function withChange(made: Making, change: (valid: Probe) => Making): Making {
  if (made instanceof Promise) return made.then((valid) => withChange(valid, change))
  return isOpen(made) ? made : change(made)
}

export function withOwn(
  declared: readonly HeaderLine[],
  own: readonly HeaderLine[],
): readonly HeaderLine[] {
  if (declared.length === 0) return own
  const isOwn = (one: HeaderLine): boolean =>
    own.some((line) => isNamed(line, one.name.toLowerCase()))
  return [...declared.filter((line) => !isOwn(line)), ...own]
}

export function pathOf(probe: Probe, query: Probe['query']): string {
  let { path } = probe
  if (path.includes('{'))
    path = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      encodeURIComponent(probe.params[name] ?? ''),
    )
  const written = queryOf(
    Object.keys(query).length > 0 ? { ...query, ...probe.query } : probe.query,
  )
  return written === '' ? path : `${path}?${written}`
}

export function queryOf(query: Probe['query']): string {
  let written = ''
  for (const [name, value] of Object.entries(query))
    for (const one of typeof value === 'string' ? [value] : value)
      written += `${written === '' ? '' : '&'}${encodeURIComponent(name)}=${encodeURIComponent(one)}`
  return written
}

/** Undefined if its body is not JSON. */
export function jsonOf(probe: Probe): unknown {
  const { body } = probe
  return parsedJson(typeof body === 'string' ? body : new TextDecoder().decode(body))
}

export function withJson(probe: Probe, body: unknown): Probe {
  return { ...probe, body: JSON.stringify(body) }
}

export function withHeader(probe: Probe, name: string, value: string | undefined): Probe {
  const others = probe.headers.filter((line) => !isNamed(line, name.toLowerCase()))
  return { ...probe, headers: value === undefined ? others : [...others, { name, value }] }
}

export interface Purpose {
  readonly requirement: string | null
  /** The requirement to blame if the request spoils its connection, if different. */
  readonly about?: string
  readonly role: ExchangeRole
  readonly what?: string
  /** Expected statuses and types: a 429 or 503 among them is not throttling. */
  readonly expects?: Pairs
  /**
   * Whether the answer is as intended, beyond `expects`. Such a request should be accepted: it is repeated without an
   * answer, whatever its effect.
   */
  readonly isSuccess?: (exchange: Exchange) => boolean
  /** The suite sent bad input: a 5xx is the server's fault (§7.2). */
  readonly badInput?: boolean
  /** Sent outside the interface to test liveness: passive requirements ignore it. */
  readonly skipPassive?: boolean
  /**
   * Exempts envelope and pair: unknown paths and methods. `at all`: sent after another request to see its effect, so
   * that its own answer proves nothing.
   */
  readonly skipJudging?: 'envelope' | 'at all'
}

export interface PreviousRequest {
  readonly probe: Probe
  readonly purpose: Purpose
  readonly request: HttpRequest
  /** Makes it again, with a new name for a creation; absent if it cannot be repeated at will. */
  readonly again?: Source | undefined
  recorded?: () => FailureExchange
}

type Finding =
  /** The same request without a key is refused on a fresh connection. */
  | { readonly kind: 'remembers-key' }
  | { readonly kind: 'otherwise-later'; readonly response: string }
  | { readonly kind: 'answers-differ'; readonly responses: readonly string[] }

export interface Exchange {
  readonly probe: Probe
  readonly purpose: Purpose
  readonly response?: HttpResponse
  readonly noResponse?: NoResponse
  /** Earlier unanswered attempt, which may have had its effect. */
  unanswered?: Exchange
  /** How often it was sent without an answer, if that is conclusive. */
  unansweredTimes?: number
  /** The previous request on its connection; undefined on a fresh one, and once it is no longer needed. */
  previousRequest?: PreviousRequest | undefined
  /** Requests answered just before a wrong answer, latest first: one may have left the server in a bad state. */
  requestsBefore?: readonly PreviousRequest[]
  readonly finding?: Finding
  readonly throttled: boolean
  /** A gateway answered in place of the service, and not on each repetition: it says as much as no answer. */
  isOfGateway?: boolean
  /** Throttled by the answer that limits other requests of the run as well. */
  isOwnLimit?: boolean
  /** Throttled, and asked to wait for longer than anybody does. */
  isTooLong?: boolean
  /** Whether the target was away meanwhile, and came back; undefined if that was not asked. */
  wasAway?: boolean
  /** Form for reports, without keys and truncated; made on demand. */
  readonly recorded: () => FailureExchange
  /** `performance.now()` when the request was handed to the socket, and when its answer had been read. */
  readonly sentAt: number
  readonly endedAt: number
}

export const differing = (responses: readonly string[]): Finding => ({
  kind: 'answers-differ',
  responses,
})

const saysNothing: readonly number[] = [401, 403, 409, 429]

export function isWrong(exchange: Exchange): boolean {
  const { response, noResponse, purpose, probe } = exchange
  if (!response) return noResponse?.cause === 'malformed'
  if (isThrottling(exchange) || mayConflictWithCopy(exchange)) return false
  if (purpose.isSuccess) return !purpose.isSuccess(exchange)
  if (purpose.expects) return matchPairs(purpose.expects, response) !== 'exact'
  if (probe.effect === 'none' || saysNothing.includes(response.status)) return false
  return isRefusedByClient(response.status) || isBareError(response)
}

/** It conflicts with a copy of itself that got no answer, and may have had its effect. */
export const mayConflictWithCopy = (exchange: Exchange): boolean =>
  exchange.unanswered !== undefined && exchange.response?.status === 409

/** An error without an envelope, which the service itself would not send. */
export function isBareError(response: HttpResponse): boolean {
  return response.status >= 400 && response.tpe === undefined
}

export function isRight(exchange: Exchange): boolean {
  return exchange.response !== undefined && !isThrottling(exchange) && !isWrong(exchange)
}

export function isThrottling(exchange: Exchange): boolean {
  return (
    exchange.response?.isThrottled === true &&
    !isExpected(exchange.purpose.expects, exchange.response)
  )
}

export function kindOf(exchange: Exchange): string | undefined {
  const { response } = exchange
  return response && !isThrottling(exchange)
    ? `${response.status} ${response.tpe ?? ''}`
    : undefined
}

export function kindOfFailure({ purpose, probe, response }: Exchange): string {
  return `${purpose.requirement ?? probe.operation} ${response?.status}`
}

export function isRefusedByClient(status: number): boolean {
  return status >= 400 && status < 500
}

type Json =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string; readonly unread?: true }

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Limits of values and nesting in one body: more would take too much memory or stack. */
const mostJson = { values: 400_000, levels: 500 }
const tooMuch = 'the body contains more than 400,000 values, or more than 500 levels'
const tooLong = 'the body is longer than the read limit (limits.maxAnswerBytes)'

const cutShort = 'the body is truncated JSON'

const noJson = (problem: string): Json => ({ ok: false, problem })
const unread = (problem: string): Json => ({ ok: false, problem, unread: true })

type Received = Pick<WireResponse, 'status' | 'headers' | 'body' | 'cut' | 'undecodable'>

function bodyAsJson(received: Omit<Received, 'status'>): Json {
  const { body, headers } = received
  if (received.undecodable !== undefined) return noJson(received.undecodable)
  if (received.cut) return unread(tooLong)
  if (body.length === 0) return noJson('the body is empty')
  let text: string
  try {
    text = utf8.decode(body)
  } catch {
    return noJson(otherEncoding(body, headers))
  }
  if (text.startsWith('\ufeff')) return noJson('the body begins with a byte order mark')
  if (isTooMuch(text)) return unread(tooMuch)
  try {
    return { ok: true, value: JSON.parse(text) as unknown }
  } catch (error) {
    const { message } = error as Error
    const isAtEnd = message.includes('end of JSON') || message.includes(`position ${text.length}`)
    const isCut = isAtEnd && /^\s*[[{]/.test(text)
    if (isCut) return noJson(cutShort)
    return noJson(isUtf16(body) ? otherEncoding(body, headers) : 'the body is not JSON')
  }
}

/** JSON begins with an ASCII character: in UTF-16 a zero byte is beside it, or a byte order mark before it. */
function isUtf16(bytes: Uint8Array): boolean {
  const [first, second] = bytes
  return first === 0 || second === 0 || (first! >= 0xfe && second! >= 0xfe)
}

const longestLabel = 80

function otherEncoding(body: Uint8Array, headers: readonly HeaderLine[]): string {
  const label = headers.find((line) => isNamed(line, 'content-type'))?.value ?? 'absent'
  const bytes = [...body.subarray(0, 4)].map((byte) => byte.toString(16).padStart(2, '0'))
  const encoding = isUtf16(body) ? 'UTF-16, not UTF-8' : 'not UTF-8'
  return `the body is ${encoding} (Content-Type: ${label.slice(0, longestLabel)}; first bytes: ${bytes.join(' ')})`
}

/** Only scans characters: parsing some bodies of 8 MB would take a hundred megabytes, and seconds. */
function isTooMuch(text: string): boolean {
  if (text.length <= mostJson.levels) return false
  // Short text has few values, and few brackets are not deep.
  const bracket = /[[{]/g
  let brackets = 0
  while (brackets <= mostJson.levels && bracket.test(text)) brackets++
  if (text.length <= mostJson.values && brackets <= mostJson.levels) return false
  let values = 1
  let level = 0
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === '"') at = endOfString(text, at)
    else if (char === ']' || char === '}') level--
    else if (char === ',') values++
    else if (char === '[' || char === '{') {
      values++
      level++
    }
    if (values > mostJson.values || level > mostJson.levels) return true
  }
  return false
}

function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let backslashes = 0
    while (text[at - 1 - backslashes] === '\\') backslashes++
    if (backslashes % 2 === 0) return at
  }
  return text.length
}

/** Values of larger bodies (bytes) are released and parsed again on demand: a run keeps many answers. */
const largeBytes = 64 * 1024
/** Bytes kept of a large body that is not JSON: enough for the title of a page. */
export const headBytes = 4096

export class HttpResponse {
  readonly status: number
  readonly size: number
  readonly headers: readonly HeaderLine[]
  readonly tpe: string | undefined
  /** A 2xx with an error envelope is not a success: it has `tpe` and `errors` (§2.6). */
  readonly isEnvelope: boolean
  /** A transient error of a guardrail (§7.3; a provider's is only recognisable by its key, §7.1) or a model (§7.4). */
  readonly isBlock: boolean
  readonly isGranted: boolean
  readonly isThrottled: boolean
  /** A permanent 5xx: not throttling or overload (503), full storage (507), or a model error (§7.4). */
  readonly isBreakdown: boolean
  readonly #body: Uint8Array
  readonly #json: Json | undefined
  #last: WeakRef<Json> | undefined

  constructor(received: Received, json = bodyAsJson(received)) {
    const { status, headers, body } = received
    const value = json.ok ? json.value : undefined
    const tpe = member(value, 'tpe')
    const list = member(value, 'errors')
    const isLarge = body.length > largeBytes
    this.status = status
    this.size = body.length
    this.headers = headers
    this.tpe = typeof tpe === 'string' ? tpe : undefined
    this.isEnvelope = this.tpe !== undefined && Array.isArray(list)
    this.isGranted = status >= 200 && status < 300 && !this.isEnvelope
    this.isThrottled = status === 429 || status === 503
    const isOfModel = isModelError(this.tpe)
    this.isBreakdown = status >= 500 && status !== 503 && status !== 507 && !isOfModel
    this.isBlock =
      this.tpe === guardrail.tpe ||
      isOfModel ||
      (Array.isArray(list) && list.some((error) => member(error, 'key') === guardrail.key))
    this.#body = isLarge && !json.ok ? new Uint8Array(body.subarray(0, headBytes)) : body
    if (isLarge && json.ok) this.#last = new WeakRef(json)
    else this.#json = json
  }

  header(name: string): string | undefined {
    return this.headers.find((line) => isNamed(line, name))?.value
  }

  text(bytes: number): string {
    return Buffer.from(this.#body.subarray(0, bytes)).toString('utf8')
  }

  /** The body as JSON (RFC 8259: UTF-8 without a byte order mark). A truncated body is not JSON. */
  json(): Json {
    const known = this.#json ?? this.#last?.deref()
    if (known) return known
    const again = bodyAsJson({ headers: this.headers, body: this.#body, cut: false })
    this.#last = new WeakRef(again)
    return again
  }

  /** The same answer with another value, which takes less memory, and without text. */
  withValue(value: unknown): HttpResponse {
    const { status, headers } = this
    const received = { status, headers, body: new Uint8Array(), cut: false }
    return new HttpResponse(received, { ok: true, value })
  }
}

export function jsonValue(response: HttpResponse | undefined): unknown {
  const json = response?.json()
  return json?.ok ? json.value : undefined
}

export function isPage(response: HttpResponse): boolean {
  const head = response.text(headBytes)
  const isHtml = /\bhtml\b/i.test(response.header('content-type') ?? '')
  return head.trim() !== '' && (isHtml || /^\s*<(?:!doctype html|html)\b/i.test(head))
}

/** `family`: the right status with another code name of its row of §7.2. */
type Match = 'exact' | 'family' | 'none'

/** Statuses excluded from a 4xx: they concern the key, quota, or the object in the path. */
const excludedFrom: Readonly<Partial<Record<Pair[0], readonly number[]>>> = {
  '4xx': [401, 429],
  '4xx-body': [401, 403, 404, 429],
}
const ofUnknownId: readonly number[] = [400, 403, 404, 410, 422]

const isScope = (status: Pair[0]): boolean =>
  status === '4xx-id' || excludedFrom[status] !== undefined

function hasStatus(pair: Pair, response: HttpResponse): boolean {
  const status = pair[0]
  if (status === 'any') return response.status >= 400
  if (status === 'no-5xx') return !response.isThrottled && !response.isBreakdown
  if (status === '4xx-id') return ofUnknownId.includes(response.status)
  const excluded = excludedFrom[status]
  if (excluded)
    return response.status >= 400 && response.status < 500 && !excluded.includes(response.status)
  return status === response.status
}

export function envelopeProblem(response: HttpResponse): string | undefined {
  const json = response.json()
  if (!json.ok) return json.problem
  const found = validate('error-envelope', json.value)
  return found.valid ? undefined : found.problem
}

export function matchPairs(pairs: Pairs, response: HttpResponse): Match {
  const tpe = response.tpe
  let match: Match = 'none'
  for (const pair of pairs) {
    if (!hasStatus(pair, response)) continue
    const isNamed = pair.length > 1
    const names: readonly unknown[] = pair
    const isWhole = () => !isScope(pair[0]) || envelopeProblem(response) === undefined
    if (isNamed ? tpe !== undefined && names.includes(tpe, 1) : isWhole()) return 'exact'
    if (tpe === undefined || typeof pair[0] !== 'number') continue
    if (codeNames[response.status]?.includes(tpe)) match = 'family'
  }
  return match
}

export function envelopeRemark(pairs: Pairs, response: HttpResponse): string {
  const asked = pairs.some((pair) => pair.length === 1 && hasStatus(pair, response))
  const problem = asked && response.json().ok ? envelopeProblem(response) : undefined
  return problem === undefined ? '' : `, but ${problem}`
}

export function isExpected(pairs: Pairs | undefined, response: HttpResponse): boolean {
  return pairs !== undefined && matchPairs(pairs, response) === 'exact'
}

export function isOfFamily(pairs: Pairs | undefined, response: HttpResponse): boolean {
  return pairs !== undefined && matchPairs(pairs, response) === 'family'
}

/** Whether the text of an answer with a right status has one of its names, though it may not be JSON. */
export function mentionsExpected(pairs: Pairs | undefined, response: HttpResponse): boolean {
  const text = response.text(headBytes)
  return (pairs ?? []).some(
    (pair) => hasStatus(pair, response) && pair.some((name) => text.includes(`"${name}"`)),
  )
}

export function hasStatusOf(pairs: Pairs | undefined, response: HttpResponse): boolean {
  return pairs !== undefined && pairs.some((pair) => hasStatus(pair, response))
}

/** For example `400 InvalidInputParameters, or 413 BadRequest or PayloadTooLarge`. */
export function describePairs(pairs: Pairs): string {
  return pairs
    .map(([status, ...names]) => {
      if (status === 'no-5xx') return 'anything but a 5xx'
      const listed = (all: readonly number[], and: string): string =>
        all.join(', ').replace(/, (\d+)$/, ` ${and} $1`)
      if (status === '4xx-id') return `${listed(ofUnknownId, 'or')}, with an error envelope`
      const excluded = excludedFrom[status]
      if (excluded) return `a 4xx other than ${listed(excluded, 'and')}, with an error envelope`
      return `${status === 'any' ? 'an error with' : status} ${names.join(' or ')}`.trim()
    })
    .join(', or ')
}

/** Neither proven nor disproven: a verdict, and what prepares a state returns it if it could not do so. */
export interface Open {
  readonly outcome: 'open'
  readonly why: string | Reason
  readonly cases?: number
}

export const open = (why: string | Reason): Open => ({ outcome: 'open', why })

export const isOpen = (one: unknown): one is Open =>
  typeof one === 'object' && one !== null && 'outcome' in one && one.outcome === 'open'

/** Why not everything could be done, if so. */
export type Left = Open | undefined

/** All of them, or why one is missing. */
export const allOrOpen = <T>(all: readonly (T | Open)[]): T[] | Open =>
  all.find(isOpen) ?? all.filter((one): one is T => !isOpen(one))
