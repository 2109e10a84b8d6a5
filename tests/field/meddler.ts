import http from 'node:http'
import { listenOn, type Listening } from '../support/raw-server.ts'

interface Meddled {
  readonly status: number
  readonly tpe: string
}

/** What is in front of a server: what it answers itself, and what it says with every answer. */
export interface Meddling {
  /** @param number place of the request among all, from 0 */
  answer(number: number, request: http.IncomingMessage): Meddled | undefined
  headers?(number: number): Record<string, string>
  seen?(request: http.IncomingMessage, status: number): void
}

/** Three instances that take turns; the second answers 500 to everything. @param header names the instance */
export function brokenReplica(header?: string): Meddling {
  return {
    answer: (number) => (number % 3 === 1 ? { status: 500, tpe: 'InternalError' } : undefined),
    headers: (number) => (header === undefined ? {} : { [header]: `instance-${number % 3}` }),
  }
}

/** Refuses every key by 403 once so many wrong ones came in a row. */
export function locksOut(most: number): Meddling {
  let wrong = 0
  return {
    answer: () => (wrong >= most ? { status: 403, tpe: 'InsufficientAccessRights' } : undefined),
    seen({ headers }, status) {
      if (headers.authorization === undefined) return
      wrong = status === 401 ? wrong + 1 : wrong >= most ? wrong : 0
    },
  }
}

/** A proxy on a free loopback port that passes on what it does not answer itself. */
export function meddler(port: number, how: Meddling): Promise<Listening> {
  const agent = new http.Agent({ keepAlive: true })
  let sent = 0
  const server = http.createServer((request, response) => {
    const number = sent++
    const own = how.answer(number, request)
    const headers = how.headers?.(number) ?? {}
    request.on('error', () => undefined)
    if (own) {
      request.resume()
      const body = JSON.stringify({ tpe: own.tpe, errors: [], extras: {} })
      response.writeHead(own.status, { 'content-type': 'application/json', ...headers }).end(body)
      return
    }
    const { method, url: path } = request
    const options = { agent, host: '127.0.0.1', port, method, path, headers: request.headers }
    const onward = http.request(options, (answer) => {
      how.seen?.(request, answer.statusCode!)
      response.writeHead(answer.statusCode!, { ...answer.headers, ...headers })
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    request.pipe(onward)
  })
  server.on('close', () => agent.destroy())
  return listenOn(server)
}
