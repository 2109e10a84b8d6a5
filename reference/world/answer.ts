import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Pair } from '../declared/scenarios.ts'
import type { Switches } from '../switches/switches.ts'
import type { World } from './world.ts'

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
