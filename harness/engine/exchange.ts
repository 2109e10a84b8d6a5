import { type HeaderLine, type HttpRequest, isNamed, type NoResponse } from '../http/index.ts'
import type { OperationId } from '../../catalogue/operations.ts'
import { NotExercised } from './outcome.ts'
import type { Effect } from '../../catalogue/operation.ts'
import type { Pairs } from '../../catalogue/expected.ts'
import type { ExchangeRole, FailureExchange } from '../report/index.ts'
import { type HttpResponse, isThrottled, tpeOf, isExpected, matchPairs } from './response.ts'

/** An `Authorization` header: its value, and how it is written wherever it is shown. */
export interface Credential {
  /** Absent: no header at all. */
  readonly value?: string
  readonly shown: string
  /** What a shell makes the value of, if it can make it of a variable that holds a key. */
  readonly inShell?: string
  /** True for the key with full rights: only its answers tell whether the key is accepted. */
  readonly full: boolean
}

/** One request that the suite means to send, before the target's own headers and base URL are put to it. */
export interface Probe {
  /** Null: a path or method that the interface does not have. */
  readonly operation: OperationId | null
  readonly method: string
  /** Template with parameters in braces, or a path that is sent as it is. */
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  /** Several values: the member stands there several times. */
  readonly query: Readonly<Record<string, string | readonly string[]>>
  readonly headers: readonly HeaderLine[]
  readonly credential: Credential
  readonly body?: string | Uint8Array
  /** Effect that it has on a conforming target: anything but `none` is never sent twice unasked. */
  readonly effect: Effect
  /** Name of the object that it would create, for clean-up. */
  readonly creates?: string
  /** The kind of its one fault, and where that is, as the fault matrix calls it. */
  readonly fault?: string | undefined
}

/** The declared headers, without those that `own` sets itself, and then its own. */
export function withOwn(
  declared: readonly HeaderLine[],
  own: readonly HeaderLine[],
): readonly HeaderLine[] {
  if (declared.length === 0) return own
  const isOwn = ({ name }: HeaderLine): boolean =>
    own.some((line) => isNamed(line, name.toLowerCase()))
  return [...declared.filter((line) => !isOwn(line)), ...own]
}

/** Path and query of the request, with those members of `query` that it does not have itself. */
export function pathOf(probe: Probe, query: Probe['query']): string {
  const path = probe.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(probe.params[name] ?? ''),
  )
  const written = queryOf({ ...query, ...probe.query })
  return written === '' ? path : `${path}?${written}`
}

/** The members as they stand behind the question mark. */
export function queryOf(query: Probe['query']): string {
  return Object.entries(query)
    .flatMap(([name, value]) =>
      [value].flat().map((one) => `${encodeURIComponent(name)}=${encodeURIComponent(one)}`),
    )
    .join('&')
}

/** The probe's body as JSON; throws `NotExercised` if it is not JSON (a scenario may send bytes). */
export function jsonOf({ body }: Probe): unknown {
  try {
    return JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body)) as unknown
  } catch {
    throw new NotExercised('the valid request has no JSON body to change')
  }
}

export function withJson(probe: Probe, body: unknown): Probe {
  return { ...probe, body: JSON.stringify(body) }
}

/** The probe with that header in place of any of the same name; without it if `value` is undefined. */
export function withHeader(probe: Probe, name: string, value: string | undefined): Probe {
  const others = probe.headers.filter((line) => !isNamed(line, name.toLowerCase()))
  return { ...probe, headers: value === undefined ? others : [...others, { name, value }] }
}

/** Why a request is sent, and what is known of its answer beforehand. */
export interface Purpose {
  /** The requirement that it is sent for; null for a request of the suite's own. */
  readonly requirement: string | null
  /** The requirement that the request is about, if it is sent for another one: a connection that it spoils is told there. */
  readonly about?: string
  readonly role: ExchangeRole
  /** How it differs from the operation's valid request, in words that follow the request line. */
  readonly what?: string
  /** Statuses and types that the requirement expects: a 429 or 503 among them is no throttling. */
  readonly expects?: Pairs
  /**
   * Whether the answer is what the request is sent for, if that is more than `expects` says. Such a request is to be
   * granted: whatever its effect, it is sent once more if no answer came.
   */
  readonly isSuccess?: (exchange: Exchange) => boolean
  /** The suite itself made the input bad: a 5xx to it is the server's fault (§7.2). */
  readonly badInput?: boolean
  /** Sent to what is no part of the interface, to see that the target lives: no requirement of every response judges the answer. */
  readonly skipPassive?: boolean
  /**
   * Answers whose envelope and pair are not judged: unknown paths and methods. `at all`: sent after another request to see
   * what that leaves behind, so that the answer says nothing about what is asked for.
   */
  readonly skipJudging?: 'envelope' | 'at all'
}

/** A request, as the next one on its connection knows it. */
export interface PreviousRequest {
  readonly probe: Probe
  readonly purpose: Purpose
  readonly request: HttpRequest
  /** Makes it once more, with a fresh name if it creates something; absent if it cannot be sent again at will. */
  readonly again?: () => Probe | Promise<Probe>
  /** Its recorded form; set when it has ended. */
  recorded?: () => FailureExchange
}

/** Finding of asking again after a wrong answer. */
type Finding =
  /** Answered otherwise, and always so, when everything else was sent; in words. */
  | { readonly kind: 'otherwise-later'; readonly response: string }
  | {
      readonly kind: 'answers-differ'
      /** Each answer to the request, in words, and how often it came. */
      readonly responses: readonly (readonly [answer: string, times: number])[]
    }

/** One request and what came of it. */
export interface Exchange {
  readonly probe: Probe
  readonly purpose: Purpose
  readonly response?: HttpResponse
  readonly noResponse?: NoResponse
  /** Earlier try of the request that got no answer: it may have had its effect nevertheless. */
  readonly unanswered?: Exchange
  /** True if no answer came on a second, fresh connection either. */
  readonly unansweredTwice?: true
  /** The request that went before on its connection; undefined on a fresh one, and once nothing is to be told of it any more. */
  previousRequest?: PreviousRequest | undefined
  readonly finding?: Finding
  /** Still 429 or 503 after every try that patience allows. */
  readonly throttled: boolean
  /** Form for reports: keys removed, bodies cut. Made when it is first asked for. */
  readonly recorded: FailureExchange
  /** `performance.now()` when the request was handed to the socket, and when its answer had been read. */
  readonly sentAt: number
  readonly endedAt: number
}

/** Finds that the answers to one request differ; each is given in words. */
export function differing(responses: readonly string[]): Finding {
  const times = new Map<string, number>()
  for (const response of responses) times.set(response, (times.get(response) ?? 0) + 1)
  return { kind: 'answers-differ', responses: [...times] }
}

/** To a request that should be granted. */
const saysNothing: readonly number[] = [401, 403, 409, 429]

/** Whether the answer is certainly not what the request was sent for. */
export function isWrong(exchange: Exchange): boolean {
  const { response, noResponse, purpose, probe } = exchange
  if (!response) return noResponse?.cause === 'malformed'
  if (isThrottling(exchange)) return false
  if (purpose.isSuccess) return !purpose.isSuccess(exchange)
  if (purpose.expects) return matchPairs(purpose.expects, response) !== 'exact'
  if (probe.effect === 'none' || saysNothing.includes(response.status)) return false
  return isRefusedByClient(response.status) || isNobodys(response)
}

/** An error that is no envelope: a service says it otherwise. */
export function isNobodys(response: HttpResponse): boolean {
  return response.status >= 400 && tpeOf(response) === undefined
}

export function isRight(exchange: Exchange): boolean {
  return exchange.response !== undefined && !isThrottling(exchange) && !isWrong(exchange)
}

export function isThrottling({ response, purpose }: Exchange): boolean {
  return response !== undefined && isThrottled(response) && !isExpected(purpose.expects, response)
}

/** `404 NotFound`; undefined for none, and for one that only asks for patience. */
export function kindOf(exchange: Exchange): string | undefined {
  const { response } = exchange
  return response && !isThrottling(exchange)
    ? `${response.status} ${tpeOf(response) ?? ''}`
    : undefined
}

/** What it was sent for, and with which status it failed. */
export function kindOfFailure({ purpose, probe, response }: Exchange): string {
  return `${purpose.requirement ?? probe.operation} ${response?.status}`
}

/** Whether the request may be sent again: it cannot have had an effect, or was refused. */
export function mayRepeat({ probe, response }: Exchange): boolean {
  return probe.effect === 'none' || (response !== undefined && isRefusedByClient(response.status))
}

function isRefusedByClient(status: number): boolean {
  return status >= 400 && status < 500
}
