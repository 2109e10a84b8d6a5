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

export type NoResponseCause =
  | 'refused' // connection refused, host not found, network unreachable
  | 'tls'
  | 'reset'
  | 'timeout'
  | 'malformed' // bytes that are not HTTP, headers too large, wrong lengths
  | 'aborted'

export type NoResponseDetail =
  | 'untrusted'
  | 'client-certificate' // the server requires one, or another one
  | 'plain-http'
  | 'nobody-listens'
  | 'nothing-came'
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
  close(): Promise<void>
}

/** Headers that all clients send, including curl: some firewalls refuse requests without them. */
const usualLines: readonly HeaderLine[] = [
  { name: 'user-agent', value: 'ai-content-conformance' },
  { name: 'accept', value: '*/*' },
  { name: 'accept-encoding', value: 'gzip, deflate, br' },
]

/** The headers of a request as sent, except `host` and `content-length`. An empty user agent is omitted. */
export function sentLines(request: HttpRequest): readonly HeaderLine[] {
  const lines = request.headers.filter((line) => line.value !== '' || !isNamed(line, 'user-agent'))
  for (const usual of usualLines)
    if (!request.headers.some((line) => isNamed(line, usual.name))) lines.push(usual)
  return lines
}

export function headerLines(raw: readonly Buffer[]): HeaderLine[] {
  const lines: HeaderLine[] = []
  for (let at = 0; at + 1 < raw.length; at += 2) {
    lines.push({ name: raw[at]!.toString('latin1'), value: raw[at + 1]!.toString('latin1') })
  }
  return lines
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
