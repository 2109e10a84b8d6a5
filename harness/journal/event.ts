import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { operation as recordOf, type OperationId } from '../../catalogue/operations.ts'
import { getAt, parsedJson } from '../../schemas/json.ts'
import { isUuid, parseDateTime } from '../../schemas/formats.ts'
import {
  type Exchange,
  type HttpResponse,
  isBlock,
  isGranted,
  isThrottled,
  jsonValue,
  tpeOf,
} from '../engine/index.ts'
import type { Target } from '../target/index.ts'
import { lightened, trimmedBody } from './light.ts'

/**
 * What was known of a request before its answer came. `valid`: as the target file declares it; `odd`: valid too, but with
 * values that nobody declared; `faulty`: to be refused; `unknown`: somebody else sent it.
 */
export type RequestKind = 'valid' | 'odd' | 'faulty' | 'unknown'

/** Why an answer says nothing about the request: a limit, or an error of a guardrail or of a model, which come and go. */
export type Noise = 'throttled' | 'blocked'

/** One request about an object, and what came of it: pure data, whoever sent it. Times are in ms, of one clock. */
export interface HistoryEvent {
  /**
   * `creation`: of the object (an addition is the creation of a file in a graph); `reading`: by GET; `listing`: of the files of some
   * types; `use`: anything else.
   */
  readonly kind: 'creation' | 'reading' | 'listing' | 'use'
  readonly operation: OperationId
  /**
   * Id of the object, as the path or the body names it; of a creation as its answer does, undefined if that gives none; of a
   * listing the types that it asks for.
   */
  readonly object: string | undefined
  readonly name?: string | undefined
  /** Digest of the body of a creation, undefined if that is not known whole; and the media type that it is labelled with. */
  readonly content?: string | undefined
  readonly label?: string | undefined
  /** The key that a recording shows: it tells one account from another. Of a run undefined. */
  readonly key?: string | undefined
  /** Id of what it is created in: the application of a job, the graph of an addition or of an upload. */
  readonly within?: string | undefined
  readonly request: RequestKind
  /** Of a faulty request: the requirement that its fault belongs to. */
  readonly fault?: string | undefined
  readonly sentAt: number
  readonly endedAt: number
  /** Undefined: no answer came. */
  readonly status: number | undefined
  readonly tpe?: string | undefined
  readonly isGranted: boolean
  readonly noise?: Noise | undefined
  /** No request went before it on its connection, so that none can be to blame for its answer. */
  readonly isFirst: boolean
  /** JSON of the answer, as `trimmedBody` keeps it; undefined if it has none. */
  readonly body?: unknown
  readonly exchange: Exchange
}

export const isConflict = ({ status }: HistoryEvent): boolean => status === 409

/** The id as it is compared: uuids are the same in either letter case. */
export function idKey(id: string): string {
  return isUuid(id) ? id.toLowerCase() : id
}

export function sameId(one: string, other: string): boolean {
  return idKey(one) === idKey(other)
}

/** A member as it is compared: a date-time by its instant, a uuid without letter case. */
function meaningOf(value: unknown): unknown {
  return typeof value === 'string' ? (parseDateTime(value)?.epochMs ?? idKey(value)) : value
}

/** True if a member says the same in both answers. */
export function readsTheSame(before: unknown, after: unknown): boolean {
  return isDeepStrictEqual(meaningOf(before), meaningOf(after))
}

/** The event that an exchange is; undefined if it is about no object. @param isRecorded nobody knows what was meant by it */
export function eventOf(
  target: Target,
  exchange: Exchange,
  isRecorded: boolean,
): HistoryEvent | undefined {
  const { probe, response, sentAt, endedAt, previousRequest } = exchange
  const { operation } = probe
  const about = operation !== null && aboutOf(target, operation, exchange)
  if (!operation || !about) return undefined
  const kept = isRecorded || about.kind === 'listing' ? exchange : lightened(exchange)
  let body: { readonly value: unknown } | undefined
  let content: string | undefined
  return {
    ...about,
    operation,
    label: headerOf(exchange, 'content-type'),
    key: headerOf(exchange, 'authorization'),
    get content() {
      return about.kind === 'creation' ? (content ??= contentOf(exchange)) : undefined
    },
    ...(isRecorded ? { request: 'unknown' as const } : requestOf(target, exchange, about)),
    sentAt,
    endedAt,
    status: response?.status,
    tpe: response && tpeOf(response),
    isGranted: response !== undefined && isGranted(response),
    noise: response && noiseOf(response),
    isFirst: previousRequest === undefined,
    get body() {
      const value = (): unknown => {
        const json = jsonValue(kept.response)
        return kept === exchange ? trimmedBody(json) : json
      }
      return (body ??= { value: value() }).value
    },
    exchange: kept,
  }
}

type About = Pick<HistoryEvent, 'kind' | 'object' | 'within' | 'name'>

function aboutOf(target: Target, id: OperationId, exchange: Exchange): About | undefined {
  const { probe } = exchange
  const { creates, params = {}, method, freshFileAt } = recordOf(id)
  const [named] = Object.keys(params).flatMap((name) => probe.params[name] ?? [])
  if (creates) {
    const within = named ?? [probe.query['graphId']].flat()[0]
    const name = nameOf(target, id, exchange)
    return { kind: 'creation', object: createdId({ target }, exchange), within, name }
  }
  if (freshFileAt !== undefined) {
    const place = target.operations[id]?.fields[freshFileAt]
    const file = place === undefined ? undefined : getAt(bodyOf(exchange), place)
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

/** The name that a creation asks for, at its place in the body or as that of an attachment; what was sent may be no JSON. */
function nameOf(target: Target, id: OperationId, exchange: Exchange): string | undefined {
  const { name } = recordOf(id).creates ?? {}
  const { creates } = exchange.probe
  if (name === undefined) return undefined
  if ('header' in name) {
    const line = headerOf(exchange, name.header) ?? ''
    return creates ?? /filename="((?:[^"\\]|\\.)*)"/.exec(line)?.[1]
  }
  const own = getAt(bodyOf(exchange), target.operations[id]?.fields[name.role] ?? `/${name.role}`)
  return typeof own === 'string' ? own : creates
}

function headerOf({ probe }: Exchange, header: string): string | undefined {
  return probe.headers.find(({ name }) => name.toLowerCase() === header)?.value
}

function contentOf({ probe: { body } }: Exchange): string | undefined {
  return body === undefined ? undefined : createHash('sha256').update(body).digest('base64')
}

function bodyOf({ probe: { body } }: Exchange): unknown {
  return body === undefined
    ? undefined
    : parsedJson(typeof body === 'string' ? body : new TextDecoder().decode(body))
}

function noiseOf(response: HttpResponse): Noise | undefined {
  if (isThrottled(response)) return 'throttled'
  return isBlock(response) ? 'blocked' : undefined
}

function requestOf(
  target: Target,
  exchange: Exchange,
  { kind, within }: About,
): Pick<HistoryEvent, 'request' | 'fault'> {
  const { probe, purpose } = exchange
  const makesNothing = kind === 'creation' && probe.effect === 'none'
  // A scenario may refuse the reading of what is there.
  const isToBeRefused = kind === 'reading' && purpose.expects !== undefined
  if (makesNothing || isToBeRefused || !probe.credential.full)
    return { request: 'faulty', fault: purpose.about ?? purpose.requirement ?? undefined }
  // What an application takes, the target file declares; what else is created has a fresh name each time.
  const takesInputs = probe.operation !== null && recordOf(probe.operation).busy !== undefined
  const isOther = takesInputs && !isAsDeclared(target, exchange, within)
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
      isDeepStrictEqual(bodyOf(exchange), { inputs: one.inputs }),
  )
}

/** Longest id that is put into a path, in UTF-16 units: far above what any server gives, far below what makes a request line. */
const longest = 1024

/**
 * An id that a target gave, if it can be part of the path of a request: not empty, not endless, no lone surrogate (which
 * has no percent-encoding), and neither `.` nor `..`, which would ask for another path, to clean up for instance.
 */
function usableId(id: unknown): string | undefined {
  if (typeof id !== 'string' || id === '' || id.length > longest) return undefined
  return id === '.' || id === '..' || /\p{Cs}/u.test(id) ? undefined : id
}

/** A text or a number of JSON. */
const scalar = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** The body as JSON, whole numbers of 16 digits and more as texts: JavaScript would round an id of 64 bits. */
function unrounded(response: HttpResponse): unknown {
  const text = response.text(response.size)
  return JSON.parse(
    text.replaceAll(scalar, (token) => (/^-?\d{16,}$/.test(token) ? `"${token}"` : token)),
  ) as unknown
}

/** The id of the object that a granted creation made, read where the target file says; undefined if there is none. */
export function createdId(
  { target }: { readonly target: Target },
  exchange: Exchange,
): string | undefined {
  const { response, probe } = exchange
  if (!response || probe.operation === null || !isGranted(response)) return undefined
  const place =
    target.operations[probe.operation]?.fields['id'] ?? recordOf(probe.operation).creates?.idAt
  const id = place === undefined ? undefined : getAt(jsonValue(response), place)
  if (typeof id !== 'number') return usableId(id)
  return usableId(String(Number.isSafeInteger(id) ? id : getAt(unrounded(response), place!)))
}
