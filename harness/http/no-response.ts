import { type Proxy, ProxyFailure } from './proxy.ts'
import type { NoResponseCause, NoResponseDetail } from './message.ts'

/** How far an exchange came. */
export interface Progress {
  readonly host: string
  readonly secure: boolean
  readonly proxy?: Proxy | undefined
  readonly connected: boolean
  /** Bytes of an answer, informational ones included. */
  readonly bytes: number
  /** Set when the head of the final answer is read. */
  readonly status?: number
  readonly bodyBytes: number
  /** The length that `content-length` promises, in bytes. */
  readonly bodyLength?: number
  /** For how long nothing of the body has come, in ms. */
  readonly silentMs?: number
}

export interface Reason {
  readonly cause: NoResponseCause
  /** One sentence for a reader. */
  readonly message: string
  readonly detail?: NoResponseDetail
}

interface SystemError extends Error {
  readonly code?: string
  readonly syscall?: string
  readonly address?: string
  readonly port?: number
  readonly hostname?: string
  /** The reason that OpenSSL gives. */
  readonly reason?: string
  /** The part that undici's parser could not read. */
  readonly data?: unknown
}

/** Meanings of the errors of undici and of the system for somebody who looks at the server. */
export function explain(error: unknown, progress: Progress): Reason {
  const { proxy } = progress
  if (proxy && error instanceof ProxyFailure) return noTunnel(error, proxy, progress)
  const known = plain(error)
  const { code = '' } = known
  if (code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED') {
    return { cause: 'refused', message: `the request cannot be sent: ${firstLine(known)}` }
  }
  if (isTls(known, progress)) return tls(known)
  if (!progress.connected && proxy && !progress.secure) return proxyUnreachable(known, proxy)
  if (!progress.connected && !isReset(known)) return unreachable(known, progress)
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return headTooLong
  if (known.message === 'bad upgrade') return unaskedUpgrade
  if (known.name === 'HTTPParserError' && !known.message.includes('EOF'))
    return notHttp(known, progress)
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH' && progress.status === undefined) {
    return {
      cause: 'malformed',
      message: 'the answer is not HTTP: its head is not valid, see content-length',
    }
  }
  return closed(known, progress)
}

/** `the proxy proxy.example:3128 (HTTPS_PROXY)`: its host and what names it, never its credentials. */
export const proxyName = ({ host, variable }: Proxy): string => `the proxy ${host} (${variable})`

function noTunnel({ status, cause }: ProxyFailure, proxy: Proxy, { host }: Progress): Reason {
  if (status === undefined) return proxyUnreachable(plain(cause), proxy)
  const past = `NO_PROXY=${host.replace(/:\d+$/, '')} goes past it`
  const name = proxyName(proxy)
  if (status === 407) return proxyWantsCredentials(proxy)
  const message =
    status >= 500
      ? `${name} could not reach ${host}: it answered ${status}; ${past}`
      : `${name} does not let requests through to ${host}: it answered ${status}; ${past}`
  return { cause: 'refused', message, detail: 'proxy' }
}

/** A proxy that asks for credentials (407), or for others. */
export function proxyWantsCredentials(proxy: Proxy): Reason {
  const name = proxyName(proxy)
  const message =
    proxy.authorization === undefined
      ? `${name} asks for credentials (407): write them into ${proxy.variable}, as http://user:password@${proxy.host}`
      : `${name} does not accept the credentials in ${proxy.variable} (407)`
  return { cause: 'refused', message, detail: 'proxy' }
}

function proxyUnreachable(error: SystemError, proxy: Proxy): Reason {
  const why = isReset(error)
    ? 'it closed the connection'
    : unreachable(error, {
        host: proxy.host,
        secure: false,
        connected: false,
        bytes: 0,
        bodyBytes: 0,
      }).message
  return {
    cause: 'refused',
    message: `${proxyName(proxy)} cannot be used: ${why}`,
    detail: 'proxy',
  }
}

const headTooLong: Reason = {
  cause: 'malformed',
  message: 'the head of the answer is longer than 64 KiB',
}

export const unaskedUpgrade: Reason = {
  cause: 'malformed',
  message: 'the answer switches protocols (101), which the request did not ask for',
}

export function timedOut(timeoutMs: number, progress: Progress): Reason {
  const within = `within ${count(timeoutMs)} ms`
  if (!progress.connected) {
    const through = progress.proxy ? ` through ${proxyName(progress.proxy)}` : ''
    return { cause: 'timeout', message: `no connection to ${progress.host}${through} ${within}` }
  }
  if (progress.status !== undefined) {
    const { bodyLength, silentMs = Infinity } = progress
    const isComing = bodyLength !== undefined && silentMs < timeoutMs / 4
    const message = `the answer did not end ${within}: ${read(progress)} had come`
    return isComing
      ? { cause: 'timeout', message: `${message}, and it went on`, detail: 'still-coming' }
      : { cause: 'timeout', message }
  }
  const message =
    progress.bytes > 0 ? `the head of the answer did not end ${within}` : `no answer ${within}`
  return { cause: 'timeout', message, ...(progress.bytes > 0 ? {} : { detail: 'nothing-came' }) }
}

/** Two addresses of one host fail as one error with two inside. */
function plain(error: unknown): SystemError {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return error.errors[0]
  return error instanceof Error ? error : new Error(String(error))
}

/** Until the connection is made, an error that is neither the system's nor undici's comes from the handshake. */
function isTls({ code = '', syscall }: SystemError, { secure, connected }: Progress): boolean {
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO') return true
  if (!secure || connected) return false
  return syscall === undefined
    ? code !== '' && !/^(UND_|ABORT_|ERR_(?!TLS_))/.test(code)
    : syscall === 'read'
}

function tls(error: SystemError): Reason {
  const { code = '', reason } = error
  if (
    /wrong version number|packet length too long|record layer failure|http request/i.test(
      reason ?? firstLine(error),
    )
  )
    return {
      cause: 'tls',
      message: 'that port does not speak TLS: does it serve http:// in place of https://?',
      detail: 'plain-http',
    }
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO' || code === 'ECONNRESET') {
    return {
      cause: 'tls',
      message: `TLS handshake failed: ${reason ?? firstLine(error)} (${code})`,
      ...alertOf(code),
    }
  }
  // Node 24 adds advice about an option of its own; ours names the target file.
  const [why] = firstLine(error).split('; if the root CA')
  const detail = certificateProblems[code] ?? 'untrusted'
  return { cause: 'tls', message: `certificate not accepted: ${why} (${code})`, detail }
}

/** Node's codes for a certificate that is refused for another reason than who signed it. */
const certificateProblems: Readonly<Record<string, NoResponseDetail>> = {
  ERR_TLS_CERT_ALTNAME_INVALID: 'wrong-name',
  CERT_HAS_EXPIRED: 'out-of-date',
  CERT_NOT_YET_VALID: 'out-of-date',
}

/** Demands of a server's alerts (RFC 8446 §6.2), by OpenSSL's names for them in Node's codes. */
function alertOf(code: string): Pick<Reason, 'detail'> {
  if (code.endsWith('ALERT_NO_APPLICATION_PROTOCOL')) return { detail: 'http2' }
  if (/ALERT_PROTOCOL_VERSION$|UNSUPPORTED_PROTOCOL$/.test(code)) return { detail: 'tls-version' }
  if (code.endsWith('UNRECOGNIZED_NAME')) return { detail: 'unknown-name' }
  const isAboutClient = /ALERT_(?:\w*CERTIFICATE\w*|UNKNOWN_CA)$/.test(code)
  return isAboutClient ? { detail: 'client-certificate' } : {}
}

function unreachable(error: SystemError, { host }: Progress): Reason {
  const { code, address, port, hostname } = error
  const at = address === undefined ? host : port === undefined ? address : `${address}:${port}`
  const message =
    code === 'ECONNREFUSED'
      ? `connection refused at ${at}`
      : code === 'ENOTFOUND' || code === 'EAI_AGAIN'
        ? `host not found: ${hostname ?? host} (${code})`
        : `no connection to ${at}: ${firstLine(error)}`
  return {
    cause: 'refused',
    message,
    ...(code === 'ECONNREFUSED' ? { detail: 'nobody-listens' } : {}),
  }
}

/** The first frame that a server of HTTP/2 sends on its own: SETTINGS, of any length, for the whole connection (RFC 9113 §3.4, §6.5). */
const settingsFrame = /^[^]{3}\u0004[^]\0{4}/

function notHttp({ message, data }: SystemError, { status, bodyBytes }: Progress): Reason {
  if (status === undefined && typeof data === 'string' && settingsFrame.test(data))
    return {
      cause: 'malformed',
      message: 'the answer is HTTP/2, which was not asked for',
      detail: 'http2',
    }
  const detail = /\((.*)\)/.exec(message)?.[1] ?? message
  if (status === undefined)
    return { cause: 'malformed', message: `the answer is not HTTP: ${detail}` }
  return {
    cause: 'malformed',
    message: `the body of the answer is not HTTP after ${count(bodyBytes)} bytes: ${detail}`,
  }
}

const isReset = ({ code }: SystemError) =>
  code === 'ECONNRESET' || code === 'ECONNABORTED' || code === 'EPIPE'

function closed(error: SystemError, progress: Progress): Reason {
  const event = isReset(error) ? 'reset' : 'closed'
  const place =
    progress.status !== undefined
      ? `after ${read(progress)}`
      : progress.bytes > 0
        ? 'inside the head of the answer'
        : 'before any byte of an answer'
  return { cause: 'reset', message: `the connection was ${event} ${place}` }
}

function read({ bodyBytes, bodyLength }: Progress): string {
  if (bodyLength === undefined) return `${count(bodyBytes)} bytes of the body`
  return `${count(bodyBytes)} of ${count(bodyLength)} bytes of the body`
}

const count = (value: number) => value.toLocaleString('en-US')

const firstLine = ({ message }: Error) => message.split('\n', 1)[0]!.trim()
