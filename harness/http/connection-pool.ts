import type { Socket } from 'node:net'
import { createDispatcher, type Endpoint } from './endpoint.ts'
import type { Tag } from './message.ts'
import type { Ending } from './under-way.ts'

/**
 * At most `size` slots; the one used last is given out first, so that connections stay warm. undici's own pool gives no
 * connection of which is known what went before on it, and none that is fresh or a certain one.
 */
export function createConnectionPool(endpoint: Endpoint, size: number) {
  const open = new Set<ConnectionSlot>()
  const free: ConnectionSlot[] = []
  const waiting = new Set<() => void>()

  /** A free slot, or a new one; undefined if as many as may be are in use. */
  function available(wantsFresh: boolean): ConnectionSlot | undefined {
    if (wantsFresh && open.size >= size) dropOne()
    const slot = wantsFresh ? undefined : free.pop()
    if (slot || open.size >= size) return slot
    const fresh = openConnectionSlot(endpoint)
    open.add(fresh)
    return fresh
  }

  /** Gives a slot as soon as one is available; undefined if the exchange has to end before. */
  async function take(ending: Ending, wantsFresh: boolean): Promise<ConnectionSlot | undefined> {
    while (ending.cause === undefined) {
      const slot = available(wantsFresh)
      if (slot) return slot
      await turn(ending)
    }
    // It may have been woken for the slot that it does not take.
    wake()
    return undefined
  }

  /** Ends when a slot may have become free, or the exchange has to end. */
  function turn(ending: Ending): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        waiting.delete(end)
        ending.drop = undefined
        resolve()
      }
      waiting.add(end)
      ending.drop = end
    })
  }

  /** Gives a slot back; one that cannot be used again is hung up. */
  function give(slot: ConnectionSlot, reusable: boolean): void {
    if (reusable) free.push(slot)
    else drop(slot)
    wake()
  }

  function drop(slot: ConnectionSlot): void {
    open.delete(slot)
    void slot.hangUp()
  }

  function dropOne(): boolean {
    const slot = free.pop()
    if (slot) drop(slot)
    return slot !== undefined
  }

  /** Hangs up the slots that wait for use: if one was closed by the other side, they are likely to be. */
  function dropFree(): void {
    while (dropOne());
    wake()
  }

  /** One waiter at a time; one that was woken but is past its deadline wakes the next. */
  function wake(): void {
    const [next] = waiting
    next?.()
  }

  async function close(): Promise<void> {
    await Promise.all([...open].map((slot) => slot.hangUp()))
    open.clear()
    free.length = 0
  }

  return { take, give, dropFree, close, idle: () => free.length }
}

export interface Connection {
  readonly watch: ResponseWatch
  exchanges: number
  /** The mark of the last exchange. */
  tag: Tag | undefined
}

export type ConnectionSlot = ReturnType<typeof openConnectionSlot>

/** A place for one connection, and one exchange at a time: it connects when it has to, and again after a close. */
function openConnectionSlot(endpoint: Endpoint) {
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
    /** The connection that was opened last, if any. */
    get connection() {
      return connection
    },
    dispatch: dispatcher.dispatch.bind(dispatcher),
    /** Destroys the socket, also one that is still connecting. The slot is of no use afterwards. */
    async hangUp(): Promise<void> {
      const gone = dispatcher.destroy().catch(() => {})
      for (const socket of sockets) socket.destroy()
      await gone
    },
  }
}

/** After a write failed, answers that are there already are read for so long, in ms. */
const readingMs = 100

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

/** undici takes the bytes of a socket by `read`: there they can be seen as it sees them, TLS already taken off. */
function watchReads(socket: Socket): ResponseWatch {
  const watch = watchResponse()
  const read = socket.read
  socket.read = function (size) {
    const chunk: unknown = read.call(socket, size)
    if (chunk instanceof Uint8Array) watch.see(chunk)
    return chunk
  }
  return watch
}

type ResponseWatch = ReturnType<typeof watchResponse>

const [cr, lf, zero, one, two, h] = Buffer.from('\r\n012H') as unknown as readonly number[]

/** Places of the status digits in `HTTP/1.1 100`. */
const firstDigit = 9
const lastDigit = 11

/**
 * Reads along with the bytes of an answer, up to the status line of the final one.
 *
 * undici takes an unasked `100 Continue` for a broken answer, though a client has to skip any 1xx (RFC 9110 §15.2);
 * so it is shown 102 instead, which it skips. The last digit is changed in place: no byte is held back or added.
 */
function watchResponse() {
  let bytes = 0
  /** Place in the status line; past the last digit while the rest of an informational head passes by. */
  let place = 0
  let emptyLine = false
  let isFinal = false
  let isHundred = false

  function step(chunk: Uint8Array, at: number): void {
    const byte = chunk[at]
    if (place > lastDigit) {
      if (byte === lf && emptyLine) place = 0
      else if (byte === lf) emptyLine = true
      else if (byte !== cr) emptyLine = false
      return
    }
    if (place === 0 && (byte === cr || byte === lf)) return
    if (place === firstDigit && byte !== one) isFinal = true
    if (place === firstDigit + 1) isHundred = byte === zero
    if (place === lastDigit) {
      if (isHundred && byte === zero) chunk[at] = two!
      emptyLine = false
    }
    place += 1
  }

  return {
    /** Bytes seen since the last `begin`, after TLS. */
    get bytes() {
      return bytes
    },
    /** The next byte is the first of a new answer. */
    begin(): void {
      bytes = 0
      place = 0
      isFinal = false
    },
    see(chunk: Uint8Array): void {
      bytes += chunk.length
      // Nearly every answer is its own final one, and begins with a chunk that holds its status.
      if (place === 0 && chunk.length > firstDigit && chunk[0] === h && chunk[firstDigit] !== one)
        isFinal = true
      for (let at = 0; at < chunk.length && !isFinal; at += 1) step(chunk, at)
    },
  }
}
