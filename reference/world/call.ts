import type { HonoRequest } from 'hono'
import type { Pair } from '../declared/scenarios.ts'
import type { Key } from './keys.ts'
import { countUp, type World } from './world.ts'
import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Switches } from '../switches/switches.ts'

/** Refusals that come late under `slow/refusals`: whoever was asked takes time to say no. */
const takeTime: ReadonlySet<string> = new Set([
  ...['completion.create/400-empty-prompt', 'translate.run/400-unsupported-language'],
  ...['jobs.create/404-unknown-application', 'files.retrieve/404-unknown-file'],
])

/** A requirement whose scenario repeats a request until it is refused: granted every time, it would not be judged. */
const neverGranted = 'files.list/429-quota-exceeded'

export type Members = Readonly<Record<string, unknown>>

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** An optional member that is left out; `null` in its place means the same. */
export function isAbsent(value: unknown): value is undefined | null {
  return value === undefined || value === null
}

/** One request on its way through an operation. */
export class Call {
  readonly operation: string
  readonly request: HonoRequest
  readonly world: World
  /** The members of the JSON body, once it has been read. */
  body: Members = {}
  /** The bytes of the body, once they have been read. */
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array()
  /** Whose request it is, once that is known. */
  key: Key | undefined
  /** A plain success, for a server that should have refused. */
  readonly #grant: (call: Call) => Answer

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

  /** The account of the key; empty before that is known. */
  get account(): string {
    return this.key?.account ?? ''
  }

  /** Whether its path names what a request made, or an application that is not the first. */
  get isOfOther(): boolean {
    const { applications, files, graphs } = this.world.store
    const application = this.param('application_id')
    const [first] = applications.keys()
    if (applications.has(application)) return application !== first
    return (graphs.get(this.param('graph_id')) ?? files.get(this.param('file_id')))?.made === true
  }

  /**
   * Refuses for a condition that has a requirement: `<status>-<condition>` of this operation, or a whole id if it
   * belongs to none. The switches of that requirement decide what is really answered.
   */
  refuse(condition: string, pair: Pair, message?: Message): never {
    const id = isWhole(condition) ? condition : `${this.operation}/${condition}`
    throw new Ending(this.#refusal(id, pair, { description: wordsOf(id), ...message }))
  }

  /**
   * The answer to a request that a requirement wants refused. A switch named like the requirement answers as if nothing were
   * wrong; `#tpe` refuses with another code name of the same status, `#granted-envelope` in words only, with a 200;
   * `#every-third` refuses but every third; `#declared-only` refuses what is about the first declared object of its sort alone;
   * `#spoils-connection` refuses rightly, but answers the next request of that connection wrongly.
   */
  #refusal(id: string, usual: Pair, message: Message): Answer {
    const { broken, varied } = this.world.switches
    if (broken(id))
      return id === neverGranted ? envelope('400-BadRequest', message) : this.#grant(this)
    if (broken(`${id}#tpe`)) return envelope('404-NotFound', message)
    if (broken(`${id}#every-third`) && countUp(this.world, `${id} refused`) % 3 === 0)
      return this.#grant(this)
    if (broken(`${id}#declared-only`) && this.isOfOther) return this.#grant(this)
    if (broken(`${id}#granted-envelope`)) return envelope(`200-${usual.slice(4)}`, message)
    const lost = lostAnswer(this.world.switches, id)
    if (lost) return lost
    const answer = envelope(usual, message)
    if (broken(`${id}#spoils-connection`)) return { ...answer, spoils: true }
    return varied('slow/refusals') && takeTime.has(id)
      ? { ...answer, afterMs: this.world.pace.slowRefusal }
      : answer
  }

  /** Refuses for a condition that no requirement is about. */
  reject(pair: Pair, description?: string): never {
    throw new Ending(envelope(pair, description === undefined ? {} : { description }))
  }

  /** Refuses what should be granted, under a defect, if the request is such a one. */
  rejectIf(defect: string, isSuch: boolean, pair: Pair = '400-BadRequest'): void {
    if (isSuch && this.broken(defect)) this.reject(pair, 'Nothing is wrong')
  }

  /** Breaks down on what should be granted, under a defect, if the request is such a one. */
  breakIf(defect: string, isSuch: boolean): void {
    if (isSuch && this.broken(defect)) throw new Error(defect)
  }

  /** The defect of the operation, or that whole id, is on. */
  broken(defect: string): boolean {
    return this.world.switches.broken(isWhole(defect) ? defect : `${this.operation}/${defect}`)
  }

  varied(variant: string): boolean {
    return this.world.switches.varied(variant)
  }
}

function isWhole(name: string): boolean {
  return name.includes('/')
}

/** A condition in words: of `jobs.create/400-missing-body` `missing body`. */
function wordsOf(id: string): string {
  return id.replace(/^.*\/(?:[\dx]{3}-)?/, '').replaceAll('-', ' ')
}

/** The event in place of an answer: silence for a while, a closed connection, bytes that are no HTTP. */
type Loss = 'silence' | 'closed' | 'noise'

/** The response that the server is about to send, before it is turned into bytes. */
export interface Answer {
  readonly status: number
  /** The JSON body; absent: an empty body. */
  readonly body?: unknown
  /** A body that is not JSON. */
  readonly text?: { readonly type: string; readonly value: string }
  readonly headers?: Readonly<Record<string, string>>
  /** No answer at all, and what comes in its place. */
  readonly lost?: Loss
  /** The server loses its place on the connection: it cannot read the next request there. */
  readonly spoils?: true
  /** ms that the server thinks about it. */
  readonly afterMs?: number
  /** Set on errors, whose body is an envelope (§2.6). */
  readonly error?: true
}

/**
 * Ends an operation early with an answer: a refusal, or what stands in its place when a switch breaks it. It is thrown, but
 * is no Error: nobody reads its stack, and to write one down costs more than the refusal.
 */
export class Ending {
  readonly answer: Answer

  constructor(answer: Answer) {
    this.answer = answer
  }
}

/** The message of an envelope. */
export interface Message {
  readonly description?: string
  /** §7.1 shows them for guardrails. */
  readonly extras?: Readonly<Record<string, unknown>>
  readonly key?: string
}

// The keys of §7.1; statuses that §7.1 does not show have keys of our own.
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

/** A message key that is not one of §7.1. */
export const otherKey = 'fail.other'

function messageKey(status: string, tpe: string): string {
  if (tpe === 'BadToken') return 'fail.unauthorized.badToken'
  if (tpe === 'CompletionModelQuotaError') return 'fail.model.quotaExceeded'
  if (tpe.startsWith('CompletionModel'))
    return `fail.model.${tpe.charAt(15).toLowerCase()}${tpe.slice(16)}`
  return keys[status] ?? otherKey
}

/** An error response: the envelope of §2.6, all of its fields present. */
export function envelope(pair: Pair, message: Message = {}): Answer {
  const [status, tpe] = [pair.slice(0, 3), pair.slice(4)]
  const whole = {
    description: `${tpe} (${status})`,
    key: messageKey(status, tpe),
    extras: {},
    ...message,
  }
  return { status: Number(status), body: { tpe, errors: [whole], extras: {} }, error: true }
}

/** Ends with a type that the status may not carry. Its key is not one of §7.1: else the key would be wrong as well. */
export function mispaired(pair: Pair): never {
  throw new Ending(envelope(pair, { key: otherKey }))
}

/** The page of a web server that has nothing at a path: a page, not an envelope. */
export function page(status: number): Answer {
  return { status, text: { type: 'text/html', value: '<!doctype html><title>Not found</title>' } }
}

/** By the defect of any requirement that has it: what comes in place of the answer. */
const losses: Readonly<Record<string, Loss>> = {
  '#no-answer': 'silence',
  '#closed': 'closed',
  '#dropped': 'closed',
  '#no-http': 'noise',
}

/** The answer to a request about requirement `id` if a defect loses it. */
export function lostAnswer({ brokenOf }: Switches, id: string): Answer | undefined {
  const lost = brokenOf(losses, id)
  return lost && { status: 500, lost }
}

/** The error that a caller in the same process gets in place of an answer. */
export class ConnectionLost extends Error {
  readonly code = 'ECONNRESET'

  constructor() {
    super('the connection was closed without an answer')
  }
}

/** Gives no answer: on the socket what stands in its place, without one a failed call. */
export async function lose(
  loss: Loss,
  { pace }: World,
  socket: Socket | undefined,
  signal: AbortSignal,
) {
  if (loss === 'silence')
    await pause(pace.silence, undefined, { signal, ref: false }).catch(() => undefined)
  if (!socket) throw new ConnectionLost()
  if (loss === 'noise') socket.end('220 tea.example ESMTP\r\n')
  else socket.destroy()
  // Nobody reads it: the connection is gone.
  return new Response(null, { status: 500 })
}
