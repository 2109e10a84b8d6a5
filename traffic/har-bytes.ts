import { constants } from 'node:buffer'
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { unreadable, UserError } from '../harness/user-error.ts'
import { isObject } from '../schemas/json.ts'

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

/**
 * A body as a HAR holds it. `whole`: all of it; `cut`: the recorder says, or the length shows, that an end is missing;
 * `missing`: it was not recorded, or not decoded.
 */
export interface HarBody {
  readonly state: 'whole' | 'cut' | 'missing'
  readonly bytes: Uint8Array
  /** Bytes of the whole body and its SHA-256 in hex, if it was cut and the recorder says so. */
  readonly length?: number
  readonly sha256?: string
}

export const noBody: HarBody = { state: 'whole', bytes: new Uint8Array() }
const missing: HarBody = { state: 'missing', bytes: new Uint8Array() }

type Header = (name: string) => string | undefined

/** The body of an answer (`content`), or of a request (`postData`, whose size is in another member). */
export function harBody(holder: unknown, header: Header, declaredSize?: unknown): HarBody {
  const content = isObject(holder) ? holder : {}
  const { text, comment } = content
  const size = content['size'] ?? declaredSize
  if (typeof text !== 'string') return header('content-length') === '0' ? noBody : missing
  // Browsers leave an empty text if they did not keep the body.
  if (text === '' && Number(header('content-length') ?? 0) > 0) return missing
  const base64 = (content['encoding'] ?? content['_encoding']) === 'base64'
  const bytes = Buffer.from(text, base64 ? 'base64' : 'utf8')
  const remarked = typeof comment === 'string' && comment !== ''
  if (content['_cut'] === true || remarked || (typeof size === 'number' && size > bytes.length)) {
    return { state: 'cut', bytes, ...wholeOf(content, size) }
  }
  return base64 && isEncoded(bytes, header) ? missing : { state: 'whole', bytes }
}

function wholeOf(content: Record<string, unknown>, size: unknown): Pick<HarBody, 'length' | 'sha256'> {
  const length = content['_bodyLength'] ?? size
  const sha256 = content['_bodySha256']
  return {
    ...(typeof length === 'number' && length >= 0 ? { length } : {}),
    ...(typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256) ? { sha256 } : {}),
  }
}

/** Some recorders keep a compressed body as it came. */
function isEncoded(bytes: Uint8Array, header: Header): boolean {
  const coding = header('content-encoding') ?? 'identity'
  if (coding === '' || coding === 'identity') return false
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return false
  } catch {
    return true
  }
}
