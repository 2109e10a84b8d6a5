import type { Socket } from 'node:net'
import type { Dispatcher } from 'undici'
import { type Endpoint, createDispatcher } from './dispatcher.ts'
import { type AnswerWatch, watchAnswer } from './informational.ts'
import type { Tag } from './message.ts'

/** One open connection. */
export interface Connection {
  readonly watch: AnswerWatch
  /** Exchanges that were begun on it. */
  exchanges: number
  /** Of the last one. */
  tag: Tag | undefined
}

/** A place for one connection, and one exchange at a time: it connects when it has to, and again after a close. */
export interface ConnectionSlot {
  readonly endpoint: Endpoint
  /** The connection that was opened last, if any. */
  readonly connection: Connection | undefined
  readonly dispatch: Dispatcher['dispatch']
  /** Destroys the socket, also one that is still connecting. The slot is of no use afterwards. */
  hangUp(): Promise<void>
}

/** After a write failed, answers that are there already are read for so long, in ms. */
const readingMs = 100

export function openConnectionSlot(endpoint: Endpoint): ConnectionSlot {
  const sockets = new Set<Socket>()
  let connection: Connection | undefined
  const dispatcher = createDispatcher(endpoint, {
    opening(socket) {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    },
    connected(socket) {
      readBeforeWriteErrors(socket)
      connection = { watch: watchReads(socket), exchanges: 0, tag: undefined }
    },
  })
  return {
    endpoint,
    get connection() {
      return connection
    },
    dispatch: (options, handler) => dispatcher.dispatch(options, handler),
    async hangUp() {
      const gone = dispatcher.destroy().catch(() => {})
      for (const socket of sockets) socket.destroy()
      await gone
    },
  }
}

/** undici takes the bytes of a socket by `read`: there they can be seen as it sees them, TLS already taken off. */
function watchReads(socket: Socket): AnswerWatch {
  const watch = watchAnswer()
  const read = socket.read
  socket.read = function (size) {
    const chunk: unknown = read.call(socket, size)
    if (chunk instanceof Uint8Array) watch.see(chunk)
    return chunk
  }
  return watch
}

/**
 * A server may answer before it has read the body, and close: what it sent is there to be read, but the error of a write
 * would destroy the socket first. So such an error is told when the reading has come to its end, or after a moment.
 */
function readBeforeWriteErrors(socket: Socket): void {
  const late =
    (done: (error?: Error | null) => void) =>
    (error?: Error | null): void => {
      if (!error || socket.destroyed) return done(error)
      const tell = (): void => {
        clearTimeout(timer)
        socket.off('close', tell)
        done(error)
      }
      const timer = setTimeout(tell, readingMs)
      socket.once('close', tell)
    }
  const { _write: write, _writev: writev } = socket
  socket._write = (chunk, encoding, done) => write.call(socket, chunk, encoding, late(done))
  if (writev) socket._writev = (chunks, done) => writev.call(socket, chunks, late(done))
}
