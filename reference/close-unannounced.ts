import type { IncomingMessage, Server, ServerResponse } from 'node:http'

/**
 * Ends each connection after its first answer without saying so: a request that is on its way by then is carried out
 * all the same, and its answer lost.
 */
export function closeUnannounced(server: Server): void {
  server.on('request', ({ socket }: IncomingMessage, outgoing: ServerResponse) => {
    outgoing.once('finish', () => socket.end())
  })
}
