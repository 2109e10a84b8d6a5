import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createRequire } from 'node:module'
import { BlockList, isIP, Socket } from 'node:net'
import { createSecureContext, type SecureContext } from 'node:tls'
import type { buildConnector as BuildConnector, Client as ClientClass, Dispatcher } from 'undici'
import { isLoopback } from '../loopback.ts'
import { UserError } from '../user-error.ts'
import type { HeaderLine, TransportOptions } from './message.ts'

type Undici = typeof import('undici')

const require = createRequire(import.meta.url)

/**
 * One module of undici. Its entry also loads fetch, WebSocket and caches, which takes four times as long. A release
 * with another layout is loaded as a whole.
 */
function part<Name extends keyof Undici>(name: Name, load: () => unknown): Undici[Name] {
  try {
    return load() as Undici[Name]
  } catch {
    return (require('undici') as Undici)[name]
  }
}

const Client: typeof ClientClass = part('Client', () => require('undici/lib/dispatcher/client.js'))
const buildConnector: typeof BuildConnector = part('buildConnector', () =>
  require('undici/lib/core/connect.js'),
)

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

export interface Proxy {
  /** Host and port without credentials, for messages and reports. */
  readonly host: string
  /** The environment variable that names it. */
  readonly variable: string
  readonly origin: string
  readonly authorization?: string
}

export function endpointOf({
  baseUrl,
  tls,
  insecure = false,
}: Pick<TransportOptions, 'baseUrl' | 'tls' | 'insecure'>): Endpoint {
  const url = httpUrl(baseUrl)
  if (!url) throw new UserError('The base URL is not an http or https URL.')
  const secure = url.protocol === 'https:'
  return {
    origin: url.origin,
    host: url.host,
    prefix: url.pathname.replace(/\/$/, ''),
    secure,
    proxy: proxyFor(baseUrl),
    insecure,
    ...(secure && { secureContext: contextOf(tls) }),
  }
}

function httpUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url && /^https?:$/.test(url.protocol) ? url : undefined
}

/** Checks each file separately to name the invalid one; Node silently accepts an invalid authority. */
function contextOf({ ca, cert, key }: NonNullable<TransportOptions['tls']> = {}): SecureContext {
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
  const url = httpUrl(process.env[variable]!)
  if (!url)
    throw new UserError(
      `${variable} is not the URL of an HTTP proxy; write it as http://host:port.`,
    )
  const { username, password } = url
  const plain = `${decoded(username)}:${decoded(password)}`
  const authorization = `Basic ${Buffer.from(plain).toString('base64')}`
  return { host: url.host, variable, origin: url.origin, ...(plain !== ':' && { authorization }) }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * NO_PROXY: names and addresses separated by commas or blanks. `example.com`, `.example.com` and `*.example.com` all
 * match that host and its subdomains; `host:8080` only that port; `10.0.0.0/8` an address range; `*` everything.
 */
function isExcepted({ hostname, port, protocol }: URL): boolean {
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

interface SocketWatch {
  /** A socket is being opened, to the target or to a proxy. */
  opening(socket: Socket): void
  connected(socket: Socket): void
}

/**
 * An undici dispatcher with one connection at a time. Only the exchange's own timer is used: undici's are coarse, and
 * are switched off.
 */
export function createDispatcher(endpoint: Endpoint, watch: SocketWatch): Dispatcher {
  const { secureContext, insecure, origin, proxy, secure } = endpoint
  const limits = { maxHeaderSize: headLimit, headersTimeout: 0, bodyTimeout: 0, pipelining: 1 }
  const toTarget = buildConnector({ secureContext, rejectUnauthorized: !insecure, timeout: 0 })
  if (!proxy) return new Client(origin, { ...limits, connect: watched(toTarget, watch) })
  const toProxy = buildConnector({ timeout: 0 })
  if (!secure) return new Client(proxy.origin, { ...limits, connect: watched(toProxy, watch) })
  const opening = watched(toProxy, { ...watch, connected: () => undefined })
  const connect = watched(tunnelled(endpoint, proxy, opening, toTarget), watch)
  return new Client(origin, { ...limits, connect })
}

export function dispatchOptions(
  { host, origin, prefix, proxy, secure }: Endpoint,
  { method, path, body }: Pick<Dispatcher.DispatchOptions, 'method' | 'path' | 'body'>,
  lines: readonly HeaderLine[],
): Dispatcher.DispatchOptions {
  const handing = secure ? undefined : proxy
  const headers: string[] = []
  // undici would use the proxy as the host.
  if (handing) headers.push('host', host)
  if (handing?.authorization) headers.push('proxy-authorization', handing.authorization)
  for (const { name, value } of lines) headers.push(name, value)
  // A proxy for an http target needs the whole URL in the request line (RFC 9112 §3.2.2).
  const target = `${handing ? origin : ''}${prefix}${path}`
  return { origin: handing?.origin ?? origin, method, path: target, headers, body }
}

export class ProxyFailure extends Error {
  override readonly name = 'ProxyFailure'
  readonly status: number | undefined
  constructor(status: number | undefined, cause?: unknown) {
    super('the proxy opened no tunnel', { cause })
    this.status = status
  }
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

/** undici's connectors return the socket that they open, though their type does not say so. */
function watched(connect: Connector, watch: SocketWatch): Connector {
  return (options, callback) => {
    const socket: unknown = connect(options, (...result) => {
      if (result[1]) watch.connected(result[1])
      callback(...result)
    })
    if (socket instanceof Socket) watch.opening(socket)
    return socket
  }
}
