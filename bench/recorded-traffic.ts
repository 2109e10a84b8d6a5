import { createServer, request as forward, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, createServer as createSocketServer, type Socket } from 'node:net'

/** A request as it was sent, and what the target said to it. */
export interface Recorded {
  readonly method: string
  readonly path: string
  readonly headers: readonly string[]
  /** Base64. */
  readonly body: string
  readonly response: { readonly status: number; readonly headers: readonly string[]; readonly body: Buffer }
}

interface Listening {
  readonly url: string
  close(): void
}

async function bytesOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

async function listen(server: ReturnType<typeof createServer>): Promise<Listening> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = (): void => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${port}`, close }
}

const ofConnection = /^(connection|keep-alive|transfer-encoding|content-length|host)$/i

/** Header lines, names and values in turn, without those that belong to one connection. */
function kept(raw: readonly string[]): string[] {
  return raw.filter((_, at) => !ofConnection.test(raw[at - (at % 2)]!))
}

/** Stands before a target and keeps whatever passes. */
export async function recordBefore(target: string, traffic: Recorded[]): Promise<Listening> {
  const { hostname, port } = new URL(target)
  const server = createServer((request, response) => {
    void (async () => {
      const body = await bytesOf(request)
      const { method = 'GET', url: path = '/', rawHeaders: headers } = request
      const passed = forward({ hostname, port, method, path, headers: headers as never })
      passed.end(body)
      passed.on('response', (received) => {
        void bytesOf(received).then((bytes) => {
          const { statusCode: status = 500, rawHeaders } = received
          response.writeHead(status, kept(rawHeaders))
          response.end(bytes)
          traffic.push({
            ...{ method, path, headers: kept(headers), body: body.toString('base64') },
            response: { status, headers: kept(rawHeaders), body: bytes },
          })
        })
      })
    })()
  })
  return listen(server)
}

/** Says again what was recorded, request by request, at no cost but that of sending it. */
export async function playBack(traffic: readonly Recorded[]): Promise<Listening> {
  const responses = new Map<string, Recorded['response'][]>()
  const keyOf = (method = '', path = ''): string => `${method} ${path}`
  for (const { method, path, response } of traffic) {
    const key = keyOf(method, path)
    responses.set(key, [...(responses.get(key) ?? []), response])
  }
  const server = createServer((request, response) => {
    const queue = responses.get(keyOf(request.method, request.url))
    const next = queue?.shift()
    if (!queue || !next) {
      response.writeHead(500).end()
      return
    }
    queue.push(next)
    request.resume().on('end', () => response.writeHead(next.status, next.headers as never).end(next.body))
  })
  return listen(server)
}

/** Hands on what comes, each piece so many ms later, in order. */
function passLater(from: Socket, to: Socket, ms: number): void {
  from.on('data', (piece: Buffer) => setTimeout(() => to.write(piece), ms))
  from.on('end', () => setTimeout(() => to.end(), ms))
  from.on('error', () => to.destroy())
  from.on('close', () => setTimeout(() => to.destroy(), ms))
}

/** A target that is far away: every request, and every answer, takes half of `latencyMs` more. */
export async function delayBefore(target: string, latencyMs: number): Promise<Listening> {
  const { hostname, port } = new URL(target)
  const open = new Set<Socket>()
  const server = createSocketServer((near) => {
    const far = connect(Number(port), hostname)
    for (const socket of [near, far]) {
      socket.setNoDelay(true)
      open.add(socket)
      socket.on('close', () => open.delete(socket))
    }
    passLater(near, far, latencyMs / 2)
    passLater(far, near, latencyMs / 2)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close()
      for (const socket of open) socket.destroy()
    },
  }
}
