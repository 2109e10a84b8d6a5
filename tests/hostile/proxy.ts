import http from 'node:http'
import { type Listening, listenOn } from '../support/raw-server.ts'

/** The request of a client: enough to tell one request from another. */
export interface ProxiedRequest {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers: http.IncomingHttpHeaders
  readonly body: Buffer
  /** Place among all requests of the proxy, from 0. */
  readonly number: number
}

export interface ProxiedResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** Gives the response that goes back in place of the target's. One that never settles leaves the request without an answer. */
export type Change = (
  request: ProxiedRequest,
  response: () => Promise<ProxiedResponse>,
) => ProxiedResponse | Promise<ProxiedResponse>

/** A proxy on a free loopback port in front of one target. */
export async function startProxy(target: string, change: Change): Promise<Listening> {
  let number = 0
  const agent = new http.Agent({ keepAlive: true })
  const server = http.createServer((incoming, outgoing) => {
    const serve = async (): Promise<void> => {
      const body = await bytesOf(incoming)
      const { method = '', url = '', headers } = incoming
      const request = { method, url, headers, body, number: number++ }
      const { status, ...response } = await change(request, () => forward(target, request, agent))
      const length = status === 204 ? {} : { 'content-length': String(response.body.length) }
      outgoing.writeHead(status, { ...response.headers, ...length })
      outgoing.end(status === 204 ? undefined : response.body)
    }
    serve().catch(() => incoming.socket.destroy())
  })
  server.on('close', () => agent.destroy())
  return listenOn(server)
}

async function bytesOf(stream: http.IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

function forward(
  target: string,
  { method, url, headers, body }: ProxiedRequest,
  agent: http.Agent,
) {
  return new Promise<ProxiedResponse>((resolve, reject) => {
    const outgoing = http.request(target + url, { method, headers, agent }, (incoming) => {
      bytesOf(incoming).then((bytes) => {
        const {
          'content-length': _length,
          'transfer-encoding': _encoding,
          ...kept
        } = incoming.headers
        const own = ['connection', 'keep-alive', 'date']
        const entries = Object.entries(kept).filter(([name]) => !own.includes(name))
        const single = entries.map(([name, value]) => [name, String(value)] as const)
        resolve({
          status: incoming.statusCode ?? 0,
          headers: Object.fromEntries(single),
          body: bytes,
        })
      }, reject)
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}
