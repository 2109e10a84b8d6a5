/**
 * Messages of HTTP, sent and received, before anything is recorded.
 * Values here may hold keys: nothing of it is printed or stored; `recorded` forms are made by the recorder.
 */

/** A header value and how it is written wherever it is shown (for example a key derived from `$CONFORM_API_KEY`). */
export interface HeaderLine {
  readonly name: string
  readonly value: string
}

/** A request, ready to be sent: nothing is added but `host`, `content-length` and the usual lines. */
export interface HttpRequest {
  readonly method: string
  /** Path and query of the request line, after the base URL's own path: `/v1/files?file_types=pdf`. */
  readonly path: string
  readonly headers: readonly HeaderLine[]
  /** Absent: no body at all. Empty: a body of length 0, which a POST, PUT or PATCH says with `content-length: 0`. */
  readonly body?: string | Uint8Array
}

/** A mark by which a caller knows a request: it is given back with the next result on the same connection. */
export type Tag = object

/** An answer, read to its end or to the cap. */
export interface WireResponse {
  readonly kind: 'answer'
  readonly status: number
  readonly headers: readonly HeaderLine[]
  /** Decoded (content-encoding removed) bytes, at most the cap. */
  readonly body: Uint8Array
  /** True if the decoded body was longer than the cap, or the rest was not read. */
  readonly cut: boolean
  /** Why the content encoding could not be removed; the body then holds the bytes as they came. */
  readonly undecodable?: string
  /** The tag of the request that went before on this connection; undefined on a fresh one. */
  readonly previousTag?: Tag
  /** Milliseconds on the monotonic clock (`performance.now()`) when the request was handed to the socket, and when the answer had been read. */
  readonly sentAt: number
  readonly endedAt: number
}

export type NoResponseCause =
  | 'refused' // connection refused, host not found, network unreachable
  | 'tls' // certificate or handshake
  | 'reset' // closed or reset before the answer was whole
  | 'timeout' // deadline of the exchange
  | 'malformed' // bytes that are not HTTP, headers too large, wrong lengths
  | 'aborted' // the run was interrupted

/** The kind of a cause, by which a reporter words it. */
export type NoResponseDetail =
  | 'untrusted' // the certificate is signed by an authority that nobody named
  | 'wrong-name' // the certificate is for other hosts
  | 'out-of-date' // the certificate has expired, or is not valid yet
  | 'client-certificate' // the server wants one, or another one
  | 'plain-http' // the port does not speak TLS
  | 'tls-version' // no version of TLS in common
  | 'unknown-name' // the server has no certificate for the name that it was asked by
  | 'http2' // the server speaks HTTP/2 alone
  | 'nobody-listens' // the connection was refused
  | 'proxy' // it stands between, and does not open the way; the message names it
  | 'nothing-came' // no byte of an answer within the deadline; the message says so
  | 'still-coming' // a body of a known length came until the deadline, slowly; the message says so

export interface NoResponse {
  readonly kind: 'no-answer'
  readonly cause: NoResponseCause
  /** One sentence for a reader; no key, no stack. */
  readonly message: string
  readonly detail?: NoResponseDetail
  /** True if the connection had served an exchange before and not one byte of an answer arrived. */
  readonly staleConnection: boolean
  readonly previousTag?: Tag
  readonly sentAt: number
  readonly endedAt: number
}

export type HttpResult = WireResponse | NoResponse

export interface TransportOptions {
  readonly baseUrl: string
  /** Contents (not paths) of PEM files. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string }
  readonly insecure?: boolean
  /** Connections that are kept open at most. */
  readonly connections: number
  /** Longest decoded body that is read, in bytes. */
  readonly bodyLimit: number
}

/** A request that is sent first, on a connection of its own that another one then follows on. */
export interface PrecedingRequest {
  readonly request: HttpRequest
  readonly tag: Tag
  /** Called with its result, before the other one is sent. */
  ended(result: HttpResult): void
}

export interface SendOptions {
  /** Deadline of the whole exchange, connecting and decoding included, in ms; Infinity: none. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  /** On a connection of its own, never on one that has been used. */
  readonly fresh?: boolean
  /** Given back with the result of the next request on the same connection. */
  readonly tag?: Tag
  /** Sent first on the same connection; if it leaves that one unusable, the request goes on a fresh one. */
  readonly after?: PrecedingRequest
}

/** The one door to the network. Never throws: whatever happens is a `HttpResult`. */
export interface Transport {
  send(request: HttpRequest, options: SendOptions): Promise<HttpResult>
  /** How many connections are open and not in use; absent if requests need none. */
  readonly idle?: () => number
  /** Closes every socket; requests under way end as `aborted`. */
  close(): Promise<void>
}

/** Headers that every client sends, curl too: some firewalls refuse a request without them. */
const usualLines: readonly HeaderLine[] = [
  { name: 'user-agent', value: 'ai-content-conformance' },
  { name: 'accept', value: '*/*' },
  { name: 'accept-encoding', value: 'gzip, deflate, br' },
]

/** The header lines of a request as they are sent, but for `host` and `content-length`. An empty user agent is none. */
export function sentLines({ headers }: HttpRequest): readonly HeaderLine[] {
  const isGiven = (usual: HeaderLine): boolean => headers.some((line) => isNamed(line, usual.name))
  const isLeftOut = (line: HeaderLine): boolean => line.value === '' && isNamed(line, 'user-agent')
  return [
    ...headers.filter((line) => !isLeftOut(line)),
    ...usualLines.filter((usual) => !isGiven(usual)),
  ]
}

/** Header lines of an answer, in the order and the letter case in which they came. */
export function headerLines(raw: readonly Buffer[]): HeaderLine[] {
  const lines: HeaderLine[] = []
  for (let at = 0; at + 1 < raw.length; at += 2) {
    lines.push({ name: raw[at]!.toString('latin1'), value: raw[at + 1]!.toString('latin1') })
  }
  return lines
}

/** Whether the line has that name, which is in lower case. */
export function isNamed(line: HeaderLine, name: string): boolean {
  // Most names are of another length, which costs less to see.
  return line.name.length === name.length && line.name.toLowerCase() === name
}

/** The values of all header lines of that name (lower case), joined as HTTP joins them; undefined if there is none. */
export function headerValue(headers: readonly HeaderLine[], name: string): string | undefined {
  const first = headers.findIndex((line) => isNamed(line, name))
  if (first < 0) return undefined
  const values = headers.slice(first).filter((line) => isNamed(line, name))
  return values.map(({ value }) => value).join(', ')
}

/** The length that `content-length` promises, in bytes. */
export function promisedLength(headers: readonly HeaderLine[]): number | undefined {
  const value = headerValue(headers, 'content-length')
  return value !== undefined && /^\d+$/.test(value) ? Number(value) : undefined
}
