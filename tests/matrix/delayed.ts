import http, { type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Delayed {
  readonly url: string
  close(): Promise<void>
}

/** Stands before a server and passes each of its answers on so many ms late. */
export async function delayed(url: string, ms: number): Promise<Delayed> {
  const agent = new http.Agent({ keepAlive: true })
  const pass: RequestListener = (incoming, outgoing) => {
    const { method, headers } = incoming
    const onward = http.request(url + (incoming.url ?? ''), { method, headers, agent }, (answer) => {
      setTimeout(() => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
        answer.pipe(outgoing)
      }, ms)
    })
    onward.on('error', () => outgoing.destroy())
    incoming.pipe(onward)
  }
  const server = http.createServer(pass)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        agent.destroy()
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
