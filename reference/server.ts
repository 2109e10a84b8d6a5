import type { AddressInfo } from 'node:net'
import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import { createApp } from './app.ts'
import { createClock } from './clock.ts'
import { preloadedStore } from './preloaded.ts'
import { closeUnannounced } from './close-unannounced.ts'
import { resetReusedConnections } from './reset-reused-connections.ts'
import { createSwitches } from './switches/switches.ts'
import type { World } from './world.ts'

export { defects } from './switches/defects.ts'
export { variants } from './switches/variants.ts'

export interface ReferenceOptions {
  /** Port on the loopback address; 0, the default: any free one. */
  readonly port?: number
  /** Names of `defects`: requirements that the server breaks. */
  readonly defects?: Iterable<string>
  /** Names of `variants`: other ways to conform. */
  readonly variants?: Iterable<string>
  /** ms that a job takes; default 40. */
  readonly jobMs?: number
  /** ms that a job of the slow application takes; default 350. */
  readonly slowJobMs?: number
}

export interface Reference {
  /** Base URL, without a slash at its end. */
  readonly url: string
  /** Ends the server and all its connections, at once. */
  close(): Promise<void>
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

/**
 * Starts a conforming server of the whole interface, in memory, on the loopback address.
 * @throws Error on a defect or variant that does not exist, or a port that is taken.
 */
export async function startReference(options: ReferenceOptions = {}): Promise<Reference> {
  const switches = createSwitches(options.defects ?? [], options.variants ?? [])
  const clock = createClock(switches)
  const world: World = {
    switches,
    clock,
    store: preloadedStore(clock.now()),
    pace: { usual: options.jobMs ?? 40, slow: options.slowJobMs ?? 350 },
    timers: new Set(),
    counts: new Map(),
    searchDown: false,
  }
  const server = createAdaptorServer({ fetch: createApp(world).fetch, overrideGlobalObjects: false }) as Server
  if (switches.varied('connection/short-lived')) server.keepAliveTimeout = 50
  if (switches.varied('connection/closed-unannounced')) closeUnannounced(server)
  if (switches.varied('connection/reset-when-reused')) resetReusedConnections(server)
  const port = await listen(server, options.port ?? 0)
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      for (const timer of world.timers) clearTimeout(timer)
      return new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
    },
  }
}
