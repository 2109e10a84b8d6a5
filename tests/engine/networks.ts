import type {
  HttpRequest,
  HttpResult,
  NoResponse,
  SendOptions,
  Tag,
  Transport,
  WireResponse,
} from '../../harness/http/message.ts'
import type { PreviousRequest } from '../../harness/journal/exchange.ts'
import type { RunOptions } from '../../harness/client/state.ts'
import type { ReferenceOptions } from '../../reference/server.ts'
import { type Judged, judgeReference, type JudgeSettings } from '../matrix/judge-reference.ts'
import { randomFrom } from '../support/lossy-network.ts'

type Network = (transport: Transport) => Transport

/** Answers a request, or sends it, or another one in its place. */
export type Way = (
  request: HttpRequest,
  send: (other?: HttpRequest) => Promise<HttpResult>,
  sent: Partial<PreviousRequest> & { readonly options: SendOptions },
) => HttpResult | Promise<HttpResult>

/** The network on which requests go that way. */
export const via =
  (way: Way): Network =>
  (transport) => ({
    ...transport,
    send: async (request, options) =>
      way(request, (other = request) => transport.send(other, options), {
        ...options.tag,
        options,
      }),
  })

export interface How extends Partial<RunOptions>, Omit<JudgeSettings, 'options'> {
  readonly reference?: ReferenceOptions
  readonly way?: Way
}

/** Judges these requirements of the reference, in virtual time. */
export function judge(only: readonly string[], how: How = {}): Promise<Judged> {
  const { reference, way, limits, change, prepare, observe, judgingOf, latencyMs, ...more } = how
  const { instead, ...others } = more
  const { network = way && via(way), ...options } = others
  const settings = { limits, change, prepare, observe, judgingOf, latencyMs, instead, network }
  return judgeReference(reference, { ...settings, options: { ...options, only } })
}

const now = () => ({ sentAt: performance.now(), endedAt: performance.now() })

type Headers = Readonly<Record<string, string>>

/** An answer of the network's own. */
export const answer = (status: number, body = '', headers: Headers = {}): WireResponse => ({
  kind: 'answer',
  status,
  headers: Object.entries({ 'content-type': 'application/json', ...headers }).map(
    ([name, value]) => ({ name, value }),
  ),
  body: Buffer.from(body),
  cut: false,
  ...now(),
})

export const envelope = (tpe: string): string => JSON.stringify({ tpe, errors: [], extras: {} })

export const refusal = (status: number, tpe: string, headers?: Headers): WireResponse =>
  answer(status, envelope(tpe), headers)

/** No answer comes. */
export const lost = (more: Partial<NoResponse> = {}): NoResponse => ({
  kind: 'no-answer',
  cause: 'reset',
  message: 'the connection was reset before any byte of an answer',
  staleConnection: false,
  ...now(),
  ...more,
})

/** That answer in place of the server's, at the same time. */
export function answered(
  result: HttpResult,
  status: number,
  body: string,
  type = 'application/json',
): HttpResult {
  if (result.kind !== 'answer') return result
  const headers = [{ name: 'content-type', value: type }]
  return { ...result, status, headers, body: Buffer.from(body) }
}

export const isGranted = (result: HttpResult): result is WireResponse =>
  result.kind === 'answer' && result.status < 300

export const jsonIn = ({ body }: WireResponse) =>
  JSON.parse(Buffer.from(body).toString()) as Record<string, unknown>

/** The value of that header of the request. */
export function headerOf({ headers }: HttpRequest, name: string): string | undefined {
  return headers.find((header) => header.name.toLowerCase() === name)?.value
}

interface Losing {
  readonly seed: number
  /** Share of the answers that are lost. */
  readonly lost: number
  /** Share of these whose request did not arrive; of the others the answer was cut. */
  readonly before?: number
  /** What is lost each time. */
  always?(body: string): boolean
  readonly cause?: 'reset' | 'timeout'
}

/**
 * A network that resets connections and cuts answers off by chance, or never gives them: before a request has arrived, or when
 * it has had its effect.
 */
export function losing(how: Losing): Network {
  const { seed, lost: share, before = 0.5, always = () => false, cause = 'reset' } = how
  const random = randomFrom(seed)
  let sent = 0
  return via(async (request, send, { options }) => {
    const number = sent++
    if (random.of(`lost ${number}`) >= share && !always(String(request.body))) return send()
    const sentAt = performance.now()
    if (random.of(`before ${number}`) >= before) await send()
    const mayBeStale = before > 0 && cause === 'reset'
    const isReused = mayBeStale && !options.fresh && random.of(`reused ${number}`) < 0.8
    return lost({ cause, staleConnection: isReused, sentAt, ...(isReused && { previousTag: {} }) })
  })
}

/** A connection as a client with a pool has them, between the suite and servers in this process. */
export interface Connection {
  /** Counts from 0. */
  readonly number: number
  /** Requests on it, in order, with their results. */
  readonly exchanges: { readonly request: HttpRequest; readonly result: HttpResult }[]
  tag?: Tag
}

/** Gives the result of a request on a connection, by `send` or otherwise. */
export type Server = (
  connection: Connection,
  request: HttpRequest,
  send: (other?: HttpRequest) => Promise<HttpResult>,
) => Promise<HttpResult>

/** Requests reuse connections as they do over sockets: the one used last first, a new one if none is free or one is asked for. */
export const overConnections =
  (server: Server): Network =>
  (transport) => {
    const free: Connection[] = []
    let opened = 0
    const open = (): Connection => ({ number: opened++, exchanges: [] })
    return {
      ...transport,
      async send(request, options) {
        const { fresh = false, after } = options
        const connection = fresh || after ? open() : (free.pop() ?? open())
        const carry = async (sent: HttpRequest, tag?: Tag): Promise<HttpResult> => {
          const previousTag = connection.exchanges.length > 0 ? (connection.tag ?? {}) : undefined
          const send = (other = sent) => transport.send(other, options)
          const result = await server(connection, sent, send)
          connection.exchanges.push({ request: sent, result })
          connection.tag = tag
          return { ...result, previousTag }
        }
        if (after) after.ended(await carry(after.request, after.tag))
        const result = await carry(request, options.tag)
        if (result.kind === 'answer') free.push(connection)
        return result
      },
    }
  }
