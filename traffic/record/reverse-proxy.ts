import { setImmediate as nextTurn } from 'node:timers/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { endToEnd, type Forwarder, type Forwarding, type HeaderLine } from '../../harness/http/index.ts'
import { createHash, type Hash } from 'node:crypto'

/** An exchange that went through the proxy. It may hold keys: it is neither printed nor stored as it is. */
export interface CapturedExchange {
  readonly method: string
  /** The address in full, under the base URL. */
  readonly url: string
  /** Epoch ms. */
  readonly startedAt: number
  readonly durationMs: number
  readonly requestHeaders: readonly HeaderLine[]
  readonly requestBody: CapturedBody
  /** 0 if no answer came. */
  readonly status: number
  readonly headers: readonly HeaderLine[]
  readonly body: CapturedBody
  /** Why no answer came, or none that is whole. */
  readonly error?: string
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
  const under = new Set<PassedOn>()
  // Nothing of ours ends a connection: how long a request takes is between client and target.
  const timeouts = { requestTimeout: 0, keepAliveTimeout: 60_000, maxHeaderSize: headLimit }
  const server = createServer(timeouts, (request, response) => {
    const passed = new PassedOn(request, response, options, () => `http://127.0.0.1:${portOf(server)}`)
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

/** Exchange on its way through. */
class PassedOn {
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #options: ProxyOptions
  readonly #own: () => string
  readonly #sent: ReturnType<typeof createCapture>
  readonly #received: ReturnType<typeof createCapture>
  readonly #startedAt = Date.now()
  readonly #began = performance.now()
  readonly #requestHeaders: HeaderLine[]
  #status = 0
  #headers: readonly HeaderLine[] = []
  #forwarding: Forwarding | undefined
  #isOver = false

  constructor(request: IncomingMessage, response: ServerResponse, options: ProxyOptions, own: () => string) {
    this.#request = request
    this.#response = response
    this.#options = options
    this.#own = own
    this.#sent = createCapture(options.bodyLimit)
    this.#received = createCapture(options.bodyLimit)
    this.#requestHeaders = linesOf(request.rawHeaders)
    response.sendDate = false
    response.once('close', () => this.breakOff('the client broke it off'))
    response.on('drain', () => this.#forwarding?.resume())
  }

  begin(): void {
    if (this.#isOver) return
    const { method = 'GET', url = '/' } = this.#request
    const body = hasBody(this.#request) ? this.#sentBody() : undefined
    if (!body) this.#sent.end()
    const connectionOpenedAt = openedAt.get(this.#request.socket) ?? 0
    const request = { method, path: pathOf(url), headers: this.#requestHeaders, body, connectionOpenedAt }
    this.#forwarding = this.#options.forwarder.forward(request, {
      head: (status, headers, statusText) => this.#head(status, headers, statusText),
      data: (chunk) => {
        this.#received.add(chunk)
        return this.#response.write(chunk)
      },
      end: () => {
        this.#received.end()
        this.#response.end()
        this.#over()
      },
      fail: (message) => this.#fail(message),
    })
  }

  /** Ends what has not ended by itself. */
  breakOff(why: string): void {
    if (this.#isOver) return
    this.#forwarding?.abort()
    this.#over(why)
    this.#response.destroy()
  }

  async *#sentBody(): AsyncGenerator<Buffer> {
    for await (const chunk of this.#request as AsyncIterable<Buffer>) {
      this.#sent.add(chunk)
      yield chunk
    }
    this.#sent.end()
  }

  #head(status: number, headers: readonly HeaderLine[], statusText: string): void {
    this.#status = status
    this.#headers = headers
    const { baseUrl } = this.#options
    // A redirect to the target would lead the client past this proxy.
    const here = (value: string): string =>
      isUnder(value, baseUrl) ? this.#own() + value.slice(baseUrl.length) : value
    const lines = endToEnd(headers).flatMap(({ name, value }) => [
      name,
      name.toLowerCase() === 'location' ? here(value) : value,
    ])
    try {
      this.#response.writeHead(status, statusText, lines)
      // Bytes that come with the head go on with it; a stream may send only its head for a while.
      this.#response.cork()
      process.nextTick(() => {
        if (!this.#isOver) this.#response.flushHeaders()
        this.#response.uncork()
      })
    } catch {
      this.breakOff('the response has a head that cannot be handed on')
    }
  }

  #fail(message: string): void {
    if (this.#isOver) return
    this.#over(message)
    if (this.#response.headersSent) return void this.#response.destroy()
    this.#response.writeHead(502, { 'content-type': 'text/plain; charset=utf-8' })
    this.#response.end(`conform record: ${this.#options.baseUrl} gave no answer: ${message}\n`)
    this.#request.resume()
  }

  /** It is told when the response is on its way. */
  #over(error?: string): void {
    this.#isOver = true
    const durationMs = Math.round((performance.now() - this.#began) * 1000) / 1000
    setImmediate(() => this.#options.onExchange(this.#captured(durationMs, error)))
  }

  #captured(durationMs: number, error: string | undefined): CapturedExchange {
    const { method = 'GET', url = '/' } = this.#request
    const { baseUrl } = this.#options
    const { host } = new URL(baseUrl)
    return {
      method,
      url: baseUrl + pathOf(url),
      startedAt: this.#startedAt,
      durationMs,
      requestHeaders: this.#requestHeaders.map((line) =>
        line.name.toLowerCase() === 'host' ? { name: line.name, value: host } : line,
      ),
      requestBody: this.#sent.body(),
      status: this.#status,
      headers: this.#headers,
      body: this.#received.body(),
      ...(error === undefined ? {} : { error }),
    }
  }
}

/** A client may name the address in full, as to a proxy of another kind. */
function pathOf(target: string): string {
  if (target.startsWith('/')) return target
  const url = URL.canParse(target) ? new URL(target) : undefined
  return url ? url.pathname + url.search : '/'
}

function isUnder(address: string, baseUrl: string): boolean {
  return address === baseUrl || ['/', '?', '#'].some((next) => address.startsWith(baseUrl + next))
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
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
      const bytes = new Uint8Array(Math.min(length, limit))
      let at = 0
      for (const one of kept) {
        bytes.set(one, at)
        at += one.length
      }
      return { bytes, length, ended, ...(hash && { sha256: hash.copy().digest('hex') }) }
    },
  }
}
