import { Socket } from 'node:net'
import { type SecureContext, createSecureContext } from 'node:tls'
import type {
  buildConnector as Connectors,
  Client as Clients,
  Dispatcher,
  buildConnector as BuildConnector,
  Client as ClientClass,
  EnvHttpProxyAgent,
} from 'undici'
import { UserError } from '../user-error.ts'
import type { TransportOptions } from './message.ts'
import { createRequire } from 'node:module'

type Undici = typeof import('undici')

const require = createRequire(import.meta.url)

/**
 * One module of undici. Its entry loads fetch, WebSocket and caches too, which take four times as long to load as what
 * is needed of it. A release that lays its files out otherwise is loaded whole.
 */
function part<Name extends keyof Undici>(name: Name, file: string): Undici[Name] {
  try {
    return require(`undici/lib/${file}`) as Undici[Name]
  } catch {
    return (require('undici') as Undici)[name]
  }
}

const Client: typeof ClientClass = part('Client', 'dispatcher/client.js')
const buildConnector: typeof BuildConnector = part('buildConnector', 'core/connect.js')

/** Loaded for a target behind a proxy alone. */
function createProxyAgent(options: EnvHttpProxyAgent.Options): EnvHttpProxyAgent {
  // The agent asks its clients for a tunnel, by a method that they get from the entry.
  const { EnvHttpProxyAgent: Agent } = require('undici') as Undici
  return new Agent(options)
}

/** Longest head of an answer, in bytes. */
const headLimit = 64 * 1024

/** Where requests go and how: settled once, the same for every line. */
export interface Endpoint {
  readonly origin: string
  /** Host and port, for messages. */
  readonly host: string
  /** Path of the base URL without its trailing slash; begins the path of every request. */
  readonly prefix: string
  readonly secure: boolean
  readonly proxied: boolean
  readonly secureContext?: SecureContext
  readonly insecure: boolean
}

/** Throws UserError if the base URL, a PEM text or a proxy variable cannot be used. */
export function endpointOf({ baseUrl, tls, insecure = false }: TransportOptions): Endpoint {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  if (!url || !isHttp(url)) throw new UserError('The base URL is not an http or https URL.')
  const secure = url.protocol === 'https:'
  return {
    origin: url.origin,
    host: url.host,
    prefix: url.pathname.replace(/\/$/, ''),
    secure,
    proxied: !isLoopback(url.hostname) && hasProxy(),
    insecure,
    ...(secure && { secureContext: contextOf(tls) }),
  }
}

const isLoopback = (hostname: string) => /^(127(\.\d+){3}|(.+\.)?localhost\.?|\[::1\])$/.test(hostname)

const proxyVariables = ['https_proxy', 'HTTPS_PROXY', 'http_proxy', 'HTTP_PROXY']

function hasProxy(): boolean {
  const named = proxyVariables.filter((name) => process.env[name])
  for (const name of named) {
    const value = process.env[name]!
    if (!URL.canParse(value) || !isHttp(new URL(value))) {
      throw new UserError(`${name} is not the URL of an HTTP proxy; write it as http://host:port.`)
    }
  }
  return named.length > 0
}

const isHttp = ({ protocol }: URL) => protocol === 'http:' || protocol === 'https:'

function contextOf(tls: TransportOptions['tls']): SecureContext {
  try {
    return createSecureContext({ ca: tls?.ca, cert: tls?.cert, key: tls?.key })
  } catch (error) {
    throw new UserError(
      `The target's tls files cannot be used: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

/** What a dispatcher tells of its sockets. */
export interface SocketWatch {
  /** A socket is being opened, to the target or to a proxy. */
  opening(socket: Socket): void
  /** The connection to the target is made; nothing is written or read on it yet. */
  connected(socket: Socket): void
}

/**
 * One undici dispatcher that has one connection at a time. The exchange's own timer is the only one: undici's are
 * coarse, and are switched off.
 */
export function createDispatcher(endpoint: Endpoint, watch: SocketWatch): Dispatcher {
  const { secureContext, insecure, origin, proxied } = endpoint
  const limits = { maxHeaderSize: headLimit, headersTimeout: 0, bodyTimeout: 0, pipelining: 1 }
  const tls = { secureContext, rejectUnauthorized: !insecure, timeout: 0 }
  const connect = buildConnector(tls)
  if (!proxied) return new Client(origin, { ...limits, connect: watched(connect, watch) })
  return createProxyAgent({
    ...limits,
    connect,
    requestTls: tls,
    proxyTls: { timeout: 0 },
    clientFactory: (url, options) => {
      const { connect: toProxy } = options as { connect: Connectors.connector }
      return new Client(url, { ...limits, connect: watched(toProxy, { ...watch, connected: () => {} }) })
    },
    factory: (url: string | URL, options: Clients.Options) =>
      new Client(url, { ...options, connect: watched(options.connect as Connectors.connector, watch) }),
  })
}

/** undici's connectors return the socket that they open, though their type does not say so. */
function watched(connect: Connectors.connector, watch: SocketWatch): Connectors.connector {
  return (options, callback) => {
    const socket: unknown = connect(options, (...result) => {
      if (result[1]) watch.connected(result[1])
      callback(...result)
    })
    if (socket instanceof Socket) watch.opening(socket)
    return socket
  }
}
