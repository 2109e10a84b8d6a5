import net from 'node:net'
import { onTestFinished } from 'vitest'
import { createTransport } from '../../harness/http/transport.ts'
import type { NoResponse, Transport, WireResponse, TransportOptions, HttpResult } from '../../harness/http/message.ts'

export interface Served {
  readonly url: string
  readonly port: number
  /** Sockets that clients opened so far. */
  readonly sockets: readonly net.Socket[]
}

/** Listens on a free loopback port until the test ends. */
export async function listen(server: net.Server): Promise<Served> {
  const sockets: net.Socket[] = []
  server.on('connection', (socket: net.Socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as net.AddressInfo
  return { url: `http://127.0.0.1:${port}`, port, sockets }
}

export interface Asked {
  /** Head and body as they stood on the wire. */
  readonly text: string
  /** Place among the requests of this connection, from 1. */
  readonly count: number
  readonly socket: net.Socket
}

/** A bare TCP server: `answer` is called once for each whole request and writes whatever it wants. */
export function rawServer(answer: (asked: Asked) => void): Promise<Served> {
  return listen(net.createServer(serving(answer)))
}

/** Serves one connection, whoever made it. */
export function serving(answer: (asked: Asked) => void): (socket: net.Socket) => void {
  return (socket) => {
    let text = ''
    let count = 0
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      for (let end = wholeRequest(text); end !== undefined; end = wholeRequest(text)) {
        count += 1
        answer({ text: text.slice(0, end), count, socket })
        text = text.slice(end)
      }
    })
    socket.on('error', () => undefined)
  }
}

function wholeRequest(text: string): number | undefined {
  const head = text.indexOf('\r\n\r\n')
  if (head < 0) return undefined
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(text.slice(0, head + 2))?.[1] ?? 0)
  const end = head + 4 + length
  return text.length >= end ? end : undefined
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

export const get = (transport: Transport, timeoutMs = patience, signal?: AbortSignal) =>
  transport.send({ method: 'GET', path: '/v1/files', headers: [] }, { timeoutMs, signal })

export const post = (transport: Transport, body: string | Uint8Array, timeoutMs = patience) =>
  transport.send({ method: 'POST', path: '/v1/files', headers: [], body }, { timeoutMs })

export function answered(result: HttpResult): WireResponse {
  if (result.kind !== 'answer') throw new Error(`no answer: ${result.message}`)
  return result
}

export function unanswered(result: HttpResult): NoResponse {
  if (result.kind === 'answer') throw new Error(`answered with ${result.status}`)
  return result
}

export const textOf = (result: HttpResult) => Buffer.from(answered(result).body).toString('latin1')
