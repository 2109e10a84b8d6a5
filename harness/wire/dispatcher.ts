import { type SecureContext, createSecureContext } from 'node:tls'
import {
  type Dispatcher,
  type buildConnector,
  Client,
  EnvHttpProxyAgent,
  buildConnector as makeConnector,
} from 'undici'
import { UserError } from '../user-error.ts'
import type { WireOptions } from './message.ts'

/** Longest head of an answer, in bytes. */
export const headLimit = 64 * 1024

/** Where requests go and how: settled once, the same for every line. */
export interface Endpoint {
  readonly origin: string
  /** Host and port, for messages. */
  readonly host: string
  /** Path of the base URL without its trailing slash; stands before the path of every request. */
  readonly prefix: string
  readonly secure: boolean
  readonly proxied: boolean
  readonly secureContext?: SecureContext
  readonly insecure: boolean
}

/** Throws UserError where the base URL, a PEM text or a proxy variable cannot be used. */
export function endpointOf({ baseUrl, tls, insecure = false }: WireOptions): Endpoint {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) throw new UserError('The base URL is not an http or https URL.')
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
    if (!URL.canParse(process.env[name]!)) throw new UserError(`${name} is not a URL; write it as http://host:port.`)
  }
  return named.length > 0
}

function contextOf(tls: WireOptions['tls']): SecureContext {
  try {
    return createSecureContext({ ca: tls?.ca, cert: tls?.cert, key: tls?.key })
  } catch (error) {
    throw new UserError(`The target's tls files cannot be used: ${error instanceof Error ? error.message : error}`)
  }
}

/**
 * One undici dispatcher that opens one socket at a time; it shows each new socket to `onSocket`.
 * The exchange's own timer is the only one: undici's are coarse, and are switched off. `signal` destroys the sockets,
 * those that are still connecting too, which undici would leave behind.
 */
export function createDispatcher(
  endpoint: Endpoint,
  onSocket: (socket: Parameters<buildConnector.Callback>[1]) => void,
  signal: AbortSignal,
): Dispatcher {
  const { secureContext, insecure, origin, proxied } = endpoint
  const tls = { secureContext, rejectUnauthorized: !insecure, signal, timeout: 0 }
  const watched =
    (connect: buildConnector.connector): buildConnector.connector =>
    (options, callback) =>
      connect(options, (...result) => {
        if (result[1]) onSocket(result[1])
        callback(...result)
      })
  const limits = { maxHeaderSize: headLimit, headersTimeout: 0, bodyTimeout: 0, pipelining: 1 }
  if (!proxied) return new Client(origin, { ...limits, connect: watched(makeConnector(tls as object)) })
  return new EnvHttpProxyAgent({
    ...limits,
    connect: makeConnector(tls as object),
    requestTls: tls,
    proxyTls: { signal, timeout: 0 } as object,
    factory: (url: string | URL, { connect, ...options }: Client.Options) =>
      new Client(url, { ...options, connect: watched(connect as buildConnector.connector) }),
  })
}
