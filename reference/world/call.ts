import type { HonoRequest } from 'hono'
import type { Pair } from '../declared/scenarios.ts'
import type { World } from './world.ts'
import type { Switches } from '../switches.ts'
import { JWTClaimValidationFailed, JWTExpired } from 'jose/errors'
import { jwtVerify } from 'jose/jwt/verify'

const takeTime: ReadonlySet<string> = new Set([
  ...['completion.create/400-empty-prompt', 'translate.run/400-unsupported-language'],
  ...['jobs.create/404-unknown-application', 'files.retrieve/404-unknown-file'],
])

/** Its scenario repeats a request until it is refused, so accepting every request would leave it unjudged. */
const neverGranted = 'files.list/429-quota-exceeded'

export type Members = Readonly<Record<string, unknown>>

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null
}

export class Call {
  readonly operation: string
  readonly request: HonoRequest
  readonly world: World
  body: Members = {}
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array()
  key: Key | undefined
  readonly #grant: (call: Call) => Answer

  /** @param grant a plain success, for a server that should have refused */
  constructor(
    operation: string,
    request: HonoRequest,
    world: World,
    grant: (call: Call) => Answer,
  ) {
    this.operation = operation
    this.request = request
    this.world = world
    this.#grant = grant
  }

  param(name: string): string {
    return this.request.param(name) ?? ''
  }

  get account(): string {
    return this.key?.account ?? ''
  }

  /**
   * Refuses for a condition with a requirement: `<status>-<condition>` of this operation, or a whole id. The switches
   * of that requirement decide what is actually answered. By default, with the usual code name of the status.
   */
  refuse(condition: string, pair = usualPairs[condition.slice(0, 3)]!, message?: Message): never {
    const id = this.#whole(condition)
    const description = id.replace(/^.*\/(?:[\dx]{3}-)?/, '').replaceAll('-', ' ')
    throw new Ending(this.#refusal(id, pair, { description, ...message }))
  }

  /**
   * The answer to an invalid request. The switch with the requirement's id accepts it; `#tpe` refuses with another code
   * name of the same status, `#granted-envelope` sends the envelope with a 200; `#spoils-connection` refuses correctly,
   * but answers the next request on that connection wrongly.
   */
  #refusal(id: string, usual: Pair, message: Message): Answer {
    const { broken, varied } = this.world.switches
    if (broken(id))
      return id === neverGranted ? envelope('400-BadRequest', message) : this.#grant(this)
    if (broken(`${id}#tpe`))
      return envelope(usual === '404-NotFound' ? '404-ResourceNotFound' : '404-NotFound', message)
    if (broken(`${id}#granted-envelope`)) return envelope(`200-${usual.slice(4)}`, message)
    const lost = lostAnswer(this.world.switches, id)
    if (lost) return lost
    const answer = envelope(usual, message)
    if (broken(`${id}#spoils-connection`)) return { ...answer, spoils: true }
    return varied('slow/refusals') && takeTime.has(id)
      ? { ...answer, afterMs: this.world.pace.slowRefusalMs }
      : answer
  }

  reject(pair: Pair, description?: string): never {
    throw new Ending(envelope(pair, description === undefined ? {} : { description }))
  }

  rejectIf(defect: string, isSuch: boolean, pair: Pair = '400-BadRequest'): void {
    if (isSuch && this.broken(defect)) this.reject(pair, 'Nothing is wrong')
  }

  breakIf(defect: string, isSuch: boolean): void {
    if (isSuch && this.broken(defect)) throw new Error(defect)
  }

  broken(defect: string): boolean {
    return this.world.switches.broken(this.#whole(defect))
  }

  brokenIn(requirement: string, cases: Readonly<Record<string, boolean>>): boolean {
    return this.world.switches.brokenIn(this.#whole(requirement), cases)
  }

  varied(variant: string): boolean {
    return this.world.switches.varied(variant)
  }

  #whole(name: string): string {
    return name.includes('/') ? name : `${this.operation}/${name}`
  }
}

const usualPairs: Readonly<Record<string, Pair>> = {
  400: '400-BadRequest',
  401: '401-BadCredentials',
  403: '403-InsufficientAccessRights',
  404: '404-ResourceNotFound',
  409: '409-BadRequest',
  '4xx': '404-ResourceNotFound',
}

/** What happens in place of an answer: silence for a while, a closed connection, bytes that are not HTTP. */
type Loss = 'silence' | 'closed' | 'noise'

export interface Answer {
  readonly status: number
  readonly body?: unknown
  readonly text?: { readonly type: string; readonly value: string }
  readonly headers?: Readonly<Record<string, string>>
  readonly lost?: Loss
  /** The server loses its position in the connection: it cannot read the next request there. */
  readonly spoils?: true
  readonly afterMs?: number
  /** Set for errors, whose body is an envelope (§2.6). */
  readonly error?: true
}

/**
 * Ends an operation early with an answer: a refusal, or what a switch makes of it. It is thrown, but is not an Error:
 * capturing a stack costs more than the refusal.
 */
export class Ending {
  readonly answer: Answer

  constructor(answer: Answer) {
    this.answer = answer
  }
}

export function ok(body: unknown): Answer {
  return { status: 200, body }
}

interface Message {
  readonly description?: string
  /** §7.1 shows them for guardrails. */
  readonly extras?: Readonly<Record<string, unknown>>
  readonly key?: string
}

// The keys of §7.1; other statuses have our own keys.
const keys: Readonly<Record<string, string>> = {
  400: 'fail.badRequest.invalidParameters',
  401: 'fail.unauthorized.badCredentials',
  403: 'fail.forbidden.insufficientAccessRights',
  404: 'fail.notFound.resource',
  409: 'fail.conflict.state',
  410: 'fail.gone.resource',
  413: 'fail.payloadTooLarge.body',
  422: 'fail.unprocessableEntity.rule',
  429: 'fail.tooManyRequests.quotaExceeded',
  500: 'fail.internalServerError.generic',
  503: 'fail.serviceUnavailable.temporary',
  507: 'fail.insufficientStorage.account',
}

export const otherKey = 'fail.other'

function messageKey(status: string, tpe: string): string {
  if (tpe === 'BadToken') return 'fail.unauthorized.badToken'
  if (tpe === 'CompletionModelQuotaError') return 'fail.model.quotaExceeded'
  if (tpe.startsWith('CompletionModel'))
    return `fail.model.${tpe.charAt(15).toLowerCase()}${tpe.slice(16)}`
  return keys[status] ?? otherKey
}

export function envelope(pair: Pair, message: Message = {}): Answer {
  const [status, tpe] = [pair.slice(0, 3), pair.slice(4)]
  const usual = { description: `${tpe} (${status})`, key: messageKey(status, tpe), extras: {} }
  const body = { tpe, errors: [{ ...usual, ...message }], extras: {} }
  return { status: Number(status), body, error: true }
}

/**
 * Ends with a type that is not allowed for the status. Its key is outside §7.1: otherwise the key would be wrong too.
 */
export function mispaired(pair: Pair): never {
  throw new Ending(envelope(pair, { key: otherKey }))
}

export function page(status: number): Answer {
  return { status, text: { type: 'text/html', value: '<!doctype html><title>Not found</title>' } }
}

const losses: Readonly<Record<string, Loss>> = {
  '#no-answer': 'silence',
  '#closed': 'closed',
  '#dropped': 'closed',
  '#no-http': 'noise',
}

export function lostAnswer(switches: Switches, id: string): Answer | undefined {
  const lost = switches.brokenOf(id, losses)
  return lost && { status: 500, lost }
}

/** The published secret of the reference: its keys are public, and open nothing else. */
export const publishedSecret = 'a published secret of the embedded reference server'

export interface Key {
  readonly account: string
  readonly permissions: readonly string[]
}

const secret = new TextEncoder().encode(publishedSecret)

/** The permanent properties of a key: its claims and expiry (`exp`, in s), or that it is invalid. */
type Read = (Key & { readonly exp: number }) | 'invalid'

const longest = 4096
const most = 500
// The same keys are used thousands of times, so each signature is checked once.
const seen = new Map<string, Read>()

/** Reads a key; undefined if it is not valid yet, which may change with time. */
async function read(token: string): Promise<Read | undefined> {
  try {
    const claims = { algorithms: ['HS256'], requiredClaims: ['exp'] }
    return (await jwtVerify<Key & { exp: number }>(token, secret, claims)).payload
  } catch (error) {
    if (error instanceof JWTExpired) return error.payload as unknown as Read
    return error instanceof JWTClaimValidationFailed ? undefined : 'invalid'
  }
}

export async function verify(token: string): Promise<Key | 'expired' | 'invalid'> {
  const known = seen.get(token) ?? (await read(token))
  if (known !== undefined && seen.size < most && token.length <= longest) seen.set(token, known)
  if (known === undefined || known === 'invalid') return 'invalid'
  return known.exp * 1000 > Date.now() ? known : 'expired'
}

export function isAlias(path: string): boolean {
  return ['/v1/chat', '/v1/vision', '/v1/tools/pdf-parser'].includes(path)
}

/** The path as lenient routers read it; undefined for the usual spelling. */
export function usualSpelling(path: string): string | undefined {
  if (path.includes('//')) return path.replaceAll('//', '/')
  if (/\/$|;x$|\.json$/.test(path)) return path.replace(/\/$|;x$|\.json$/, '')
  // Ids contain digits; segments without digits are words of the path.
  const lower = path.replaceAll(/(?<=\/)(?:[A-Z-]+|V1)(?=\/|$)/g, (part) => part.toLowerCase())
  return lower === path ? undefined : lower
}
