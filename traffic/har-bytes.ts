import { fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { unzipSync } from 'fflate'
import { unreadable, UserError } from '../harness/user-error.ts'
import { parsedJson } from '../schemas/json.ts'

const pieceBytes = 1024 * 1024

/** The bytes of a recording, of which any stretch can be had again, and the files that belong to it. */
export type HarBytes = ReturnType<typeof openBytes>

/**
 * Opens a recording: a file, a `.zip` that holds one, or `-`, the standard input. Throws UserError if it cannot be read. What can
 * be read once only is held in memory.
 */
export function openBytes(path: string) {
  const name = path === '-' ? 'the standard input' : path
  const reading = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      throw error instanceof UserError ? error : unreadable(name, error)
    }
  }
  // It is read until the process ends.
  const fd = path === '-' ? 0 : reading(() => openSync(path, 'r'))
  const stat = reading(() => fstatSync(fd))
  const all = stat.isFile() ? undefined : reading(() => readFileSync(fd))
  const first = all?.subarray(0, 4) ?? reading(() => beginningOf(fd))
  refuseOtherForms(first, name)
  const archive = isZip(first)
    ? unzipped(all ?? reading(() => readFileSync(path)), name)
    : undefined
  const held = archive?.har ?? all
  const size = held?.length ?? stat.size
  const fill = (room: Buffer, from: number): Buffer => {
    for (let got = 0; got < room.length;) {
      const more = held
        ? Buffer.from(held.buffer, held.byteOffset, held.length).copy(room, got, from + got)
        : readSync(fd, room, got, room.length - got, from + got)
      if (more === 0) throw new UserError(`${name}: became shorter while being read; try again`)
      got += more
    }
    return room
  }
  let room = Buffer.allocUnsafeSlow(pieceBytes)
  return {
    path: name,
    size,
    /** The memory that is read into is used again: no stretch is to be kept when the next one is asked for. */
    read(start: number, end: number): Buffer {
      if (room.length < end - start) room = Buffer.allocUnsafeSlow(end - start)
      return reading(() => fill(room.subarray(0, end - start), start))
    },
    /** Reads it from its beginning, a piece at a time, up to that byte. */
    *pieces(end = size): Generator<Buffer> {
      const piece = Buffer.allocUnsafeSlow(pieceBytes)
      for (let at = 0; at < end; at += pieceBytes) {
        yield reading(() => fill(piece.subarray(0, Math.min(pieceBytes, end - at)), at))
      }
    },
    /** A body that the recorder wrote to a file of its own: in the archive, or beside the recording. Undefined if it is not there. */
    attachment(file: string): Uint8Array | undefined {
      const place = normalize(file)
      if (archive) return Object.hasOwn(archive.files, place) ? archive.files[place] : undefined
      if (path === '-' || place.startsWith('..') || !/^[^/\\:]/.test(place)) return undefined
      const beside = join(dirname(path), place)
      try {
        // A pipe would be waited for, and a device may never end.
        return statSync(beside).isFile() ? readFileSync(beside) : undefined
      } catch {
        return undefined
      }
    },
  }
}

function beginningOf(fd: number): Buffer {
  const bytes = Buffer.alloc(4)
  return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, 0))
}

const isZip = (bytes: Uint8Array): boolean => startsWith(bytes, [0x50, 0x4b, 0x03, 0x04])
const startsWith = (bytes: Uint8Array, first: readonly number[]): boolean =>
  first.every((byte, at) => bytes[at] === byte)

/** Forms in which recordings lie about, by their first bytes. */
const otherForms: readonly [first: readonly number[], text: string][] = [
  [[0x1f, 0x8b], 'is compressed by gzip; unpack it first (gunzip)'],
  [[0x78, 0x9c], 'is compressed by zlib, as mitmproxy writes .zhar; save it as .har there'],
  [[0xff, 0xfe], 'is text in UTF-16; save it as UTF-8'],
  [[0xfe, 0xff], 'is text in UTF-16; save it as UTF-8'],
  [[0x7b, 0x00], 'is text in UTF-16; save it as UTF-8'],
]

function refuseOtherForms(first: Uint8Array, name: string): void {
  const form = otherForms.find(([bytes]) => startsWith(first, bytes))
  if (form) throw new UserError(`${name}: ${form[1]}`)
}

/** Most bytes that an archive may unpack to. */
const mostUnpacked = 1024 ** 3

/** The recording in an archive as Playwright writes one, and the files beside it. */
function unzipped(bytes: Uint8Array, name: string) {
  let size = 0
  let files: Record<string, Uint8Array>
  try {
    files = unzipSync(bytes, {
      filter: ({ originalSize }) => {
        size += originalSize
        return size <= mostUnpacked
      },
    })
  } catch {
    throw new UserError(`${name}: is a zip archive that cannot be unpacked`)
  }
  if (size > mostUnpacked)
    throw new UserError(`${name}: unpacks to more than 1 GB; unpack it, and give the .har in it`)
  const hars = Object.keys(files).filter((file) => file.toLowerCase().endsWith('.har'))
  const found = hars.find((file) => file === 'har.har') ?? hars[0]
  if (found === undefined || (hars.length > 1 && found !== 'har.har'))
    throw new UserError(
      hars.length > 1
        ? `${name}: holds several .har files; unpack it, and give one of them`
        : `${name}: is a zip archive without a .har; export the traffic as HAR 1.2 (Fiddler: HTTPArchive v1.2, Playwright: recordHar)`,
    )
  return { har: files[found]!, files }
}

const [quote, backslash, comma, colon, openBrace, closeBrace, openBracket, closeBracket] =
  Buffer.from('"\\,:{}[]')

/** The range of an entry's bytes: from the one after the bracket or comma before it, to the one before the next. */
export interface EntryPlace {
  readonly start: number
  readonly end: number
}

/** Depth of the entries: they stand in an array, in `log`, in the root. */
const entriesDepth = 3
/** Every character of a name can be written in six. */
const longestName = 6 * 'entries'.length + 2

/**
 * Finds the entries of a HAR in its bytes, which come piece by piece. It looks at brackets, commas and texts only: whether what it
 * cuts out is JSON is for `JSON.parse` to say, which reads the entries one by one, and once more what is left without them. A
 * general parser that streams builds every value by itself, and takes three to ten times as long.
 *
 * Gives the beginning of the array, after its bracket, and its end, at its bracket; undefined if it was not met.
 * @param read text of the bytes from `start` to `end`, which came already
 * @param onEntry called for each entry as soon as its end is known
 */
export function scanEntries(
  pieces: Iterable<Buffer>,
  read: (start: number, end: number) => string,
  onEntry: (place: EntryPlace) => void,
): { readonly from: number | undefined; readonly to: number | undefined } {
  let from: number | undefined
  let to: number | undefined
  let depth = 0
  const names: (string | undefined)[] = []
  let isText = false
  let isEscaped = false
  let text: EntryPlace = { start: 0, end: 0 }
  let entryFrom = 0

  const nameRead = (): string | undefined =>
    text.end - text.start > longestName ? undefined : String(parsedJson(read(text.start, text.end)))
  const mark = (code: number, at: number): void => {
    const isBetween = from !== undefined && to === undefined && depth === entriesDepth
    if (code === openBrace || code === openBracket) {
      if (
        code === openBracket &&
        from === undefined &&
        depth === 2 &&
        names[1] === 'log' &&
        names[2] === 'entries'
      )
        from = entryFrom = at + 1
      names[++depth] = undefined
    } else if (isBetween && code === comma) {
      onEntry({ start: entryFrom, end: at })
      entryFrom = at + 1
    } else if (isBetween && code === closeBracket) {
      const isEmpty = entryFrom === from && !/[^ \t\r\n]/.test(read(entryFrom, at))
      if (!isEmpty) onEntry({ start: entryFrom, end: at })
      to = at
      depth--
    } else if (!isBetween && (code === closeBrace || code === closeBracket)) depth--
    else if (depth < entriesDepth && code === colon) names[depth] = nameRead()
    else if (depth < entriesDepth && code === comma) names[depth] = undefined
  }

  let before = 0
  for (const bytes of pieces) {
    for (let at = 0; at < bytes.length; at++) {
      const code = bytes[at]!
      if (isText) {
        if (isEscaped) isEscaped = false
        else if (code === backslash) isEscaped = true
        else if (code === quote) {
          isText = false
          text = { ...text, end: before + at + 1 }
        }
      } else if (code === quote) {
        isText = true
        text = { start: before + at, end: 0 }
      } else if (code >= colon! || code === comma) mark(code, before + at)
    }
    before += bytes.length
  }
  if (from !== undefined && to === undefined) onEntry({ start: entryFrom, end: before })
  return { from, to }
}
