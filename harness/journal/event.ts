import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { operationOf, type OperationId } from '../../catalogue/operations.ts'
import { getAt, isObject } from '../../schemas/json.ts'
import { isUuid, parseDateTime } from '../../schemas/formats.ts'
import { type Exchange, type HttpResponse, jsonOf, jsonValue } from './exchange.ts'
import type { Target } from '../target/index.ts'

/**
 * What was known of a request when it was sent. `valid`: as declared; `odd`: valid, with values that nobody declared;
 * `faulty`: must be refused; `unknown`: sent by somebody else.
 */
export type RequestKind = 'valid' | 'odd' | 'faulty' | 'unknown'

export type Noise = 'throttled' | 'blocked'

/** One request about an object and its outcome, as pure data. Times are in ms, of one clock. */
export interface HistoryEvent {
  /**
   * `creation`: of the object (an addition creates a file in a graph); `reading`: by GET; `listing`: of files by type;
   * `use`: anything else.
   */
  readonly kind: 'creation' | 'reading' | 'listing' | 'use'
  readonly operation: OperationId
  /**
   * Id of the object in the path or body; for a creation, in the answer, if there; for a listing, the requested types.
   */
  readonly object: string | undefined
  readonly name?: string | undefined
  /** Digest of the body of a creation, if known completely; and its media type. */
  readonly content?: string | undefined
  readonly label?: string | undefined
  /** The key in a recording, which identifies the account; undefined for a run. */
  readonly key?: string | undefined
  /** Id of its container: the application of a job, the graph of an addition or upload. */
  readonly within?: string | undefined
  readonly request: RequestKind
  readonly fault?: string | undefined
  readonly sentAt: number
  readonly endedAt: number
  readonly status: number | undefined
  readonly tpe?: string | undefined
  readonly isGranted: boolean
  readonly noise?: Noise | undefined
  readonly body?: unknown
  readonly exchange: Exchange
}

export const isConflict = (event: HistoryEvent): boolean => event.status === 409

export const overlaps = (one: HistoryEvent, other: HistoryEvent): boolean =>
  one !== other && one.sentAt <= other.endedAt && other.sentAt <= one.endedAt

export const isMissing = (one: { readonly status?: number | undefined }): boolean =>
  one.status === 404 || one.status === 410

/** Expected to be accepted, or of unknown intention. */
export const isMeant = (event: HistoryEvent): boolean => event.request !== 'faulty'

export function idKey(id: string): string {
  return isUuid(id) ? id.toLowerCase() : id
}

export function sameId(one: string, other: string): boolean {
  return one === other || idKey(one) === idKey(other)
}

function meaningOf(value: unknown): unknown {
  return typeof value === 'string' ? (parseDateTime(value)?.epochMs ?? idKey(value)) : value
}

export function readsTheSame(before: unknown, after: unknown): boolean {
  return isDeepStrictEqual(meaningOf(before), meaningOf(after))
}

/** What comes of its bodies is computed on demand: most events are never asked for it. */
class ExchangeEvent implements HistoryEvent {
  readonly kind: HistoryEvent['kind']
  readonly object: string | undefined
  readonly within: string | undefined
  readonly name: string | undefined
  readonly label: string | undefined
  readonly key: string | undefined
  readonly request: RequestKind
  readonly fault: string | undefined
  readonly sentAt: number
  readonly endedAt: number
  readonly status: number | undefined
  readonly tpe: string | undefined
  readonly isGranted: boolean
  readonly noise: Noise | undefined
  readonly operation: OperationId
  readonly exchange: Exchange
  readonly #isTrimmed: boolean
  #content: string | undefined
  #body: { readonly value: unknown } | undefined

  constructor(operation: OperationId, about: About, intention: Intention, exchange: Exchange) {
    const response = exchange.isOfGateway ? undefined : exchange.response
    this.operation = operation
    this.kind = about.kind
    this.object = about.object
    this.within = about.within
    this.name = about.name
    this.label = headerOf(exchange, 'content-type')
    this.key = intention.key
    this.request = intention.request
    this.fault = intention.fault
    this.sentAt = exchange.sentAt
    this.endedAt = exchange.endedAt
    this.status = response?.status
    this.tpe = response && response.tpe
    this.isGranted = response?.isGranted === true
    if (response?.isThrottled) this.noise = 'throttled'
    else if (response?.isBlock) this.noise = 'blocked'
    const isKept = intention.request === 'unknown' || about.kind === 'listing'
    this.exchange = isKept ? exchange : lightened(exchange)
    this.#isTrimmed = this.exchange !== exchange
  }

  get content(): string | undefined {
    return this.kind === 'creation' ? (this.#content ??= contentOf(this.exchange)) : undefined
  }

  get body(): unknown {
    if (this.#body) return this.#body.value
    const json = jsonValue(this.exchange.response)
    this.#body = { value: this.#isTrimmed ? json : trimmedBody(json) }
    return this.#body.value
  }
}

/**
 * Converts an exchange; undefined if it is not about an object.
 * @param recorded what is known of a recorded request
 */
export function eventOf(
  target: Target,
  exchange: Exchange,
  recorded?: Intention,
): HistoryEvent | undefined {
  const { operation } = exchange.probe
  const about = operation !== null && aboutOf(target, operation, exchange)
  if (!operation || !about) return undefined
  // A faulty use shows nothing.
  if (about.kind === 'use' && !recorded && !isValid(exchange)) return undefined
  const intention = recorded ?? intentionOf(target, exchange, about)
  return new ExchangeEvent(operation, about, intention, exchange)
}

const isValid = (exchange: Exchange): boolean =>
  !exchange.purpose.expects && exchange.probe.fault === undefined && exchange.probe.credential.full

type About = Pick<HistoryEvent, 'kind' | 'object' | 'within' | 'name'>

function aboutOf(target: Target, id: OperationId, exchange: Exchange): About | undefined {
  const { probe } = exchange
  const { creates, params = {}, method, freshFileAt } = operationOf(id)
  const inPath = Object.keys(params).find((name) => probe.params[name] !== undefined)
  const named = inPath === undefined ? undefined : probe.params[inPath]
  if (creates) {
    const within = named ?? [probe.query['graphId']].flat()[0]
    const name = nameOf(target, id, exchange)
    return { kind: 'creation', object: createdId({ target }, exchange), within, name }
  }
  if (freshFileAt !== undefined) {
    const place = target.operations[id]?.fields[freshFileAt]
    const file = place === undefined ? undefined : getAt(jsonOf(exchange.probe), place)
    const isId = typeof file === 'string' || typeof file === 'number'
    return { kind: 'creation', object: isId ? String(file) : probe.creates, within: named }
  }
  const types = probe.query['file_types']
  if (types !== undefined && method === 'GET')
    return { kind: 'listing', object: `file_types ${[types].flat().join()}` }
  return named === undefined
    ? undefined
    : { kind: method === 'GET' ? 'reading' : 'use', object: named }
}

/** The name in a creation, in the body or as that of an attachment; the body may not be JSON. */
function nameOf(target: Target, id: OperationId, exchange: Exchange): string | undefined {
  const { name } = operationOf(id).creates ?? {}
  const { creates } = exchange.probe
  if (name === undefined) return undefined
  if ('header' in name) {
    const line = headerOf(exchange, name.header) ?? ''
    return creates ?? /filename="((?:[^"\\]|\\.)*)"/.exec(line)?.[1]
  }
  const own = getAt(
    jsonOf(exchange.probe),
    target.operations[id]?.fields[name.role] ?? `/${name.role}`,
  )
  return typeof own === 'string' ? own : creates
}

function headerOf(exchange: Exchange, header: string): string | undefined {
  return exchange.probe.headers.find((one) => one.name.toLowerCase() === header)?.value
}

function contentOf(exchange: Exchange): string | undefined {
  const { body } = exchange.probe
  return body === undefined ? undefined : createHash('sha256').update(body).digest('base64')
}

type Intention = Pick<HistoryEvent, 'request' | 'fault' | 'key'>

function intentionOf(target: Target, exchange: Exchange, about: About): Intention {
  const { probe, purpose } = exchange
  const makesNothing = about.kind === 'creation' && probe.effect === 'none'
  // A scenario may require the refusal of a reading.
  const isToBeRefused = about.kind === 'reading' && purpose.expects !== undefined
  if (makesNothing || isToBeRefused || !probe.credential.full)
    return { request: 'faulty', fault: purpose.about ?? purpose.requirement ?? undefined }
  // Only inputs of applications are declared; other creations have a fresh name each time.
  const takesInputs = probe.operation !== null && operationOf(probe.operation).busy !== undefined
  const isOther = takesInputs && !isAsDeclared(target, exchange, about.within)
  return { request: isOther || purpose.badInput ? 'odd' : 'valid' }
}

function isAsDeclared(
  target: Target,
  exchange: Exchange,
  application: string | undefined,
): boolean {
  return Object.values(target.resources).some(
    (one) =>
      typeof one === 'object' &&
      'inputs' in one &&
      one.id === application &&
      isDeepStrictEqual(jsonOf(exchange.probe), { inputs: one.inputs }),
  )
}

/**
 * Longest id to put into a path, in UTF-16 units: far above what servers return, far below the limit of request lines.
 */
const longest = 1024

/**
 * An id from the target that can be part of a path: not empty or endless, no lone surrogate (which cannot be
 * percent-encoded), and not `.` or `..`, which would change the path, for example of a clean-up.
 */
function usableId(id: unknown): string | undefined {
  if (typeof id !== 'string' || id === '' || id.length > longest) return undefined
  return id === '.' || id === '..' || /\p{Cs}/u.test(id) ? undefined : id
}

const scalar = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** The body as JSON, with integers of 16 and more digits as strings: JavaScript would round a 64-bit id. */
function unrounded(response: HttpResponse): unknown {
  const text = response.text(response.size)
  return JSON.parse(
    text.replaceAll(scalar, (token) => (/^-?\d{16,}$/.test(token) ? `"${token}"` : token)),
  ) as unknown
}

/** The id of a created object, from the declared place in the answer, if any. */
export function createdId(
  options: { readonly target: Target },
  exchange: Exchange,
): string | undefined {
  const { response, probe } = exchange
  if (!response || probe.operation === null || !response.isGranted) return undefined
  const place =
    options.target.operations[probe.operation]?.fields['id'] ??
    operationOf(probe.operation).creates?.idAt
  const id = place === undefined ? undefined : getAt(jsonValue(response), place)
  if (typeof id !== 'number') return usableId(id)
  return usableId(String(Number.isSafeInteger(id) ? id : getAt(unrounded(response), place!)))
}

/** Larger answers are trimmed, since a history keeps all of them. */
const largeBytes = 64 * 1024
/** Longest text kept of a member, in characters: longer than any documented id or date-time. */
const longestText = 1024

function sorted(_name: string, value: unknown): unknown {
  if (!isObject(value)) return value
  const names = Object.keys(value).sort()
  return Object.fromEntries(names.map((name) => [name, value[name]]))
}

function trimmed(value: unknown): unknown {
  if (typeof value === 'string') return trimmedText(value)
  if (typeof value !== 'object' || value === null) return value
  const digest = digestOf(JSON.stringify(value, sorted))
  return Array.isArray(value) ? [digest] : { digest }
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/**
 * Cuts an endless fraction of a second inside the fraction, so that it stays a date-time; other long text gets a
 * digest.
 */
function trimmedText(text: string): string {
  if (text.length <= longestText) return text
  const end = /(?:Z|[+-]\d\d:\d\d)$/i.exec(text.slice(-6))?.[0] ?? digestOf(text)
  return text.slice(0, longestText - end.length) + end
}

/** The members of an answer with their types, short texts, and digests of their content. */
export function trimmedBody(body: unknown): unknown {
  if (!isObject(body)) return trimmed(body)
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => [name.slice(0, longestText), trimmed(value)]),
  )
}

export function lightened(exchange: Exchange): Exchange {
  const { response } = exchange
  if (!response || response.size <= largeBytes) return exchange
  const json = response.json()
  if (!json.ok) return exchange
  return { ...exchange, response: response.withValue(trimmedBody(json.value)) }
}
