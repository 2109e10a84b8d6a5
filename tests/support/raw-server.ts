import net from 'node:net'

/** A server that listens on the loopback address. */
export interface Listening {
  readonly url: string
  readonly port: number
  /** Sockets that clients opened so far. */
  readonly sockets: readonly net.Socket[]
  /** Ends it and all its connections, at once. */
  close(): Promise<void>
}

/** Listens on the loopback address; on a free port if none is given. */
export async function listenOn(server: net.Server, asked = 0): Promise<Listening> {
  const sockets: net.Socket[] = []
  server.on('connection', (socket: net.Socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => server.listen(asked, '127.0.0.1', resolve))
  const { port } = server.address() as net.AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    sockets,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

/** A port on the loopback address that was free a moment ago: for programs that need a port number, or find nobody there. */
export async function freePort(): Promise<number> {
  const { port, close } = await listenOn(net.createServer())
  await close()
  return port
}

/** One request as it stood on the wire, and the socket to answer on. */
export interface Asked {
  /** Head and body, one character a byte. */
  readonly text: string
  readonly method: string
  /** Path without its query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly socket: net.Socket
  /** Place among all requests of the server, from 0. */
  readonly number: number
  /** Place among the requests of this connection, from 1. */
  readonly count: number
}

export type Behaviour = (asked: Asked) => void

/** Serves each connection, anyone who made it: `answer` is called once for each whole request, and writes whatever it wants. */
export function serving(answer: Behaviour): (socket: net.Socket) => void {
  let number = 0
  return (socket) => {
    let text = ''
    let count = 0
    // How long it has to be before it is worth a look: each look puts all of its pieces together.
    let wanted = 0
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      while (text.length >= wanted) {
        const read = requestIn(text)
        wanted = read?.end ?? text.length + 1
        if (read === undefined || text.length < wanted) return
        const own = text.slice(0, wanted)
        text = text.slice(wanted)
        wanted = 0
        count += 1
        answer({ ...read, text: own, socket, number: number++, count })
      }
    })
    socket.on('error', () => undefined)
  }
}

/** A bare TCP server. */
export function startRaw(answer: Behaviour): Promise<Listening> {
  return listenOn(net.createServer(serving(answer)))
}

/** A connection to another server for each of ours. */
const onwards = new WeakMap<net.Socket, net.Socket>()

/** Hands a request on as it is to a server on that port, and its answer back. */
export function passOn({ text, socket }: Asked, port: number): void {
  let onward = onwards.get(socket)
  if (!onward) {
    const to = net.connect(port, '127.0.0.1').on('error', () => socket.destroy())
    socket.on('close', () => to.destroy())
    to.pipe(socket)
    onwards.set(socket, (onward = to))
  }
  onward.write(text, 'latin1')
}

/** The request that the text begins with, as far as it is there, and where it ends; undefined before the end of its head. */
function requestIn(
  text: string,
): (Omit<Asked, 'text' | 'socket' | 'number' | 'count'> & { end: number }) | undefined {
  const head = text.indexOf('\r\n\r\n')
  if (head < 0) return undefined
  const [line = '', ...lines] = text.slice(0, head).split('\r\n')
  const headers = Object.fromEntries(
    lines.map((each) => [
      each.slice(0, each.indexOf(':')).toLowerCase(),
      each.slice(each.indexOf(':') + 2),
    ]),
  )
  const end = head + 4 + Number(headers['content-length'] ?? 0)
  const [method = '', target = ''] = line.split(' ')
  return {
    method,
    path: target.split('?')[0] as string,
    headers,
    body: text.slice(head + 4, end),
    end,
  }
}

/** A whole answer; its length is right unless a header says otherwise. */
export function http(
  status: number,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): Buffer {
  const bytes = Buffer.from(body as string)
  const all = {
    'content-type': 'application/json',
    'content-length': String(bytes.length),
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([
    Buffer.from(`HTTP/1.1 ${status} Status\r\n${lines.join('')}\r\n`, 'latin1'),
    bytes,
  ])
}

/** Answers every request with the same bytes. */
export const always =
  (bytes: string | Uint8Array): Behaviour =>
  ({ socket }) =>
    void socket.write(bytes)

/** An error envelope. */
export const envelope = (tpe: string, more: object = {}): string =>
  JSON.stringify({
    tpe,
    errors: [{ description: tpe, key: 'some.key', extras: {} }],
    extras: {},
    ...more,
  })
