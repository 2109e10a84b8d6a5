import { createAdaptorServer, type HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { Hono, type HonoRequest } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { streamSSE } from 'hono/streaming'
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { type EventEmitter, once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parsedJson } from '../../schemas/json.ts'
import { listenedOn } from '../run/arguments.ts'
import type { Patch } from './board.ts'
import { policy } from './page.ts'

export interface Pages {
  page(): string
  sent(id: string): string
  opened(): void
  patchSince(version: number): Patch
  /** Tells `changed`, when something has. */
  readonly changes: EventEmitter
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

const gatherMs = 120

/** Most bytes of a command: the ids of all requirements, or a part of a target file. */
const maxSize = 64 * 1024

/** Serves the page on the loopback address, and gives its URL with the token; throws UserError if the port cannot be listened on. */
export async function servePage(port: number, pages: Pages) {
  /** First part of every path: 128 random bits. */
  const token = randomBytes(16).toString('base64url')
  const portOf = (): number => (server.address() as AddressInfo).port
  const app = new Hono<{ Bindings: HttpBindings }>()
  app.use(async (context, next) => {
    const [, given = ''] = context.req.path.split('/')
    for (const [name, value] of Object.entries(headers)) context.header(name, value)
    if (isSame(given, token) && isOwn(context.req, portOf())) return next()
    return context.text('Open the whole address that conform ui printed.', 403)
  })
  app.get('/:token/', (context) => context.html(pages.page()))
  app.get('/:token/sent', (context) => context.html(pages.sent(context.req.query('id') ?? '')))
  app.get('/:token/events', (context) => {
    // What the page shows: where it left off, if its connection was lost.
    const asked = Number(context.req.header('last-event-id') ?? context.req.query('after'))
    pages.opened()
    return streamSSE(context, async (stream) => {
      const over = new AbortController()
      stream.onAbort(() => over.abort())
      for (
        let version = Number.isInteger(asked) ? asked : 0;
        !over.signal.aborted;
        await stream.sleep(gatherMs)
      ) {
        const changed = once(pages.changes, 'changed', { signal: over.signal }).catch(
          () => undefined,
        )
        const patch = pages.patchSince(version)
        version = patch.version
        await stream.writeSSE({ id: String(version), event: 'patch', data: JSON.stringify(patch) })
        await changed
      }
    })
  })
  const cutOff = bodyLimit({
    maxSize,
    onError({ env }) {
      ;(env as HttpBindings).incoming.destroy()
      return RESPONSE_ALREADY_SENT
    },
  })
  app.post('/:token/run', cutOff, async (context) => {
    const problem = await pages.command(parsedJson(await context.req.text()))
    return problem === undefined ? context.body('', 202) : context.text(problem, 409)
  })
  app.notFound((context) => context.text('There is nothing here.', 404))
  const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false }) as Server
  const listening = new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve)
  })
  await listenedOn(port, listening)
  return {
    url: `http://127.0.0.1:${portOf()}/${token}/`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function isSame(given: string, token: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(token)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/**
 * Whether a request comes from the page itself, or opens it. A page of another origin does not know the token; one that had
 * its name resolve to this machine (DNS rebinding) sends another `Host` besides.
 */
function isOwn(request: HonoRequest, port: number): boolean {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`]
  if (!hosts.includes(request.header('host') ?? '')) return false
  const origin = request.header('origin')
  const isFromPage = origin === undefined || hosts.includes(origin.replace(/^http:\/\//, ''))
  return (
    request.method !== 'POST' ||
    (isFromPage && (request.header('sec-fetch-site') ?? 'same-origin') === 'same-origin')
  )
}
