import { type HeaderLine, type HttpRequest, isNamed, type NoResponse } from '../http/index.ts'
import type { OperationId, Effect } from '../../catalogue/operations.ts'
import { NotExercised } from './not-exercised.ts'
import { type HttpResponse, isThrottled, isExpected, matchPairs } from './response.ts'
import type { Pairs } from '../../catalogue/answers.ts'
import type { ExchangeRole, FailureExchange } from '../report/index.ts'

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

/** A request, or a function that makes a new one per attempt (a new name for a creation). */
export type Source = Probe | (() => Probe | Promise<Probe>)

export function probeOf(source: Source): Probe | Promise<Probe> {
  return typeof source === 'function' ? source() : source
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
  const written = queryOf({ ...query, ...probe.query })
  return written === '' ? path : `${path}?${written}`
}

export function queryOf(query: Probe['query']): string {
  return Object.entries(query)
    .flatMap(([name, value]) =>
      [value].flat().map((one) => `${encodeURIComponent(name)}=${encodeURIComponent(one)}`),
    )
    .join('&')
}

export function jsonOf(probe: Probe): unknown {
  try {
    return JSON.parse(
      typeof probe.body === 'string' ? probe.body : new TextDecoder().decode(probe.body),
    ) as unknown
  } catch {
    throw new NotExercised('the valid request has no JSON body to change')
  }
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
  readonly again?: (() => Probe | Promise<Probe>) | undefined
  recorded?: () => FailureExchange
}

type Finding =
  | { readonly kind: 'otherwise-later'; readonly response: string }
  | {
      readonly kind: 'answers-differ'
      readonly responses: readonly (readonly [answer: string, times: number])[]
    }

export interface Exchange {
  readonly probe: Probe
  readonly purpose: Purpose
  readonly response?: HttpResponse
  readonly noResponse?: NoResponse
  /** Earlier unanswered attempt, which may have had its effect. */
  readonly unanswered?: Exchange
  readonly unansweredTwice?: true
  /** The previous request on its connection; undefined on a fresh one, and once it is no longer needed. */
  previousRequest?: PreviousRequest | undefined
  /** Requests answered just before a wrong answer, latest first: one may have left the server in a bad state. */
  requestsBefore?: readonly PreviousRequest[]
  readonly finding?: Finding
  readonly throttled: boolean
  /** Throttled by the answer that limits other requests of the run as well. */
  readonly isOwnLimit?: boolean
  /** Form for reports, without keys and truncated; made on demand. */
  readonly recorded: () => FailureExchange
  /** `performance.now()` when the request was handed to the socket, and when its answer had been read. */
  readonly sentAt: number
  readonly endedAt: number
}

export function differing(responses: readonly string[]): Finding {
  const times = new Map<string, number>()
  for (const response of responses) times.set(response, (times.get(response) ?? 0) + 1)
  return { kind: 'answers-differ', responses: [...times] }
}

const saysNothing: readonly number[] = [401, 403, 409, 429]

export function isWrong(exchange: Exchange): boolean {
  const { response, noResponse, purpose, probe } = exchange
  if (!response) return noResponse?.cause === 'malformed'
  if (isThrottling(exchange)) return false
  if (purpose.isSuccess) return !purpose.isSuccess(exchange)
  if (purpose.expects) return matchPairs(purpose.expects, response) !== 'exact'
  if (probe.effect === 'none' || saysNothing.includes(response.status)) return false
  return isRefusedByClient(response.status) || isNobodys(response)
}

/** An error without an envelope, which the service itself would not send. */
export function isNobodys(response: HttpResponse): boolean {
  return response.status >= 400 && response.tpe === undefined
}

export function isRight(exchange: Exchange): boolean {
  return exchange.response !== undefined && !isThrottling(exchange) && !isWrong(exchange)
}

export function isThrottling(exchange: Exchange): boolean {
  return (
    exchange.response !== undefined &&
    isThrottled(exchange.response) &&
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

export function mayRepeat(exchange: Exchange): boolean {
  return (
    exchange.probe.effect === 'none' ||
    (exchange.response !== undefined && isRefusedByClient(exchange.response.status))
  )
}

function isRefusedByClient(status: number): boolean {
  return status >= 400 && status < 500
}
