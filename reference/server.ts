import { once } from 'node:events'
import type { Server, IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { setTimeout as pause } from 'node:timers/promises'
import { createApp } from './app.ts'
import { targetFile } from './declared/scenarios.ts'
import { needsSocket, createSwitches, type Switches, named } from './switches.ts'
import { preloadedStore } from './world/preloaded.ts'
import { createClock, type Pace, type World } from './world/world.ts'

export { targetFile } from './declared/scenarios.ts'
export { defects, needsSocket, variants } from './switches.ts'

export interface ReferenceOptions extends Partial<Pace> {
  readonly defects?: Iterable<string>
  readonly variants?: Iterable<string>
  /** Delay of each answer in ms; default 0. */
  readonly latency?: number
}

type HandedRequest = Pick<Request, 'method' | 'url' | 'headers' | 'signal' | 'arrayBuffer' | 'json'>

/** @throws Error on an unknown defect or variant */
function createServed(options: ReferenceOptions) {
  const { defects = [], variants = [], latency = 0, ...pace } = options
  const switches = createSwitches(defects, variants)
  const clock = createClock(switches)
  const world: World = {
    switches,
    clock,
    store: preloadedStore(clock.now()),
    pace: { jobMs: 40, slowJobMs: 250, slowRefusalMs: 200, silenceMs: 1000, ...pace },
    unreadMs: unreadMsOf(switches),
    since: clock.now(),
    running: new Set(),
    counts: new Map(),
    searchDown: false,
  }
  const app = createApp(world)
  return {
    switches,
    fetch: async (request: Request, env?: object): Promise<Response> => {
      if (latency > 0) await pause(latency)
      return app.fetch(request, env)
    },
  }
}

/**
 * A conforming server of the whole interface without a socket, for tests that inject their transport.
 * @throws Error on a defect or variant that is unknown, or only has an effect on a socket (`needsSocket`)
 */
export function createReference(options: ReferenceOptions = {}) {
  const { fetch } = createServed(options)
  const unseen = [...(options.defects ?? []), ...(options.variants ?? [])].find(needsSocket)
  if (unseen !== undefined)
    throw new Error(`"${unseen}" only has an effect on a socket: use startReference`)
  const url = 'http://reference.localhost'
  return {
    /** Base URL of its requests; any other origin works as well. */
    url,
    target: { ...targetFile, baseUrl: url } as Readonly<Record<string, unknown>>,
    /** @throws ConnectionLost if a defect gives no answer */
    handle(request: HandedRequest): Promise<Response> {
      return fetch(request as Request)
    },
  }
}

/**
 * Switches under which a job must end by time alone, since nobody reads it in progress: its id or its readings do not
 * arrive, or are unrecognisable; or the job of a new application, which is read last, would block every other one.
 */
const endingByThemselves = named(
  '#',
  `
  jobs.create/202-created          answer-lost
  jobs.create/202-retrievable      - late
  jobs.retrieve/200-job            no-answer closed no-http status
  jobs.retrieve/200-identity       one-id
  jobs.create/409-per-application  -`,
)

export function unreadMsOf(switches: Switches): number {
  if (endingByThemselves.some(switches.broken)) return 0
  // The answer to a creation may be lost: then nobody knows the job, and everyone waits for its end.
  return switches.varied('connection/closed-unannounced') ? 3000 : 30_000
}

const lifetime = 20

function resetReusedConnections(server: Server): void {
  const served = new WeakMap<Socket, number>()
  const listeners = server.listeners('request') as RequestListener[]
  server.removeAllListeners('request')
  server.on('request', (incoming, outgoing) => {
    const count = served.get(incoming.socket) ?? 0
    served.set(incoming.socket, count + 1)
    if (count >= lifetime) incoming.socket.resetAndDestroy()
    else for (const listener of listeners) listener(incoming, outgoing)
  })
}

interface ServerOptions extends ReferenceOptions {
  /** Port on the loopback address; 0, the default: any free one. */
  readonly port?: number
}

/**
 * Starts a conforming in-memory server of the whole interface on the loopback address.
 * @param ownsThread nothing else runs in this thread, so that a faster class may replace its `Response`
 * @throws Error on an unknown defect or variant, or a port that is taken
 */
export async function startReference(options: ServerOptions = {}, ownsThread = false) {
  const { fetch, switches } = createServed(options)
  const server = createAdaptorServer({ fetch, overrideGlobalObjects: ownsThread }) as Server
  if (switches.varied('connection/short-lived')) server.keepAliveTimeout = 50
  // A request sent meanwhile is carried out, but its answer is lost.
  if (switches.varied('connection/closed-unannounced'))
    server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
      outgoing.once('finish', () => incoming.socket.end())
    })
  if (switches.varied('connection/reset-when-reused')) resetReusedConnections(server)
  await once(server.listen(options.port ?? 0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
