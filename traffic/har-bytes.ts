import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { constants } from 'node:buffer'
import { unreadable, UserError } from '../harness/user-error.ts'

/** Bytes that are read at once. */
const pieceBytes = 1024 * 1024

/** The longest text that one entry, or all that is beside the entries, may have: what a JavaScript string can hold. */
export const longestText = constants.MAX_STRING_LENGTH

/** The bytes of a file, of which any stretch can be had again. */
export interface HarBytes {
  readonly path: string
  readonly size: number
  read(start: number, end: number): Buffer
  /** Reads it from its beginning, a piece at a time, up to that byte. */
  pieces(end?: number): Iterable<Buffer>
}

/** Throws UserError if the file cannot be read. What is no file (a pipe) can be read once only, and is held in memory. */
export function openBytes(path: string): HarBytes {
  try {
    const fd = openSync(path, 'r')
    try {
      const stat = fstatSync(fd)
      if (stat.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' })
      return stat.isFile() ? ofFile(path, stat.size) : ofMemory(path, readFileSync(fd))
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    throw unreadable(path, error)
  }
}

function ofMemory(path: string, bytes: Buffer): HarBytes {
  return {
    path,
    size: bytes.length,
    read: (start, end) => bytes.subarray(start, end),
    pieces: (end = bytes.length) => (end === 0 ? [] : [bytes.subarray(0, end)]),
  }
}

/** The memory that is read into is used again: no stretch is to be kept when the next one is asked for. */
function ofFile(path: string, size: number): HarBytes {
  let from = 0
  let window: Buffer = Buffer.alloc(0)
  let room: Buffer = Buffer.allocUnsafeSlow(pieceBytes)
  return {
    path,
    size,
    read(start, end) {
      if (start < from || end > from + window.length) {
        const wanted = Math.min(size, Math.max(end, start + pieceBytes)) - start
        if (room.length !== Math.max(wanted, pieceBytes)) room = Buffer.allocUnsafeSlow(Math.max(wanted, pieceBytes))
        window = readInto(room.subarray(0, wanted), path, start)
        from = start
      }
      return window.subarray(start - from, end - from)
    },
    *pieces(end = size) {
      const piece = Buffer.allocUnsafeSlow(pieceBytes)
      for (let at = 0; at < end; at += pieceBytes) {
        yield readInto(piece.subarray(0, Math.min(pieceBytes, end - at)), path, at)
      }
    },
  }
}

/** Fills the bytes with those of the file from that place on. */
function readInto(bytes: Buffer, path: string, from: number): Buffer {
  let fd: number | undefined
  try {
    fd = openSync(path, 'r')
    for (let got = 0; got < bytes.length;) {
      const more = readSync(fd, bytes, got, bytes.length - got, from + got)
      if (more === 0) throw new UserError(`${path}: has become shorter while it was read`)
      got += more
    }
    return bytes
  } catch (error) {
    throw error instanceof UserError ? error : unreadable(path, error)
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}
