import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { listenedOn } from '../run/arguments.ts'
import { policy } from './page.ts'
import { parsedJson } from '../../schemas/json.ts'
import { randomBytes, timingSafeEqual } from 'node:crypto'

export interface Pages {
  page(): string
  sent(id: string): string
  /** Keeps the response open, and tells what changes after that version. */
  events(response: ServerResponse, version: number): void
  /** Does what a button says; a sentence if it cannot be done. */
  command(command: unknown): Promise<string | undefined>
}

const headers = {
  'cache-control': 'no-store',
  'content-security-policy': policy,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
}

/** Longest body of a command, in characters: the ids of all requirements, or a part of a target file. */
const bodyLimit = 64 * 1024

/** Serves the page on the loopback address, and gives its URL with the token; throws UserError if the port cannot be listened on. */
export async function servePage(port: number, pages: Pages) {
  const access = createAccess(() => (server.address() as AddressInfo).port)
  const server = createServer((request, response) => {
    const path = access.admit(request)
    if (path === undefined) return say(response, 403, 'Open the whole address that conform ui printed.')
    route(request, response, { path, pages }).catch(() => response.destroy())
  })
  await listen(server, port)
  const { port: given } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${given}/${access.token}/`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

interface Routed {
  readonly path: string
  readonly pages: Pages
}

async function route(request: IncomingMessage, response: ServerResponse, { path, pages }: Routed): Promise<void> {
  switch (`${request.method} ${path}`) {
    case 'GET /':
      response.writeHead(200, { ...headers, 'content-type': 'text/html; charset=utf-8' }).end(pages.page())
      return
    case 'GET /sent':
      response.writeHead(200, { ...headers, 'content-type': 'text/html; charset=utf-8' })
      response.end(pages.sent(queryOf(request).get('id') ?? ''))
      return
    case 'GET /events': {
      response.writeHead(200, { ...headers, 'content-type': 'text/event-stream' })
      return pages.events(response, versionOf(request))
    }
    case 'POST /run': {
      const problem = await pages.command(await jsonOf(request))
      return problem === undefined ? say(response, 202, '') : say(response, 409, problem)
    }
    default:
      return say(response, 404, 'There is nothing here.')
  }
}

/** Version that the page shows: where it left off, if its connection was lost. */
function versionOf(request: IncomingMessage): number {
  const version = Number(request.headers['last-event-id'] ?? queryOf(request).get('after'))
  return Number.isInteger(version) ? version : 0
}

function queryOf({ url = '' }: IncomingMessage): URLSearchParams {
  return new URLSearchParams(url.split('?')[1])
}

async function jsonOf(request: IncomingMessage): Promise<unknown> {
  let text = ''
  for await (const piece of request.setEncoding('utf8')) {
    text += piece as string
    if (text.length > bodyLimit) throw new Error('the body is too long')
  }
  return parsedJson(text)
}

function say(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { ...headers, 'content-type': 'text/plain; charset=utf-8' }).end(text)
}

function listen(server: Server, port: number): Promise<void> {
  const listening = new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve)
  })
  return listenedOn(port, listening)
}

/**
 * Lets in who knows the address that was printed. A page of another origin does not know the token; one that had its name
 * resolve to this machine (DNS rebinding) sends another `Host` besides.
 */
function createAccess(port: () => number) {
  /** First part of every path: 128 random bits. */
  const token = randomBytes(16).toString('base64url')
  return {
    token,
    /** The path behind the token; undefined if the request is not to be answered. */
    admit({ headers, method = '', url = '' }: IncomingMessage): string | undefined {
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
