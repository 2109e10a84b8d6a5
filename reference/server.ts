import type { Server, IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { createAdaptorServer } from '@hono/node-server'
import { createServed, type ReferenceOptions } from './create-reference.ts'
import { targetFile } from './declared/scenarios.ts'

/** Requests that a connection serves before it is reset. */
const lifetime = 20

/** Resets each connection when one more request arrives on it, before that request is looked at. */
function resetReusedConnections(server: Server): void {
  const served = new WeakMap<Socket, number>()
  const listeners = server.listeners('request') as ((incoming: IncomingMessage, outgoing: ServerResponse) => void)[]
  server.removeAllListeners('request')
  server.on('request', (incoming, outgoing) => {
    const count = served.get(incoming.socket) ?? 0
    served.set(incoming.socket, count + 1)
    if (count >= lifetime) incoming.socket.resetAndDestroy()
    else for (const listener of listeners) listener(incoming, outgoing)
  })
}

export { createReference, type HandledReference, type ReferenceOptions } from './create-reference.ts'
export { targetFile } from './declared/scenarios.ts'
export { defects } from './switches/defects.ts'
export { needsSocket, stampHeader } from './switches/switches.ts'
export { variants } from './switches/switches.ts'

interface ServerOptions extends ReferenceOptions {
  /** Port on the loopback address; 0, the default: any free one. */
  readonly port?: number
}

export interface Reference {
  /** Base URL, without a slash at its end. */
  readonly url: string
  /** A target object that declares everything that the server has. */
  readonly target: Readonly<Record<string, unknown>>
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
 * @param ownsThread Nothing else goes on in this thread: a faster class takes the place of its `Response`.
 * @throws Error on a defect or variant that does not exist, or a port that is taken.
 */
export async function startReference(options: ServerOptions = {}, ownsThread = false): Promise<Reference> {
  const { fetch, switches } = createServed(options)
  const server = createAdaptorServer({ fetch, overrideGlobalObjects: ownsThread }) as Server
  if (switches.varied('connection/short-lived')) server.keepAliveTimeout = 50
  if (switches.varied('connection/closed-unannounced')) closeUnannounced(server)
  if (switches.varied('connection/reset-when-reused')) resetReusedConnections(server)
  const url = `http://127.0.0.1:${await listen(server, options.port ?? 0)}`
  return {
    url,
    target: { ...targetFile, baseUrl: url },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/**
 * Ends each connection after its first answer without saying so. A request that is on its way by then is still carried out,
 * but its answer is lost.
 */
function closeUnannounced(server: Server): void {
  server.on('request', ({ socket }: IncomingMessage, outgoing: ServerResponse) => {
    outgoing.once('finish', () => socket.end())
  })
}
