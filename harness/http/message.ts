import type { Transform } from 'node:stream'
import zlib from 'node:zlib'

/**
 * HTTP messages before anything is recorded. Values here may be keys: do not print or store them; the recorder makes
 * `recorded` forms.
 */

export interface HeaderLine {
  readonly name: string
  readonly value: string
}

export interface HttpRequest {
  readonly method: string
  /** Path and query after the base URL's own path: `/v1/files?file_types=pdf`. */
  readonly path: string
  readonly headers: readonly HeaderLine[]
  /** Absent: no body. Empty: a body of length 0, so that POST, PUT and PATCH have `content-length: 0`. */
  readonly body?: string | Uint8Array | undefined
}

export type Tag = object

export interface WireResponse {
  readonly kind: 'answer'
  readonly status: number
  readonly headers: readonly HeaderLine[]
  readonly body: Uint8Array
  /** True if the decoded body exceeded the cap, or the rest was not read. */
  readonly cut: boolean
  readonly undecodable?: string
  /** The tag of the previous request on this connection; undefined on a fresh one. */
  previousTag?: Tag | undefined
  /** `performance.now()` when the request was handed to the socket, and when the answer had been read. */
  readonly sentAt: number
  readonly endedAt: number
}

export const isOfGateway = (one: { readonly status: number }): boolean =>
  one.status === 502 || one.status === 504

export type NoResponseCause =
  | 'refused' // connection refused, host not found, network unreachable
  | 'tls'
  | 'reset'
  | 'timeout'
  | 'malformed' // bytes that are not HTTP, headers too large, wrong lengths
  | 'aborted'

export type NoResponseDetail =
  | 'untrusted'
  | 'not-valid' // the certificate: expired, or of another name
  | 'client-certificate' // the server requires one, or another one
  | 'plain-http'
  | 'nobody-listens'
  | 'nothing-came'
  | 'cut-off' // closed, or silent, inside the body
  | 'still-coming' // a body of known length was still arriving at the time limit; the message says so

export interface NoResponse {
  readonly kind: 'no-answer'
  readonly cause: NoResponseCause
  /** One sentence for people; no key, no stack. */
  readonly message: string
  readonly detail?: NoResponseDetail
  /** True if the connection had served an exchange before, and not one byte of an answer arrived. */
  readonly staleConnection: boolean
  previousTag?: Tag | undefined
  readonly sentAt: number
  readonly endedAt: number
}

export type HttpResult = WireResponse | NoResponse

export interface TransportOptions {
  readonly baseUrl: string
  /** Contents (not paths) of PEM files. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string }
  readonly insecure?: boolean
  readonly connections: number
  readonly bodyLimit: number
}

/** A request sent first, on its own connection, which another one then reuses. */
export interface PrecedingRequest {
  readonly request: HttpRequest
  readonly tag: Tag
  ended(result: HttpResult): void
}

export interface SendOptions {
  /** Time limit of the whole exchange, including connecting and decoding, in ms; Infinity: none. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
  readonly fresh?: boolean
  readonly tag?: Tag
  /** Sent first on the same connection; if that becomes unusable, the request goes on a fresh one. */
  readonly after?: PrecedingRequest | undefined
}

/** The only access to the network. Never throws: every outcome is a `HttpResult`. */
export interface Transport {
  send(request: HttpRequest, options: SendOptions): Promise<HttpResult>
  readonly idle?: () => number
  /** Closes unused connections: a target that serves few has room for a fresh one then. */
  readonly closeUnused?: () => void
  readonly proxy?: Proxy | undefined
  close(): Promise<void>
}

export interface Proxy {
  /** Host and port without credentials, for messages and reports. */
  readonly host: string
  /** The environment variable that names it. */
  readonly variable: string
  readonly origin: string
  readonly authorization?: string
}

export class ProxyFailure extends Error {
  override readonly name = 'ProxyFailure'
  readonly status: number | undefined
  constructor(status: number | undefined, cause?: unknown) {
    super('the proxy opened no tunnel', { cause })
    this.status = status
  }
}

/** `name` is in lower case. */
export function isNamed(line: HeaderLine, name: string): boolean {
  // Comparing lengths first is cheaper.
  return line.name.length === name.length && line.name.toLowerCase() === name
}

export function headerValue(headers: readonly HeaderLine[], name: string): string | undefined {
  const lines = headers.filter((line) => isNamed(line, name))
  return lines.length > 0 ? lines.map((line) => line.value).join(', ') : undefined
}

export function promisedLength(headers: readonly HeaderLine[]): number | undefined {
  const value = headerValue(headers, 'content-length')
  return value !== undefined && /^\d+$/.test(value) ? Number(value) : undefined
}

/** Whether only the end of the connection ends the body (RFC 9112 §6.3). */
export const endsWithConnection = (headers: readonly HeaderLine[]): boolean =>
  !headers.some((line) => isNamed(line, 'content-length') || isNamed(line, 'transfer-encoding'))

export interface Progress {
  readonly host: string
  readonly secure: boolean
  readonly proxy?: Proxy | undefined
  readonly connected: boolean
  readonly bytes: number
  readonly status?: number
  readonly bodyBytes: number
  readonly bodyLength?: number
  readonly endsWithConnection?: boolean
  readonly silentMs?: number
}

export interface Reason {
  readonly cause: NoResponseCause
  readonly message: string
  readonly detail?: NoResponseDetail
}

interface SystemError extends Error {
  readonly code?: string
  readonly syscall?: string
  readonly address?: string
  readonly port?: number
  readonly hostname?: string
  readonly reason?: string
}

const reason = (cause: NoResponseCause, message: string, detail?: NoResponseDetail): Reason => ({
  cause,
  message,
  ...(detail && { detail }),
})

const malformed = (message: string): Reason => reason('malformed', message)

/** The code of an error whose message says what a handler in the same process threw. */
export const handlerFailed = 'HANDLER_FAILED'

export function explain(error: unknown, progress: Progress): Reason {
  const { proxy, connected } = progress
  if (proxy && error instanceof ProxyFailure) return noTunnel(error, proxy, progress)
  const known = plain(error)
  const { code = '', message } = known
  if (code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED')
    return reason('refused', `the request cannot be sent: ${firstLine(known)}`)
  if (code === handlerFailed)
    return reason('reset', message, progress.status === undefined ? undefined : 'cut-off')
  if (isTls(known, progress)) return tls(known)
  if (!connected && proxy && !progress.secure) return proxyUnreachable(known, proxy)
  if (!connected && !isReset(known)) return unreachable(known, progress.host)
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return malformed('the head of the answer is longer than 64 KiB')
  if (message === 'bad upgrade') return unaskedUpgrade
  if (known.name === 'HTTPParserError' && !message.includes('EOF')) return notHttp(known, progress)
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' && progress.status === undefined)
    return malformed(
      'the answer is not HTTP: its head has Content-Length twice, or beside Transfer-Encoding',
    )
  return closed(known, progress)
}

function plain(error: unknown): SystemError {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return error.errors[0]
  return error instanceof Error ? error : new Error(String(error))
}

/** `the proxy proxy.example:3128 (HTTPS_PROXY)`, without credentials. */
export const proxyName = (proxy: Proxy): string => `the proxy ${proxy.host} (${proxy.variable})`

const byProxy = (message: string): Reason => reason('refused', message)

function noTunnel(proxyFailure: ProxyFailure, proxy: Proxy, progress: Progress): Reason {
  if (proxyFailure.status === undefined) return proxyUnreachable(plain(proxyFailure.cause), proxy)
  if (proxyFailure.status === 407) return proxyWantsCredentials(proxy)
  const what =
    proxyFailure.status >= 500
      ? `could not reach ${progress.host}`
      : `does not let requests through to ${progress.host}`
  const past = `NO_PROXY=${progress.host.replace(/:\d+$/, '')} bypasses it`
  return byProxy(`${proxyName(proxy)} ${what}: it answered ${proxyFailure.status}; ${past}`)
}

export function proxyWantsCredentials(proxy: Proxy): Reason {
  const { host, variable, authorization } = proxy
  return byProxy(
    authorization === undefined
      ? `${proxyName(proxy)} requires credentials (407): set ${variable} to http://user:password@${host}`
      : `${proxyName(proxy)} does not accept the credentials in ${variable} (407)`,
  )
}

function proxyUnreachable(error: SystemError, proxy: Proxy): Reason {
  const why = isReset(error) ? 'it closed the connection' : unreachable(error, proxy.host).message
  return byProxy(`${proxyName(proxy)} cannot be used: ${why}`)
}

export const unaskedUpgrade: Reason = {
  cause: 'malformed',
  message: 'the answer switches protocols (101), which the request did not ask for',
}

export function timedOut(timeoutMs: number, progress: Progress): Reason {
  const { connected, host, proxy, status, bytes, bodyLength, silentMs = Infinity } = progress
  const within = `within ${count(timeoutMs)} ms`
  if (!connected) {
    const through = proxy ? ` through ${proxyName(proxy)}` : ''
    return reason('timeout', `no connection to ${host}${through} ${within}`)
  }
  if (status !== undefined) {
    const unnamed = progress.endsWithConnection
      ? ', and neither Content-Length nor chunks say where it ends'
      : ''
    const message = `the answer did not end ${within}: ${read(progress)} had arrived${unnamed}`
    return bodyLength !== undefined && silentMs < timeoutMs / 4
      ? reason('timeout', `${message}, and it went on`, 'still-coming')
      : reason('timeout', message, 'cut-off')
  }
  return bytes > 0
    ? reason('timeout', `the head of the answer did not end ${within}`)
    : reason('timeout', `no answer ${within}`, 'nothing-came')
}

function isTls(error: SystemError, progress: Progress): boolean {
  const { code = '', syscall } = error
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO') return true
  if (!progress.secure || progress.connected) return false
  return syscall === undefined
    ? code !== '' && !/^(UND_|ABORT_|ERR_(?!TLS_))/.test(code)
    : syscall === 'read'
}

function tls(error: SystemError): Reason {
  const { code = '' } = error
  const first = firstLine(error)
  const said = error.reason ?? first
  if (/wrong version number|packet length too long|record layer failure|http request/i.test(said))
    return reason(
      'tls',
      'that port does not speak TLS: should the base URL begin with http://?',
      'plain-http',
    )
  // The names of TLS alerts about a certificate (RFC 8446 §6.2) in Node's codes.
  const isOfClient = /ALERT_(?:\w*CERTIFICATE\w*|UNKNOWN_CA)$/.test(code)
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO' || code === 'ECONNRESET')
    return reason(
      'tls',
      `TLS handshake failed: ${said} (${code})`,
      isOfClient ? 'client-certificate' : undefined,
    )
  // Node 24 adds advice about an option of its own; ours names the target file.
  const [why] = first.split('; if the root CA')
  const isKnown = /ALTNAME_INVALID|EXPIRED|NOT_YET_VALID/.test(code)
  return reason(
    'tls',
    `certificate not accepted: ${why} (${code})`,
    isKnown ? 'not-valid' : 'untrusted',
  )
}

function unreachable(error: SystemError, host: string): Reason {
  const { code, address = host, port, hostname = host } = error
  const at = error.address === undefined || port === undefined ? address : `${address}:${port}`
  if (code === 'ECONNREFUSED')
    return reason('refused', `connection refused at ${at}`, 'nobody-listens')
  const isUnknown = code === 'ENOTFOUND' || code === 'EAI_AGAIN'
  const message = isUnknown
    ? `host not found: ${hostname} (${code})`
    : `no connection to ${at}: ${firstLine(error)}`
  return reason('refused', message)
}

function notHttp(systemError: SystemError, progress: Progress): Reason {
  const why = /\((.*)\)/.exec(systemError.message)?.[1] ?? systemError.message
  const what =
    progress.status === undefined
      ? 'the answer is not HTTP'
      : `the body of the answer is not HTTP after ${count(progress.bodyBytes)} bytes`
  return malformed(`${what}: ${why}`)
}

const isReset = (error: SystemError) =>
  ['ECONNRESET', 'ECONNABORTED', 'EPIPE'].includes(error.code ?? '')

function closed(error: SystemError, progress: Progress): Reason {
  const event = isReset(error) ? 'reset' : 'closed'
  const early =
    progress.bytes > 0 ? 'inside the head of the answer' : 'before any byte of an answer'
  return progress.status === undefined
    ? reason('reset', `the connection was ${event} ${early}`)
    : reason('reset', `the connection was ${event} after ${read(progress)}`, 'cut-off')
}

function read(progress: Progress): string {
  const of = progress.bodyLength === undefined ? '' : ` of ${count(progress.bodyLength)}`
  return `${count(progress.bodyBytes)}${of} bytes of the body`
}

export const count = (value: number) => value.toLocaleString('en-US')

const firstLine = (error: Error) => error.message.split('\n', 1)[0]!.trim()

interface Decoded {
  readonly body: Uint8Array
  readonly cut: boolean
  readonly undecodable?: string
}

export interface Encoded {
  readonly body: Uint8Array
  readonly encoding: string
  readonly cut: boolean
}

const maxCodings = 5
const none = new Uint8Array(0)

/**
 * Decodes content codings (gzip, x-gzip, deflate with or without its zlib frame, br), the last one first. Each step
 * stops at `limit` bytes, so that memory and time do not depend on what a bomb would unpack to.
 */
export async function decode(encoded: Encoded, limit: number): Promise<Decoded> {
  const { body, cut } = encoded
  const names = encoded.encoding.split(',').map((name) => name.trim().toLowerCase())
  const codings = names.filter((name) => name !== '' && name !== 'identity')
  const failed = (undecodable: string): Decoded => ({ body, cut, undecodable })
  if (codings.length === 0 || body.length === 0) return { body, cut }
  if (codings.length > maxCodings)
    return failed(`${codings.length} content codings in a row, more than ${maxCodings}`)
  let decoded: Decoded = { body, cut }
  for (const coding of codings.reverse()) {
    const decoder = decoderFor(coding, decoded)
    if (!decoder) return failed(`unknown content coding ${JSON.stringify(coding.slice(0, 40))}`)
    try {
      decoded = await undo(decoder, decoded, limit)
    } catch (error) {
      return failed(`not valid ${coding}: ${(error as Error).message}`)
    }
  }
  return decoded
}

async function undo(decoder: Transform, decoded: Decoded, limit: number): Promise<Decoded> {
  const collected = new Collector(limit)
  decoder.end(decoded.body)
  for await (const chunk of decoder)
    if (!collected.add(chunk as Uint8Array)) return { body: collected.bytes(), cut: true }
  // A chunk is a part of a buffer that is many times larger.
  return { body: new Uint8Array(collected.bytes()), cut: decoded.cut }
}

function decoderFor(coding: string, decoded: Decoded): Transform | undefined {
  const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH } = zlib.constants
  // Small chunks take four times as long for what unpacks to megabytes, as a bomb does.
  const chunkSize = decoded.body.length > 4096 ? 262_144 : 16_384
  const flushing = { chunkSize, ...(decoded.cut && { finishFlush: Z_SYNC_FLUSH }) }
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return zlib.createGunzip(flushing)
    case 'deflate':
      // The zlib format is correct (RFC 9110 §8.4.1.2), but bare deflate is as common: its first byte never has the low
      // half 8.
      return ((decoded.body[0] ?? 0) & 0x0f) === 8
        ? zlib.createInflate(flushing)
        : zlib.createInflateRaw(flushing)
    case 'br':
      return zlib.createBrotliDecompress({
        chunkSize,
        ...(decoded.cut && { finishFlush: BROTLI_OPERATION_FLUSH }),
      })
    default:
      return undefined
  }
}

/**
 * Collects bytes up to a limit. More than one chunk is collected in one buffer: a body that arrives byte by byte takes
 * no more memory than a whole one.
 */
export class Collector {
  readonly #limit: number
  #buffer: Uint8Array = none
  length = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** False if not all of it fits. */
  add(chunk: Uint8Array): boolean {
    const fitting =
      chunk.length > this.#limit - this.length
        ? chunk.subarray(0, this.#limit - this.length)
        : chunk
    const needed = this.length + fitting.length
    if (this.length === 0) this.#buffer = fitting
    else {
      if (needed > this.#buffer.length) {
        // Memory that is not written costs nothing, and copying megabytes does.
        const larger = this.#buffer.length * (this.#buffer.length < 2 ** 20 ? 2 : 8)
        const grown = Buffer.allocUnsafe(Math.min(this.#limit, Math.max(needed, larger)))
        grown.set(this.bytes())
        this.#buffer = grown
      }
      this.#buffer.set(fitting, this.length)
    }
    this.length = needed
    return fitting.length === chunk.length
  }

  bytes(): Uint8Array {
    return this.#buffer.length === this.length
      ? this.#buffer
      : this.#buffer.subarray(0, this.length)
  }
}
