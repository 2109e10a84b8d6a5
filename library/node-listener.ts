import { createServer, type IncomingMessage, request as open, type ServerResponse } from 'node:http'
import { type Duplex, duplexPair, Readable } from 'node:stream'
import type { FetchHandler } from '../harness/target/index.ts'

/** A listener for `http.createServer`: an Express application, `app.callback()` of Koa, `app.routing` of Fastify. */
export type NodeListener = (request: IncomingMessage, response: ServerResponse) => unknown

/** `Response` accepts no body for these. */
const withoutBody = [204, 205, 304]

/**
 * Turns a listener for Node's HTTP server into a `fetch`, for a target in the same process. Requests and responses go
 * through Node's HTTP over in-memory streams: no port is opened. If the listener throws or rejects, there is no
 * response.
 */
export function fromNodeListener(listener: NodeListener): FetchHandler {
  const failures = new WeakMap<Duplex, (error: unknown) => void>()
  // It never listens on a port.
  const server = createServer((request, response) => {
    const failed = (error: unknown): void => failures.get(request.socket)?.(error)
    try {
      Promise.resolve(listener(request, response)).catch(failed)
    } catch (error) {
      failed(error)
    }
  })
  return async (request) => {
    const body = request.body === null ? undefined : Buffer.from(await request.arrayBuffer())
    const [ours, theirs] = duplexPair()
    return new Promise<Response>((resolve, reject) => {
      failures.set(theirs, (error) => {
        reject(error instanceof Error ? error : new Error(String(error)))
        theirs.destroy()
      })
      connect(ours, theirs)
      server.emit('connection', theirs)
      const { pathname, search, host } = new URL(request.url)
      const sent = open({
        createConnection: () => ours,
        method: request.method,
        path: pathname + search,
        headers: { host, ...Object.fromEntries(request.headers) },
        signal: request.signal,
      })
      sent.once('error', reject)
      sent.once('response', (incoming) => resolve(responseOf(incoming)))
      sent.end(body)
    })
  }
}

/** Unlike sockets, in-memory streams do not notify each other when closed. */
function connect(ours: Duplex, theirs: Duplex): void {
  ours.once('close', () => theirs.destroy())
  // Buffered data must still be read.
  theirs.once('close', () => {
    if (!theirs.writableFinished) ours.destroy(new Error('the listener closed the connection'))
  })
}

function responseOf(incoming: IncomingMessage): Response {
  const { statusCode: status = 0, rawHeaders } = incoming
  const headers = new Headers()
  for (let at = 0; at < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at]!, rawHeaders[at + 1]!)
  const body = withoutBody.includes(status) ? null : (Readable.toWeb(incoming) as ReadableStream)
  if (body === null) incoming.resume()
  return new Response(body, { status, headers })
}
