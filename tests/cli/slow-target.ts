import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** A target that stands before another one and never answers some requests. */
export interface SlowTarget {
  readonly url: string
  /** Settles when so many requests are held. */
  held(count: number): Promise<void>
  /** `METHOD path` of whatever was sent on, in order. */
  readonly passed: readonly string[]
}

/** @param holds whether a request (`METHOD path`) is never answered */
export async function slowTarget(behind: string, holds: (line: string) => boolean): Promise<SlowTarget> {
  const passed: string[] = []
  const waiting: { count: number; resolve: () => void }[] = []
  let held = 0
  const pass = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const { method, headers } = incoming
    const onwards = request(new URL(incoming.url ?? '/', behind), { method: method ?? 'GET', headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(outgoing)
    })
    onwards.on('error', () => outgoing.destroy())
    incoming.pipe(onwards)
  }
  const server = createServer((incoming, outgoing) => {
    const line = `${incoming.method} ${incoming.url}`
    if (!holds(line)) {
      passed.push(line)
      return pass(incoming, outgoing)
    }
    held++
    for (const { count, resolve } of waiting) if (held >= count) resolve()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed,
    held: (count) =>
      new Promise((resolve) => {
        if (held >= count) resolve()
        else waiting.push({ count, resolve })
      }),
  }
}
