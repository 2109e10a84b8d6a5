import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { get, send, target, type Server, type Story } from './client.ts'

/** Headers of an answer as they came over HTTP. */
export function rawHeaders(
  server: Server,
  path: string,
  headers: Record<string, string> = {},
  agent?: Agent,
): Promise<Record<string, unknown>> {
  const authorization = `Bearer ${target.keys.full}`
  return new Promise((resolve, reject) => {
    const sent = request(
      `${String(server)}${path}`,
      { headers: { authorization, ...headers }, agent },
      (answer) => {
        answer.resume()
        resolve(answer.headers)
      },
    )
    sent.on('error', reject).end()
  })
}

/** Effects on connections, seen from outside; these servers have a URL. */
export const connectionEffects: Readonly<Record<string, Story>> = {
  'connection/chunked': async (server) =>
    (await rawHeaders(server, '/v1/files'))['transfer-encoding'] === 'chunked',
  'connection/closed': async (server) =>
    (await rawHeaders(server, '/v1/files'))['connection'] === 'close',
  'connection/closed-unannounced': async (server) => {
    const socket = connect(Number(new URL(String(server)).port), '127.0.0.1')
    socket.write('GET /v1/files HTTP/1.1\r\nhost: x\r\n\r\n')
    let text = ''
    for await (const piece of socket) text += String(piece)
    return text.includes('401') && !/connection: close/i.test(text)
  },
  'connection/reset-when-reused': async (server) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const ask = () =>
      rawHeaders(server, '/v1/files', {}, agent).then(
        () => 1,
        () => 0,
      )
    let answered = 0
    for (let i = 0; i < 60; i++) answered += await ask()
    agent.destroy()
    return answered < 60 && answered > 50
  },
  'connection/short-lived': async (server) => (await get(server, '/v1/files')).status === 200,
  ...Object.fromEntries(
    ['gzip', 'deflate', 'br'].map((coding) => [
      `compressed/${coding}`,
      async (server: Server) =>
        (await rawHeaders(server, '/v1/files', { 'accept-encoding': coding }))[
          'content-encoding'
        ] === coding &&
        (await rawHeaders(server, '/v1/files'))['content-encoding'] === undefined &&
        (await send(server, 'jobs.retrieve')).json.status === 'completed',
    ]),
  ),
}
