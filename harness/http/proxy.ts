import { BlockList, isIP } from 'node:net'
import { isLoopback } from '../loopback.ts'
import { UserError } from '../user-error.ts'

/** A proxy that the environment names for a target. */
export interface Proxy {
  /** Host and port, for messages and reports; without its credentials. */
  readonly host: string
  /** The environment variable that names it. */
  readonly variable: string
  readonly origin: string
  /** Its `proxy-authorization`, if its URL holds credentials. */
  readonly authorization?: string
}

export const isHttp = ({ protocol }: URL): boolean => protocol === 'http:' || protocol === 'https:'

/** Upper case is honoured too, and lower case wins, as in curl. */
const variables = {
  'http:': ['http_proxy', 'HTTP_PROXY'],
  'https:': ['https_proxy', 'HTTPS_PROXY'],
} as const

/** The proxy through which that base URL is asked; none for loopback, or for what NO_PROXY names. Throws UserError if it is no URL. */
export function proxyFor(baseUrl: string): Proxy | undefined {
  const target = new URL(baseUrl)
  const variable = variables[target.protocol as keyof typeof variables].find(
    (name) => process.env[name],
  )
  if (variable === undefined || isLoopback(target.hostname) || isExcepted(target)) return undefined
  const value = process.env[variable]!
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (!url || !isHttp(url)) {
    throw new UserError(
      `${variable} is not the URL of an HTTP proxy; write it as http://host:port.`,
    )
  }
  return { host: url.host, variable, origin: url.origin, ...credentialsOf(url) }
}

function credentialsOf({ username, password }: URL): Pick<Proxy, 'authorization'> {
  if (username === '' && password === '') return {}
  const plain = `${decoded(username)}:${decoded(password)}`
  return { authorization: `Basic ${Buffer.from(plain).toString('base64')}` }
}

/** A percent sign that begins no escape stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * NO_PROXY: names and addresses with commas or blanks between. `example.com`, `.example.com` and `*.example.com` are that
 * host and all below it; `host:8080` that port alone; `10.0.0.0/8` a range of addresses; `*` everything.
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
  const kind = family === 4 ? 'ipv4' : 'ipv6'
  if (Number(bits) > (family === 4 ? 32 : 128)) return false
  const list = new BlockList()
  list.addSubnet(network, Number(bits), kind)
  return list.check(address, kind)
}

/** The proxy did not open the way to an https target. */
export class ProxyFailure extends Error {
  override readonly name = 'ProxyFailure'
  /** The proxy's response to CONNECT; undefined if it gave none. */
  readonly status: number | undefined
  constructor(status: number | undefined, cause?: unknown) {
    super('the proxy opened no tunnel', { cause })
    this.status = status
  }
}
