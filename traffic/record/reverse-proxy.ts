import { setImmediate as nextTurn } from 'node:timers/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import {
  endToEnd,
  type Forwarder,
  type Forwarding,
  type HeaderLine,
  type ResponseSink,
} from '../../harness/http/index.ts'
import { createHash, type Hash } from 'node:crypto'
import type { RecordedEntry, Witnessed } from '../recorded-entry.ts'

/** An exchange that went through the proxy. It may hold keys: it is neither printed nor stored as it is. */
export interface CapturedExchange extends Omit<
  RecordedEntry,
  'index' | 'httpVersion' | 'requestBody' | 'body'
> {
  readonly requestBody: CapturedBody
  readonly body: CapturedBody
  /** Why no answer came, or none that is whole. */
  readonly error?: string
  readonly witnessed: Witnessed
}

/** A body as it passed by: its first bytes, and how long all of it was. */
export interface CapturedBody {
  readonly bytes: Uint8Array
  readonly length: number
  /** Digest of the whole body in hex, if `bytes` is not all of it. */
  readonly sha256?: string
  /** False if its end did not come. */
  readonly ended: boolean
}

export interface ProxyOptions {
  /** Base URL of the server in normal form; paths of the client are below it. */
  readonly baseUrl: string
  readonly forwarder: Forwarder
  /** Most bytes of a body that are kept. */
  readonly bodyLimit: number
  readonly port: number
  /** Settles when another exchange can be taken. */
  readonly room: () => Promise<void> | undefined
  readonly onExchange: (exchange: CapturedExchange) => void
}

const headLimit = 64 * 1024

/**
 * Starts a proxy on the loopback address that hands on whatever it is asked, and tells of each exchange when it is over.
 * Rejects with what the system says if the port cannot be listened on.
 */
export async function startReverseProxy(options: ProxyOptions) {
  const under = new Set<ReturnType<typeof passOn>>()
  let requests = 0
  // Nothing of ours ends a connection: how long a request takes is between client and target.
  const timeouts = { requestTimeout: 0, keepAliveTimeout: 60_000, maxHeaderSize: headLimit }
  const server = createServer(timeouts, (request, response) => {
    const own = (): string => `http://127.0.0.1:${portOf(server)}`
    const passed = passOn(request, response, options, { n: ++requests, own })
    under.add(passed)
    response.once('close', () => under.delete(passed))
    const room = options.room()
    if (room) void room.then(() => passed.begin())
    else passed.begin()
  })
  server.on('connection', (socket) => openedAt.set(socket, performance.now()))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(options.port, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${portOf(server)}`,
    /** Takes no more requests; those under way are broken off. */
    async close(): Promise<void> {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const passed of under) passed.breakOff('the recording ended')
      server.closeAllConnections()
      await closed
      await options.forwarder.close()
      // An exchange that has just ended is reported in this turn of the event loop.
      await nextTurn()
    },
  }
}

const openedAt = new WeakMap<Socket, number>()
const portOf = (server: Server): number => (server.address() as AddressInfo).port

const brokenOff = 'the client broke it off'

function passOn(
  request: IncomingMessage,
  response: ServerResponse,
  options: ProxyOptions,
  /** The number of the request, and the address of the proxy. */
  { n, own }: { readonly n: number; readonly own: () => string },
) {
  const { baseUrl, bodyLimit, forwarder, onExchange } = options
  const { method = 'GET', url = '/' } = request
  const path = pathOf(url)
  const requestHeaders = linesOf(request.rawHeaders)
  const [sent, received] = [createCapture(bodyLimit), createCapture(bodyLimit)]
  const [startedAt, sentAt] = [Date.now(), performance.now()]
  const connectionOpenedAt = openedAt.get(request.socket) ?? sentAt
  let headAt: number | undefined
  let answered: Pick<CapturedExchange, 'status' | 'headers'> = { status: 0, headers: [] }
  let forwarding: Forwarding | undefined
  let isOver = false

  /** It is told when the response is on its way. */
  const over = (error?: string): void => {
    isOver = true
    const endedAt = performance.now()
    const durationMs = Math.round((endedAt - sentAt) * 1000) / 1000
    const { host } = new URL(baseUrl)
    const isAborted = error === brokenOff
    const named = (line: HeaderLine) =>
      line.name.toLowerCase() === 'host' ? { name: line.name, value: host } : line
    setImmediate(() =>
      onExchange({
        ...{ method, url: baseUrl + path, startedAt, durationMs },
        ...{ requestHeaders: requestHeaders.map(named), requestBody: sent.body() },
        ...{ ...answered, body: received.body(), ...(error === undefined ? {} : { error }) },
        witnessed: { n, sentAt, answeredAt: headAt ?? endedAt, connectionOpenedAt, isAborted },
      }),
    )
  }
  const breakOff = (why: string): void => {
    if (isOver) return
    forwarding?.abort()
    over(why)
    response.destroy()
  }
  const head: ResponseSink['head'] = (status, headers, statusText) => {
    answered = { status, headers }
    headAt = performance.now()
    // A redirect to the target would lead the client past this proxy.
    const isUnder = (address: string): boolean =>
      address === baseUrl || ['/', '?', '#'].some((next) => address.startsWith(baseUrl + next))
    const here = (address: string): string =>
      isUnder(address) ? own() + address.slice(baseUrl.length) : address
    const lines = endToEnd(headers).flatMap(({ name, value }) => [
      name,
      name.toLowerCase() === 'location' ? here(value) : value,
    ])
    try {
      response.writeHead(status, statusText, lines)
      // Bytes that come with the head go on with it; a stream may send only its head for a while.
      response.cork()
      process.nextTick(() => {
        if (!isOver) response.flushHeaders()
        response.uncork()
      })
    } catch {
      breakOff('the response has a head that cannot be handed on')
    }
  }
  const fail = (message: string): void => {
    if (isOver) return
    over(message)
    if (response.headersSent) return void response.destroy()
    response.writeHead(502, { 'content-type': 'text/plain; charset=utf-8' })
    response.end(`conform record: ${baseUrl} gave no answer: ${message}\n`)
    request.resume()
  }
  const cut = (message: string): void => {
    if (isOver) return
    over(message)
    if (response.headersSent) response.destroy()
    else request.socket.resetAndDestroy()
  }
  async function* sentBody(): AsyncGenerator<Buffer> {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      sent.add(chunk)
      yield chunk
    }
    sent.end()
  }

  response.sendDate = false
  response.once('close', () => breakOff(brokenOff))
  response.on('drain', () => forwarding?.resume())
  return {
    breakOff,
    begin(): void {
      if (isOver) return
      const { 'transfer-encoding': coding, 'content-length': length = 0 } = request.headers
      const body = coding !== undefined || Number(length) > 0 ? sentBody() : undefined
      if (!body) sent.end()
      forwarding = forwarder.forward(
        { method, path, headers: requestHeaders, body, n },
        {
          ...{ head, fail, cut },
          data(chunk) {
            received.add(chunk)
            return response.write(chunk)
          },
          end() {
            received.end()
            response.end()
            over()
          },
        },
      )
    },
  }
}

/** A client may name the address in full, as to a proxy of another kind. */
function pathOf(target: string): string {
  if (target.startsWith('/')) return target
  const url = URL.canParse(target) ? new URL(target) : undefined
  return url ? url.pathname + url.search : '/'
}

function linesOf(raw: readonly string[]): HeaderLine[] {
  const lines: HeaderLine[] = []
  for (let at = 0; at + 1 < raw.length; at += 2) lines.push({ name: raw[at]!, value: raw[at + 1]! })
  return lines
}

/** Keeps at most that many bytes of a body that passes by. */
function createCapture(limit: number) {
  const kept: Uint8Array[] = []
  let length = 0
  let hash: Hash | undefined
  let ended = false
  return {
    add(chunk: Uint8Array): void {
      length += chunk.length
      if (hash) return void hash.update(chunk)
      if (length <= limit) return void kept.push(chunk)
      hash = createHash('sha256')
      for (const one of [...kept, chunk]) hash.update(one)
      kept.push(chunk.subarray(0, limit - (length - chunk.length)))
    },
    end: () => void (ended = true),
    body(): CapturedBody {
      // In memory of its own, which can be handed to another thread.
      const bytes = new Uint8Array(Buffer.concat(kept))
      return { bytes, length, ended, ...(hash && { sha256: hash.copy().digest('hex') }) }
    },
  }
}
