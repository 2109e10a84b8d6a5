import { createPrivateKey, X509Certificate } from 'node:crypto'
import { Socket } from 'node:net'
import { type SecureContext, createSecureContext } from 'node:tls'
import type {
  buildConnector as BuildConnector,
  Client as ClientClass,
  Dispatcher,
  Pool as PoolClass,
} from 'undici'
import { UserError } from '../user-error.ts'
import type { HeaderLine, TransportOptions } from './message.ts'
import { createRequire } from 'node:module'
import { isHttp, type Proxy, ProxyFailure, proxyFor } from './proxy.ts'

type Undici = typeof import('undici')

const require = createRequire(import.meta.url)

/**
 * One module of undici. Its entry loads fetch, WebSocket and caches too, which take four times as long to load as what
 * is needed of it. A release that lays its files out otherwise is loaded whole.
 */
function part<Name extends keyof Undici>(name: Name, load: () => unknown): Undici[Name] {
  try {
    return load() as Undici[Name]
  } catch {
    return (require('undici') as Undici)[name]
  }
}

const Client: typeof ClientClass = part('Client', () => require('undici/lib/dispatcher/client.js'))
const Pool: typeof PoolClass = part('Pool', () => require('undici/lib/dispatcher/pool.js'))
const buildConnector: typeof BuildConnector = part('buildConnector', () =>
  require('undici/lib/core/connect.js'),
)

/** Longest head of an answer, in bytes. */
const headLimit = 64 * 1024

/** The end of a connection, and the way there: settled once, the same for every line. */
export interface Endpoint {
  readonly origin: string
  /** Host and port, for messages. */
  readonly host: string
  /** Path of the base URL without its trailing slash; begins the path of every request. */
  readonly prefix: string
  readonly secure: boolean
  readonly proxy?: Proxy | undefined
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
    proxy: proxyFor(baseUrl),
    insecure,
    ...(secure && { secureContext: contextOf(tls) }),
  }
}

/** Each file by itself first, so that the one at fault is named; Node takes an authority that is none without a word. */
function contextOf({ ca, cert, key }: NonNullable<TransportOptions['tls']> = {}): SecureContext {
  if (ca !== undefined) inFile('tls.ca (--ca)', 'certificate', () => new X509Certificate(ca))
  if (cert !== undefined) inFile('tls.cert', 'certificate', () => new X509Certificate(cert))
  if (key !== undefined) inFile('tls.key', 'private key', () => createPrivateKey(key))
  try {
    return createSecureContext({ ca, cert, key })
  } catch (error) {
    if (codeOf(error) === 'ERR_OSSL_X509_KEY_VALUES_MISMATCH')
      throw new UserError(
        "tls.key is not the key of the certificate in tls.cert; its first certificate has to be the client's",
      )
    throw new UserError(
      `the files in tls cannot be used: ${error instanceof Error ? error.message : String(error)}`,
    )
  }
}

function inFile(member: string, what: string, read: () => unknown): void {
  try {
    read()
  } catch (error) {
    const isEncrypted = [
      'ERR_MISSING_PASSPHRASE',
      'ERR_OSSL_CRYPTO_INTERRUPTED_OR_CANCELLED',
    ].includes(codeOf(error))
    throw new UserError(
      isEncrypted
        ? `${member} needs a passphrase, which the suite does not ask for: write it without, by openssl pkey -in <file> -out <new file>`
        : `${member} holds no ${what} in PEM form`,
    )
  }
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

/** Figures of a dispatcher's sockets. */
interface SocketWatch {
  /** A socket is being opened, to the target or to a proxy. */
  opening(socket: Socket): void
  /** The connection to the target is made; nothing is written or read on it yet. */
  connected(socket: Socket): void
}

/**
 * One undici dispatcher that has one connection at a time, or as many as are needed. The exchange's own timer is the only
 * one: undici's are coarse, and are switched off.
 */
export function createDispatcher(
  endpoint: Endpoint,
  watch: SocketWatch,
  kind: 'one' | 'many' = 'one',
): Dispatcher {
  const Lines = kind === 'one' ? Client : Pool
  const { secureContext, insecure, origin, proxy, secure } = endpoint
  const limits = { maxHeaderSize: headLimit, headersTimeout: 0, bodyTimeout: 0, pipelining: 1 }
  const toTarget = buildConnector({ secureContext, rejectUnauthorized: !insecure, timeout: 0 })
  if (!proxy) return new Lines(origin, { ...limits, connect: watched(toTarget, watch) })
  const toProxy = buildConnector({ timeout: 0 })
  if (!secure) return new Lines(proxy.origin, { ...limits, connect: watched(toProxy, watch) })
  const opening = watched(toProxy, { ...watch, connected: () => undefined })
  return new Lines(origin, {
    ...limits,
    connect: watched(tunnelled(endpoint, proxy, opening, toTarget), watch),
  })
}

/** A request as undici takes it, for the target itself or for a proxy that hands it on. */
export function dispatchOptions(
  { host, origin, prefix, proxy, secure }: Endpoint,
  { method, path, body }: Pick<Dispatcher.DispatchOptions, 'method' | 'path' | 'body'>,
  lines: readonly HeaderLine[],
): Dispatcher.DispatchOptions {
  const handing = secure ? undefined : proxy
  const headers: string[] = []
  // undici would name the proxy as the host.
  if (handing) headers.push('host', host)
  if (handing?.authorization) headers.push('proxy-authorization', handing.authorization)
  for (const { name, value } of lines) headers.push(name, value)
  // The request line names the target in whole for a proxy that is asked for an http target (RFC 9112 §3.2.2).
  const target = `${handing ? origin : ''}${prefix}${path}`
  return { origin: handing?.origin ?? origin, method, path: target, headers, body }
}

type Connector = BuildConnector.connector

/** Connects by CONNECT (RFC 9110 §9.3.6), and then to the target through that tunnel. */
function tunnelled(
  { origin }: Endpoint,
  proxy: Proxy,
  opening: Connector,
  toTarget: Connector,
): Connector {
  // undici's clients get the method for a tunnel from its entry.
  const { Client: Whole } = require('undici') as Undici
  const { hostname, port } = new URL(origin)
  const authority = `${hostname}:${port === '' ? '443' : port}`
  const headers = {
    host: authority,
    ...(proxy.authorization && { 'proxy-authorization': proxy.authorization }),
  }
  return (options, callback) => {
    const client = new Whole(proxy.origin, { connect: opening, headersTimeout: 0 })
    client.connect({ path: authority, headers }).then(
      ({ statusCode, socket }) => {
        const isOpen = statusCode >= 200 && statusCode < 300
        if (isOpen && socket instanceof Socket)
          return void toTarget({ ...options, httpSocket: socket }, callback)
        socket.on('error', () => undefined).destroy()
        callback(new ProxyFailure(statusCode), null)
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
