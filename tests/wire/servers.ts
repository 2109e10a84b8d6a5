import { readFileSync } from 'node:fs'
import net from 'node:net'
import { onTestFinished } from 'vitest'
import { createTransport } from '../../harness/http/transport.ts'
import type {
  NoResponse,
  HttpRequest,
  HttpResult,
  SendOptions,
  Transport,
  TransportOptions,
  WireResponse,
} from '../../harness/http/message.ts'
import { type Behaviour, type Listening, listenOn, serving } from '../support/raw-server.ts'

/** A certificate for localhost and 127.0.0.1, signed by itself, valid to 2124, and its key. */
export const pem = (name: 'cert' | 'key') =>
  readFileSync(new URL(`self-signed.${name}.pem`, import.meta.url), 'utf8')

/** Listens until the test ends. */
export async function listen(server: net.Server, port = 0): Promise<Listening> {
  const listening = await listenOn(server, port)
  onTestFinished(() => listening.close())
  return listening
}

/** A bare TCP server: `answer` is called once for each whole request and writes whatever it wants. */
export function rawServer(answer: Behaviour): Promise<Listening> {
  return listen(net.createServer(serving(answer)))
}

/** Answers every request with the same bytes. */
export const always = (bytes: string | Buffer) =>
  rawServer(({ socket }) => {
    socket.write(bytes)
  })

/** A whole answer; one character of the body is one byte. */
export const ok = (body: string, ...headers: string[]) =>
  ['HTTP/1.1 200 OK', `content-length: ${body.length}`, ...headers, '', body].join('\r\n')

export function transportTo(
  { url }: { url: string },
  { bodyLimit = 4 * 1024 * 1024, ...options }: Partial<TransportOptions> = {},
): Transport {
  const transport = createTransport({ baseUrl: url, connections: 8, bodyLimit, ...options })
  onTestFinished(() => transport.close())
  return transport
}

/** A deadline that no busy machine misses, in ms. */
export const patience = 20_000

export const send = (
  transport: Transport,
  request: Partial<HttpRequest> = {},
  options: Partial<SendOptions> = {},
): Promise<HttpResult> =>
  transport.send(
    { method: 'GET', path: '/v1/files', headers: [], ...request },
    { timeoutMs: patience, ...options },
  )

export const get = (transport: Transport, timeoutMs = patience, signal?: AbortSignal) =>
  send(transport, {}, { timeoutMs, signal })

export const post = (transport: Transport, body: string | Uint8Array, timeoutMs = patience) =>
  send(transport, { method: 'POST', body }, { timeoutMs })

/** Lines of a header, or of several of one name. */
export const lines = (...headers: (readonly [name: string, value: string])[]) =>
  headers.map(([name, value]) => ({ name, value }))

export function answered(result: HttpResult): WireResponse {
  if (result.kind !== 'answer') throw new Error(`no answer: ${result.message}`)
  return result
}

export function unanswered(result: HttpResult): NoResponse {
  if (result.kind === 'answer') throw new Error(`answered with ${result.status}`)
  return result
}

/** What a request to that server comes to, which gets no answer. */
export const lost = async (
  server: { url: string },
  timeoutMs?: number,
  options?: Partial<TransportOptions>,
): Promise<NoResponse> => unanswered(await get(transportTo(server, options), timeoutMs))

export const textOf = (result: HttpResult) => Buffer.from(answered(result).body).toString('latin1')
