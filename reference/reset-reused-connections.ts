import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests that a connection serves before it is reset. */
const lifetime = 20

/** Resets each connection when one more request arrives on it, before that request is looked at. */
export function resetReusedConnections(server: Server): void {
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
