import {
  type HttpRequest,
  type HttpResult,
  type SendOptions,
  type Transport,
  type TransportOptions,
  Collector,
  decode,
  endsWithConnection,
  headerValue,
  isNamed,
  isOfGateway,
  promisedLength,
  type HeaderLine,
  type NoResponse,
  type Tag,
  explain,
  type Progress,
  proxyWantsCredentials,
  type Reason,
  timedOut,
  unaskedUpgrade,
  type Proxy,
  ProxyFailure,
} from './message.ts'
import type { Dispatcher, buildConnector as BuildConnector } from 'undici'
import { Socket, BlockList, isIP } from 'node:net'
import { unescape } from 'node:querystring'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createRequire } from 'node:module'
import { createSecureContext, type SecureContext } from 'node:tls'
import { isLoopback } from '../loopback.ts'
import { UserError } from '../user-error.ts'

/**
 * The suite's HTTP/1.1 client: one origin, no redirects, no retries. Nothing that a server sends makes `send` reject,
 * hang or take more memory than a few times the body limit. It replaces undici's pool, which does not tell what a
 * connection carried before, and cannot provide a fresh or a particular one. Throws UserError if a PEM text or a proxy
 * variable is invalid.
 */
export function createTransport(options: TransportOptions): Transport {
  const { baseUrl, bodyLimit, connections, insecure = false, tls } = options
  const url = new URL(baseUrl)
  const secure = url.protocol === 'https:'
  const endpoint: Endpoint = {
    origin: url.origin,
    host: url.host,
    prefix: url.pathname.replace(/\/$/, ''),
    secure,
    proxy: proxyFor(baseUrl),
    insecure,
    ...(secure && { secureContext: contextOf(tls) }),
  }
  const lines = new Set<ConnectionLine>()
  /** Unused connections; the most recent one is taken first, so that connections stay warm. */
  const free: ConnectionLine[] = []
  const closing = new AbortController()
  let most = connections
  /** How many connections to close as soon as they are unused. */
  let owed = 0
  const watching = setInterval(() => {
    const before = performance.now() - stallMs
    const stalled = [...lines].filter((line) => line.openedAt < before && !isHeard(line)).length
    if (stalled > 0) most = Math.min(most, lines.size - stalled)
    const unused = free.splice(0, stalled)
    unused.forEach(close)
    owed = stalled - unused.length
  }, stallMs).unref()

  function take(isFresh: boolean): ConnectionLine {
    const known = isFresh ? undefined : free.pop()
    if (known) return known
    if (lines.size >= most) close(free.shift())
    const line = openLine(endpoint)
    lines.add(line)
    return line
  }

  /** At once, so that the target has seen it when the next one opens. */
  function close(line: ConnectionLine | undefined): void {
    if (!line) return
    lines.delete(line)
    void line.hangUp()
  }

  // Not while undici still reads from it.
  const drop = (line: ConnectionLine): void => queueMicrotask(() => close(line))

  function sendOn(
    line: ConnectionLine,
    request: HttpRequest,
    sending: Pick<SendOptions, 'timeoutMs' | 'tag' | 'signal'>,
    isFollowed = false,
  ): Promise<HttpResult> {
    const { timeoutMs, tag } = sending
    const options = { timeoutMs, tag, signals: [closing.signal, sending.signal], limit: bodyLimit }
    const one = new HttpExchange(line, options, (result, reusable) => {
      // A balancer may have tied it to a replica that is down.
      if (!reusable || (result.kind === 'answer' && isOfGateway(result))) drop(line)
      else if (!isFollowed) {
        if (owed === 0) free.push(line)
        else {
          owed--
          drop(line)
        }
      }
      // If the other side closed one, it has probably closed the waiting ones too.
      if (result.kind === 'no-answer' && result.staleConnection) free.splice(0).forEach(drop)
    })
    return one.send(request)
  }

  function send(request: HttpRequest, sending: SendOptions): Promise<HttpResult> {
    const { after, fresh = false } = sending
    const line = take(fresh || after !== undefined)
    if (!after) return sendOn(line, request, sending)
    return sendOn(line, after.request, { ...sending, tag: after.tag }, true).then((result) => {
      after.ended(result)
      return sendOn(lines.has(line) ? line : take(true), request, sending)
    })
  }

  return {
    send,
    async close() {
      closing.abort()
      clearInterval(watching)
      await Promise.all([...lines].map((line) => line.hangUp()))
    },
    idle: () => free.length,
    closeUnused: () => free.splice(0).forEach(close),
    proxy: endpoint.proxy,
  }
}

export interface Connection {
  bytes: number
  exchanges: number
  tag: Tag | undefined
}

export interface Line {
  readonly endpoint: Endpoint
  readonly connection: Connection | undefined
  dispatch(options: Dispatcher.DispatchOptions, handler: HttpExchange): unknown
}

interface ExchangeOptions extends Pick<SendOptions, 'timeoutMs' | 'tag'> {
  readonly limit: number
  readonly signals: readonly (AbortSignal | undefined)[]
}

/** Headers that all clients send, including curl: some firewalls refuse requests without them. An empty user agent is omitted. */
const usualLines: readonly HeaderLine[] = [
  { name: 'user-agent', value: 'ai-content-conformance' },
  { name: 'accept', value: '*/*' },
  { name: 'accept-encoding', value: 'gzip, deflate, br' },
]

/** Extra time after the deadline, in ms: the answer may have arrived while this process was busy. */
const graceMs = 50
const longestTimerMs = 2 ** 31 - 1

const over = new Error('the exchange is over')

/** A handler of undici's first form: the newer one gets each answer's head parsed into an object that nothing here reads. */
export class HttpExchange implements Dispatcher.DispatchHandler {
  readonly #line: Line
  readonly #options: ExchangeOptions
  readonly #ended: ((result: HttpResult, reusable: boolean) => void) | undefined
  readonly #open: Set<HttpExchange>[] = []
  readonly #body: Collector
  #timer: NodeJS.Timeout | undefined
  #isLate = false
  #sentAt = performance.now()
  #abort: ((error: Error) => void) | undefined
  #connection: Connection | undefined
  #previousTag: Tag | undefined
  #head: { status: number; headers: readonly HeaderLine[] } | undefined
  #cameAt: number | undefined
  #isSettled = false
  #resolve!: (result: HttpResult | Promise<HttpResult>) => void

  /** @param ended gets the result before its body is decoded, and whether the line can be used again */
  constructor(
    line: Line,
    options: ExchangeOptions,
    ended?: (result: HttpResult, reusable: boolean) => void,
  ) {
    this.#line = line
    this.#options = options
    this.#ended = ended
    this.#body = new Collector(options.limit)
  }

  send({ method, path, headers, body }: HttpRequest): Promise<HttpResult> {
    const { timeoutMs, signals } = this.#options
    const result = new Promise<HttpResult>((resolve) => (this.#resolve = resolve))
    if (timeoutMs < longestTimerMs) this.#timer = setTimeout(beLate, timeoutMs, this)
    if (signals.some((signal) => signal?.aborted)) {
      this.interrupt()
      return result
    }
    for (const signal of signals) {
      if (!signal) continue
      const open = openUnder(signal)
      open.add(this)
      this.#open.push(open)
    }
    const { endpoint } = this.#line
    const sent: string[] = []
    for (const line of headers)
      if (line.value !== '' || !isNamed(line, 'user-agent')) sent.push(line.name, line.value)
    for (const usual of usualLines)
      if (headerValue(headers, usual.name) === undefined) sent.push(usual.name, usual.value)
    const forwarding = endpoint.secure ? undefined : endpoint.proxy
    // undici would use the proxy as the host.
    if (forwarding) sent.push('host', endpoint.host)
    if (forwarding?.authorization) sent.push('proxy-authorization', forwarding.authorization)
    const origin = forwarding?.origin ?? endpoint.origin
    // A proxy for an http target needs the whole URL in the request line (RFC 9112 §3.2.2).
    const target = `${forwarding ? endpoint.origin : ''}${endpoint.prefix}${path}`
    this.#line.dispatch({ origin, method, path: target, headers: sent, body }, this)
    return result
  }

  interrupt(): void {
    this.#fail(interrupted)
  }

  late(): void {
    const { timeoutMs } = this.#options
    if (this.#isLate) return this.#fail(timedOut(timeoutMs, this.#progress()))
    this.#isLate = true
    this.#timer = setTimeout(beLate, graceMs, this)
  }

  onConnect(abort: (error: Error) => void): void {
    this.#abort = abort
    if (this.#isSettled) return abort(over)
    const { connection } = this.#line
    this.#connection = connection
    if (connection) {
      this.#previousTag = connection.exchanges > 0 ? (connection.tag ?? {}) : undefined
      connection.exchanges += 1
      connection.tag = this.#options.tag
      connection.bytes = 0
    }
    this.#sentAt = performance.now()
  }

  onUpgrade(): void {
    this.#fail(unaskedUpgrade)
  }

  onHeaders(status: number, raw: readonly Buffer[]): boolean {
    const { proxy, secure } = this.#line.endpoint
    const headers: HeaderLine[] = []
    for (let at = 0; at + 1 < raw.length; at += 2)
      headers.push({ name: raw[at]!.toString('latin1'), value: raw[at + 1]!.toString('latin1') })
    // Sent to an idle connection, not in answer to the request that has just arrived (RFC 9110 §15.5.9).
    const isIdle = status === 408 && this.#previousTag !== undefined
    if (status === 101) this.#fail(unaskedUpgrade)
    else if (status < 100) this.#fail(belowHundred)
    // Only a forwarding proxy sends this; a tunnelling one has answered to CONNECT.
    else if (status === 407 && proxy && !secure) this.#fail(proxyWantsCredentials(proxy))
    else if (isIdle && /\bclose\b/i.test(headerValue(headers, 'connection') ?? ''))
      this.#fail(closedAsIdle, true)
    else if (status >= 200) this.#head = { status, headers }
    return true
  }

  onData(chunk: Uint8Array): boolean {
    this.#cameAt = performance.now()
    if (!this.#isSettled && !this.#body.add(chunk)) this.#finish(true, false)
    return true
  }

  onComplete(): void {
    this.#finish(false, true)
  }

  onError(error: Error): void {
    const status = this.#head?.status
    // Such an answer has no body, whatever length it names (RFC 9112 §6.3); undici rejects the length.
    if (status === 204 || status === 304) this.#finish(false, false)
    else this.#fail(explain(error, this.#progress()))
  }

  #settle(result: HttpResult, reusable: boolean): void {
    if (this.#isSettled) return
    this.#isSettled = true
    clearTimeout(this.#timer)
    for (const open of this.#open) open.delete(this)
    if (!reusable) this.#abort?.(over)
    this.#ended?.(result, reusable)
    const encoding =
      result.kind === 'answer' ? headerValue(result.headers, 'content-encoding') : undefined
    if (result.kind === 'no-answer' || encoding === undefined) return this.#resolve(result)
    const decoding = decode({ ...result, encoding }, this.#options.limit)
    this.#resolve(decoding.then((decoded) => ({ ...result, ...decoded })))
  }

  #fail(reason: Reason, isUnread = this.#connection?.bytes === 0): void {
    const isReused = this.#previousTag !== undefined
    const result: NoResponse = {
      ...noResponse(reason, this.#sentAt),
      staleConnection: reason.cause === 'reset' && isReused && isUnread,
      previousTag: this.#previousTag,
    }
    this.#settle(result, false)
  }

  #finish(cut: boolean, reusable: boolean): void {
    const body = this.#body.bytes()
    const times = { sentAt: this.#sentAt, endedAt: performance.now() }
    const { status, headers } = this.#head!
    const previousTag = this.#previousTag
    this.#settle({ kind: 'answer', status, headers, body, cut, previousTag, ...times }, reusable)
  }

  #progress(): Progress {
    return {
      ...this.#line.endpoint,
      connected: this.#connection !== undefined,
      bytes: this.#connection?.bytes ?? 0,
      status: this.#head?.status,
      bodyBytes: this.#body.length,
      bodyLength: this.#head && promisedLength(this.#head.headers),
      endsWithConnection: this.#head && endsWithConnection(this.#head.headers),
      silentMs: this.#cameAt === undefined ? undefined : performance.now() - this.#cameAt,
    }
  }
}

const beLate = (running: HttpExchange): void => running.late()

const open = new WeakMap<AbortSignal, Set<HttpExchange>>()

/** The exchanges that a signal interrupts: one listener serves the thousands of a run. */
function openUnder(signal: AbortSignal): Set<HttpExchange> {
  const known = open.get(signal)
  if (known) return known
  const all = new Set<HttpExchange>()
  open.set(signal, all)
  signal.addEventListener('abort', () => all.forEach((one) => one.interrupt()), { once: true })
  return all
}

const interrupted: Reason = {
  cause: 'aborted',
  message: 'the run was interrupted before the answer was complete',
}
const belowHundred: Reason = {
  cause: 'malformed',
  message: 'the answer is not HTTP: its status is below 100',
}
const closedAsIdle: Reason = {
  cause: 'reset',
  message: 'the connection was closed as idle, by a 408',
}

export const noResponse = (reason: Reason, sentAt: number): NoResponse => ({
  kind: 'no-answer',
  ...reason,
  staleConnection: false,
  sentAt,
  endedAt: performance.now(),
})

/**
 * A target may serve few connections at once, and let the others wait until one closes. For each one without a first answer
 * for this long, in ms, an unused one is closed.
 */
const stallMs = 1000

const isHeard = ({ connection }: Line): boolean =>
  connection !== undefined && (connection.exchanges > 1 || connection.bytes > 0)

interface ConnectionLine extends Line {
  readonly openedAt: number
  /** Destroys the socket, even while connecting. The line cannot be used afterwards. */
  hangUp(): Promise<void>
}

/**
 * An undici dispatcher with one connection at a time. Only the exchange's own timer is used: undici's are coarse, and
 * are switched off.
 */
function openLine(endpoint: Endpoint): ConnectionLine {
  const { secureContext, insecure, origin, proxy, secure } = endpoint
  const sockets = new Set<Socket>()
  const watched = (connect: Connector, isTarget = true): Connector => {
    return (options, callback) => {
      const socket: unknown = connect(options, (...result) => {
        if (isTarget && result[1]) {
          line.connection = { bytes: 0, exchanges: 0, tag: undefined }
          readBeforeWriteErrors(result[1])
          watchReads(result[1], line.connection)
        }
        callback(...result)
      })
      // undici's connectors return the socket that they open, though their type does not say so.
      if (!(socket instanceof Socket)) return socket
      sockets.add(socket)
      return socket.once('close', () => sockets.delete(socket))
    }
  }
  const toTarget = buildConnector({ secureContext, rejectUnauthorized: !insecure, timeout: 0 })
  const toProxy = proxy && buildConnector({ timeout: 0 })
  const connect =
    proxy && toProxy && secure
      ? tunnelled(endpoint, proxy, watched(toProxy, false), toTarget)
      : (toProxy ?? toTarget)
  const dispatcher = new Client(proxy && !secure ? proxy.origin : origin, {
    maxHeaderSize: headLimit,
    headersTimeout: 0,
    bodyTimeout: 0,
    pipelining: 1,
    connect: watched(connect),
  })
  const line = {
    endpoint,
    openedAt: performance.now(),
    connection: undefined as Connection | undefined,
    dispatch: dispatcher.dispatch.bind(dispatcher),
    async hangUp() {
      // First, since undici would destroy it with an error, and write its stack.
      for (const socket of sockets) socket.destroy()
      await dispatcher.destroy().catch(() => {})
    },
  }
  return line
}

const readingMs = 100

/**
 * A server may answer before it has read the body, and close. The write error would destroy the socket before that
 * answer is read, so the error is delayed.
 */
function readBeforeWriteErrors(socket: Socket): void {
  type Done = (error?: Error | null) => void
  const late = (done: Done) => (error?: Error | null) =>
    error ? void setTimeout(done, readingMs, error) : done()
  const { _write: write, _writev: writev } = socket
  socket._write = (chunk, encoding, done) => write.call(socket, chunk, encoding, late(done))
  if (writev) socket._writev = (chunks, done) => writev.call(socket, chunks, late(done))
}

const firstOfInformational = '1'.charCodeAt(0)
const endOfHead = '\r\n\r\n'

/**
 * undici calls `read` on the socket: this counts the bytes there, without TLS. It also turns an unrequested `100
 * Continue`, which undici refuses, into 102, which it skips: clients must skip any 1xx (RFC 9110 §15.2).
 */
function watchReads(socket: Socket, connection: Connection): void {
  const read = socket.read
  let isInformational = true
  socket.read = function (size) {
    const chunk: unknown = read.call(socket, size)
    if (!Buffer.isBuffer(chunk)) return chunk
    isInformational ||= connection.bytes === 0
    connection.bytes += chunk.length
    for (let at = 0; isInformational && at < chunk.length;) {
      isInformational = chunk[at + 'HTTP/1.1 '.length] === firstOfInformational
      if (!isInformational) break
      const status = chunk.toString('latin1', at, at + 'HTTP/1.1 100'.length)
      isInformational = status.startsWith('HTTP/1.1 1')
      if (status.endsWith(' 100')) chunk.write('102', at + 'HTTP/1.1 '.length)
      const end = chunk.indexOf(endOfHead, at)
      at = end < 0 ? chunk.length : end + endOfHead.length
    }
    return chunk
  }
}

type Undici = typeof import('undici')

const require = createRequire(import.meta.url)

/**
 * Two modules of undici: its entry also loads fetch, WebSocket and caches, which takes four times as long. A release with
 * another layout is loaded as a whole.
 */
let undici: Pick<Undici, 'Client' | 'buildConnector'>
try {
  undici = {
    Client: require('undici/lib/dispatcher/client.js') as Undici['Client'],
    buildConnector: require('undici/lib/core/connect.js') as Undici['buildConnector'],
  }
} catch {
  undici = require('undici') as Undici
}
const { Client, buildConnector } = undici

const headLimit = 64 * 1024

export interface Endpoint {
  readonly origin: string
  readonly host: string
  /** Path of the base URL without its trailing slash; begins the path of every request. */
  readonly prefix: string
  readonly secure: boolean
  readonly proxy?: Proxy | undefined
  readonly secureContext?: SecureContext
  readonly insecure: boolean
}

/** Checks each file separately to name the invalid one; Node silently accepts an invalid authority. */
function contextOf(tls: NonNullable<TransportOptions['tls']> = {}): SecureContext {
  const { ca, cert, key } = tls
  const check = (member: string, what: string, read: () => unknown): void => {
    try {
      read()
    } catch (error) {
      throw new UserError(`${member} contains no usable ${what} in PEM: ${messageOf(error)}`)
    }
  }
  if (ca !== undefined) check('tls.ca', 'certificate', () => new X509Certificate(ca))
  if (cert !== undefined) check('tls.cert', 'certificate', () => new X509Certificate(cert))
  if (key !== undefined)
    check('tls.key', 'private key without a passphrase', () => createPrivateKey(key))
  try {
    return createSecureContext({ ca, cert, key })
  } catch (error) {
    throw new UserError(`the files in tls cannot be used together: ${messageOf(error)}`)
  }
}

const messageOf = (error: unknown): string => (error as Error).message

/** Upper case works too, and lower case wins, as in curl. */
const variables = {
  'http:': ['http_proxy', 'HTTP_PROXY'],
  'https:': ['https_proxy', 'HTTPS_PROXY'],
} as const

/**
 * The proxy for a base URL, if any; never for loopback addresses or exceptions in NO_PROXY. Throws UserError for an
 * invalid URL.
 */
export function proxyFor(baseUrl: string): Proxy | undefined {
  const target = new URL(baseUrl)
  const names = variables[target.protocol as keyof typeof variables]
  const variable = names.find((name) => process.env[name])
  if (variable === undefined || isLoopback(target.hostname) || isExcepted(target)) return undefined
  const value = process.env[variable]!
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (!url || !/^https?:$/.test(url.protocol))
    throw new UserError(
      `${variable} is not the URL of an HTTP proxy; write it as http://host:port.`,
    )
  const { username, password } = url
  const plain = `${unescape(username)}:${unescape(password)}`
  const authorization = `Basic ${Buffer.from(plain).toString('base64')}`
  return { host: url.host, variable, origin: url.origin, ...(plain !== ':' && { authorization }) }
}

/**
 * NO_PROXY: names and addresses separated by commas or blanks. `example.com`, `.example.com` and `*.example.com` all
 * match that host and its subdomains; `host:8080` only that port; `10.0.0.0/8` an address range; `*` everything.
 */
function isExcepted(url: URL): boolean {
  const { hostname, port, protocol } = url
  const entries = (process.env['no_proxy'] ?? process.env['NO_PROXY'] ?? '')
    .split(/[,\s]+/)
    .filter(Boolean)
  const host = withoutBrackets(hostname.toLowerCase().replace(/\.$/, ''))
  const ownPort = port === '' ? (protocol === 'https:' ? '443' : '80') : port
  return entries.some((entry) => {
    if (entry === '*') return true
    if (entry.includes('/')) return isInRange(host, entry)
    const [, name = entry, only] = /^(\[.*\]|[^:]+):(\d+)$/.exec(entry) ?? []
    if (only !== undefined && only !== ownPort) return false
    const wanted = withoutBrackets(name.toLowerCase().replace(/^\*?\./, ''))
    return host === wanted || (isIP(host) === 0 && host.endsWith(`.${wanted}`))
  })
}

const withoutBrackets = (host: string): string => host.replace(/^\[(.*)\]$/, '$1')

function isInRange(address: string, range: string): boolean {
  const [network = '', bits = ''] = range.split('/')
  const family = isIP(address)
  if (family === 0 || isIP(network) !== family || !/^\d{1,3}$/.test(bits)) return false
  if (Number(bits) > (family === 4 ? 32 : 128)) return false
  const kind = family === 4 ? 'ipv4' : 'ipv6'
  const list = new BlockList()
  list.addSubnet(network, Number(bits), kind)
  return list.check(address, kind)
}

type Connector = BuildConnector.connector

/** Connects by CONNECT (RFC 9110 §9.3.6), and then to the target through that tunnel. */
function tunnelled(
  endpoint: Endpoint,
  one: Proxy,
  opening: Connector,
  toTarget: Connector,
): Connector {
  // undici's clients get the method for a tunnel from its entry.
  const { Client: Whole } = require('undici') as Undici
  const { hostname, port } = new URL(endpoint.origin)
  const authority = `${hostname}:${port === '' ? '443' : port}`
  const headers = {
    host: authority,
    ...(one.authorization && { 'proxy-authorization': one.authorization }),
  }
  return (options, callback) => {
    const client = new Whole(one.origin, { connect: opening, headersTimeout: 0 })
    client.connect({ path: authority, headers }).then(
      (other) => {
        const isOpen = other.statusCode >= 200 && other.statusCode < 300
        if (isOpen && other.socket instanceof Socket)
          return void toTarget({ ...options, httpSocket: other.socket }, callback)
        other.socket.on('error', () => undefined).destroy()
        callback(new ProxyFailure(other.statusCode), null)
      },
      (error: unknown) => callback(new ProxyFailure(undefined, error), null),
    )
  }
}
