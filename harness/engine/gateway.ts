import { type NoResponse, type NoResponseDetail, type Proxy, proxyName } from '../http/index.ts'
import type { Target } from '../target/index.ts'
import { headBytes, type HttpResponse, envelopeProblem } from './response.ts'
import { describeResponse, isPage } from './describe.ts'
import type { Exchange } from './exchange.ts'

/** Answer of a gateway in place of the service, which proves nothing about the target. */
export interface GatewayResponse {
  /** What answered, and what to check or declare; follows `<base URL> cannot be judged: `. */
  readonly sentence: string
  /** How long to keep asking a service that may be starting, in ms. */
  readonly patienceMs: number
  /** Possibly only this path: another one is tried before giving up. */
  readonly perhapsHereOnly?: boolean
}

/** Poll interval while a gateway answers, in ms. */
export const gatewayEveryMs = 2000
/** Start-up time for a service behind its gateway, in ms. */
const startMs = 10_000

/** How the suite reaches the target. */
export interface Way {
  readonly baseUrl: string
  readonly tls: Target['tls']
  readonly proxy?: Proxy | undefined
}

/** The gateway that gave the first answer, if any. Envelopes come from the service, except with 502 to 504. */
export function gatewayResponseOf(exchange: Exchange, way: Way): GatewayResponse | undefined {
  const { response } = exchange
  if (!response) return undefined
  const { status } = response
  const said = describeGateway(exchange, response)
  const past = pastProxy(way)
  if ((status === 404 || status === 405) && /\/v1$/.test(new URL(way.baseUrl).pathname))
    return { sentence: `${doubled} (${said})`, patienceMs: 0, perhapsHereOnly: true }
  if (status >= 502 && status <= 504)
    return {
      sentence: `the service is down or still starting: ${said}; check the base URL, or let the run wait for it with --wait <ms>${past}`,
      patienceMs: startMs,
      perhapsHereOnly: true,
    }
  if (status >= 400 && envelopeProblem(response) === undefined) return undefined
  const sentence = redirected(response, way) ?? credentialWanted(response)
  if (sentence !== undefined) return { sentence: `${sentence} (${said})`, patienceMs: 0 }
  if (!isPage(response)) return undefined
  // A framework returns its own page for a missing path.
  const isBuilt = status < 400 || status === 403 || signatures.test(response.text(headBytes))
  if (!isBuilt) return undefined
  return {
    sentence: `this looks like a website, not the API: ${said}; check the base URL, or declare what the page asks for in headers of the target file (--header)${past}`,
    patienceMs: 0,
    perhapsHereOnly: true,
  }
}

/** All paths of the interface begin with /v1. */
export const doubled =
  'the base URL ends in /v1, but the paths of the interface already begin with /v1: remove it'

function describeGateway(exchange: Exchange, response: HttpResponse): string {
  const said = describeResponse(exchange)
  const server = exchange.recorded.response?.headers['server'] ?? response.header('server')
  return server === undefined || said.includes(server) ? said : `${said}, Server: ${server}`
}

function pastProxy({ baseUrl, proxy }: Way): string {
  if (!proxy) return ''
  return `; it came through ${proxyName(proxy)}; NO_PROXY=${new URL(baseUrl).hostname} bypasses it`
}

/** A redirect elsewhere: to a login, or another address of the interface. */
function redirected(response: HttpResponse, { baseUrl }: Way): string | undefined {
  const location = response.header('location')
  if (response.status >= 400 || location === undefined || !URL.canParse(location, `${baseUrl}/`))
    return undefined
  const from = new URL(`${baseUrl}/v1/files`)
  const to = new URL(location, from)
  // Adding a trailing slash is the server's own redirect.
  if (to.origin === from.origin && to.pathname.startsWith(from.pathname.replace(/files$/, '')))
    return undefined
  if (from.protocol === 'http:' && to.protocol === 'https:' && to.hostname === from.hostname)
    return `it redirects to https: use https://${to.host}${new URL(baseUrl).pathname.replace(/\/$/, '')}`
  return `it redirects to ${to.origin}${to.pathname}: use that address in the base URL, or, if it is a login page, declare a session, for example a cookie, in headers of the target file (--header)`
}

/** A credential other than the key of §5: WWW-Authenticate names another scheme. */
function credentialWanted(response: HttpResponse): string | undefined {
  const challenge = response.header('www-authenticate') ?? ''
  const [scheme] = /^[\w-]+/.exec(challenge) ?? []
  if (
    ![401, 403].includes(response.status) ||
    scheme === undefined ||
    /\bbearer\b/i.test(challenge)
  )
    return undefined
  return `a gateway asks for a credential of its own (WWW-Authenticate: ${scheme}): declare it in headers of the target file (--header), or exempt the suite`
}

/** Recognises pages of nginx and relatives, Apache, squid, tinyproxy, haproxy. */
const signatures =
  /<center>[\w-]+(?:\/[\d.]+)?(?: \([^)]*\))?<\/center>|<address>|Generated by|No server is available/i

const remedies: Readonly<Partial<Record<NoResponseDetail, (way: Way) => string>>> = {
  'nothing-came': () =>
    'if the first answer takes longer, increase limits.timeoutMs (or --timeout)',
  'nobody-listens': () => 'is the server running, and on that port?',
  untrusted: ({ tls }) =>
    tls.ca === undefined
      ? 'add the authority that signed it to tls.ca in the target file (or NODE_EXTRA_CA_CERTS), or accept any certificate with --insecure'
      : 'no authority in tls.ca signed it: add the one that did, and any intermediate certificates',
  'wrong-name': () => 'use one of its names in the base URL',
  'out-of-date': () =>
    'the server needs a certificate that is valid today, or the clock of this machine is wrong',
  'client-certificate': ({ tls }) =>
    tls.cert === undefined
      ? 'the server asks for a client certificate: declare tls.cert and tls.key in the target file'
      : 'the server does not accept the client certificate in tls.cert: see which authority it trusts',
  'tls-version': () => 'the suite speaks TLS 1.2 and 1.3: enable one of them on the server',
  'unknown-name': () =>
    'the server has no certificate for that name: use one of its names in the base URL',
  http2: () =>
    'the suite speaks HTTP/1.1: enable it on the server, or put a gateway in front that supports it',
}

/** What to try, judging by the missing answer. */
export function remedyFor({ cause, detail }: NoResponse, way: Way): string {
  const known = detail && remedies[detail]
  if (known) return `; ${known(way)}`
  if (cause === 'malformed') return '; is that the port of an HTTP server?'
  if (detail === 'plain-http' || (cause !== 'reset' && cause !== 'tls')) return ''
  if (!way.baseUrl.startsWith('https:'))
    return `; if that port serves https, write ${way.baseUrl.replace(/^http:/, 'https:')}; if it only supports HTTP/2, enable HTTP/1.1`
  return way.tls.cert === undefined
    ? '; if the server asks for a client certificate, declare tls.cert and tls.key in the target file'
    : '; if the server does not accept the client certificate in tls.cert, see which authority it trusts'
}
