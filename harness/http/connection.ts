import type { Socket } from 'node:net'
import { createDispatcher, type Endpoint } from './endpoint.ts'
import type { Connection, Line } from './exchange.ts'

export interface ConnectionLine extends Line {
  /** Destroys the socket, even while connecting. The line cannot be used afterwards. */
  hangUp(): Promise<void>
}

export function openLine(endpoint: Endpoint): ConnectionLine {
  const sockets = new Set<Socket>()
  let connection: Connection | undefined
  const dispatcher = createDispatcher(endpoint, {
    opening(socket) {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    },
    connected(socket) {
      connection = { bytes: 0, exchanges: 0, tag: undefined }
      readBeforeWriteErrors(socket)
      watchReads(socket, connection)
    },
  })
  return {
    endpoint,
    get connection() {
      return connection
    },
    dispatch: dispatcher.dispatch.bind(dispatcher),
    async hangUp() {
      const gone = dispatcher.destroy().catch(() => {})
      for (const socket of sockets) socket.destroy()
      await gone
    },
  }
}

const readingMs = 100

/**
 * A server may answer before it has read the body, and close. The write error would destroy the socket before that
 * answer is read, so the error is delayed.
 */
function readBeforeWriteErrors(socket: Socket): void {
  type Done = (error?: Error | null) => void
  const late = (done: Done) => (error?: Error | null) =>
    error ? void setTimeout(done, readingMs, error) : done()
  const { _write: write, _writev: writev } = socket
  socket._write = (chunk, encoding, done) => write.call(socket, chunk, encoding, late(done))
  if (writev) socket._writev = (chunks, done) => writev.call(socket, chunks, late(done))
}

const endOfHead = '\r\n\r\n'

/**
 * undici calls `read` on the socket: this counts the bytes there, without TLS. It also turns an unrequested `100
 * Continue`, which undici refuses, into 102, which it skips: clients must skip any 1xx (RFC 9110 §15.2).
 */
function watchReads(socket: Socket, connection: Connection): void {
  const read = socket.read
  let isInformational = true
  socket.read = function (size) {
    const chunk: unknown = read.call(socket, size)
    if (!Buffer.isBuffer(chunk)) return chunk
    isInformational ||= connection.bytes === 0
    connection.bytes += chunk.length
    for (let at = 0; isInformational && at < chunk.length;) {
      const status = chunk.toString('latin1', at, at + 'HTTP/1.1 100'.length)
      isInformational = status.startsWith('HTTP/1.1 1')
      if (status.endsWith(' 100')) chunk.write('102', at + 'HTTP/1.1 '.length)
      const end = chunk.indexOf(endOfHead, at)
      at = end < 0 ? chunk.length : end + endOfHead.length
    }
    return chunk
  }
}
