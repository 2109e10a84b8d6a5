import { type Proxy, ProxyFailure } from './endpoint.ts'
import type { NoResponseCause, NoResponseDetail } from './message.ts'

export interface Progress {
  readonly host: string
  readonly secure: boolean
  readonly proxy?: Proxy | undefined
  readonly connected: boolean
  readonly bytes: number
  readonly status?: number
  readonly bodyBytes: number
  readonly bodyLength?: number
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

export function explain(error: unknown, progress: Progress): Reason {
  const { proxy, connected } = progress
  if (proxy && error instanceof ProxyFailure) return noTunnel(error, proxy, progress)
  const known = plain(error)
  const { code = '', message } = known
  if (code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED')
    return reason('refused', `the request cannot be sent: ${firstLine(known)}`)
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

export const unaskedUpgrade: Reason = malformed(
  'the answer switches protocols (101), which the request did not ask for',
)

export function timedOut(timeoutMs: number, progress: Progress): Reason {
  const { connected, host, proxy, status, bytes, bodyLength, silentMs = Infinity } = progress
  const within = `within ${count(timeoutMs)} ms`
  if (!connected) {
    const through = proxy ? ` through ${proxyName(proxy)}` : ''
    return reason('timeout', `no connection to ${host}${through} ${within}`)
  }
  if (status !== undefined) {
    const message = `the answer did not end ${within}: ${read(progress)} had arrived`
    return bodyLength !== undefined && silentMs < timeoutMs / 4
      ? reason('timeout', `${message}, and it went on`, 'still-coming')
      : reason('timeout', message)
  }
  return bytes > 0
    ? reason('timeout', `the head of the answer did not end ${within}`)
    : reason('timeout', `no answer ${within}`, 'nothing-came')
}

function isTls({ code = '', syscall }: SystemError, progress: Progress): boolean {
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
    isKnown ? undefined : 'untrusted',
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

const isReset = ({ code = '' }: SystemError) =>
  ['ECONNRESET', 'ECONNABORTED', 'EPIPE'].includes(code)

function closed(error: SystemError, progress: Progress): Reason {
  const event = isReset(error) ? 'reset' : 'closed'
  const early =
    progress.bytes > 0 ? 'inside the head of the answer' : 'before any byte of an answer'
  const place = progress.status === undefined ? early : `after ${read(progress)}`
  return reason('reset', `the connection was ${event} ${place}`)
}

function read(progress: Progress): string {
  const of = progress.bodyLength === undefined ? '' : ` of ${count(progress.bodyLength)}`
  return `${count(progress.bodyBytes)}${of} bytes of the body`
}

export const count = (value: number) => value.toLocaleString('en-US')

const firstLine = (error: Error) => error.message.split('\n', 1)[0]!.trim()
