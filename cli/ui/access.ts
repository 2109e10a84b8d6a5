import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** What a request must show before anything is answered to it. */
export interface Access {
  /** First part of every path: 128 random bits. */
  readonly token: string
  /** The path behind the token; undefined if the request is not to be answered. */
  admit(request: IncomingMessage): string | undefined
}

/**
 * Lets in who knows the address that was printed. A page of another origin does not know the token; one that had its name
 * resolve to this machine (DNS rebinding) sends another `Host` besides.
 */
export function createAccess(port: () => number): Access {
  const token = randomBytes(16).toString('base64url')
  return {
    token,
    admit({ headers, method = '', url = '' }) {
      const hosts = [`127.0.0.1:${port()}`, `localhost:${port()}`]
      if (!hosts.includes(headers.host ?? '')) return undefined
      const [, given = '', path = ''] = /^\/([^/?#]*)(\/[^?#]*)?/.exec(url) ?? []
      if (!isSame(given, token)) return undefined
      if (method === 'POST' && !isOwnPage(headers, hosts)) return undefined
      return path
    },
  }
}

function isSame(given: string, token: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(token)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function isOwnPage(headers: IncomingMessage['headers'], hosts: readonly string[]): boolean {
  const { origin } = headers
  const site = headers['sec-fetch-site']
  return (
    (origin === undefined || hosts.includes(origin.replace(/^http:\/\//, ''))) &&
    (site ?? 'same-origin') === 'same-origin'
  )
}
