import { constants } from 'node:buffer'
import { fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { firstError } from '../harness/report/index.ts'
import { isObject } from '../schemas/json.ts'
import { unreadable, UserError } from '../harness/user-error.ts'
import { type EntryPlace, scanEntries } from './entry-scanner.ts'
import { recordedEntry, type RecordedEntry } from './recorded-entry.ts'

/** A HAR 1.2 file, of which one entry at a time is in memory. */
export type Har = ReturnType<typeof openHar>

/**
 * Reads a HAR from its beginning to its end. Throws UserError, naming the place, if it is not one.
 * @param see is given each entry, in the order of the file
 */
export function openHar(path: string, see: (entry: RecordedEntry) => void) {
  const bytes = openBytes(path)
  const places: EntryPlace[] = []
  const times: number[] = []
  const around = scanEntries(
    bytes.pieces(),
    (start, end) => textOf(bytes, start, end),
    (place) => {
      const index = places.push(place) - 1
      const entry = recordedEntry(parsed(bytes, place, ` (log.entries[${index}])`), index, path)
      times.push(entry.startedAt ?? NaN)
      see(entry)
    },
  )
  refuseOthers(bytes, around)
  return {
    /** The indexes of the entries in the order in which the requests were sent, if the file says when that was. */
    inTime: inTime(times),
    entry: (index: number): RecordedEntry =>
      recordedEntry(parsed(bytes, places[index]!, ''), index, path),
  }
}

function inTime(times: readonly number[]): readonly number[] {
  const indexes = Array.from(times.keys())
  if (times.includes(NaN)) return indexes
  return indexes.sort((a, b) => times[a]! - times[b]!)
}

/** Throws UserError if what is beside the entries is not JSON, or shows that there are none. */
function refuseOthers(bytes: HarBytes, { from, to }: ReturnType<typeof scanEntries>): void {
  const { path, size } = bytes
  const tailFrom = to ?? size
  const head = textOf(bytes, 0, from ?? size)
  const value = parsedOutside(bytes, [head, textOf(bytes, tailFrom, size)], tailFrom)
  const log = isObject(value) ? value['log'] : undefined
  if (!isObject(log))
    throw new UserError(`${path}: is not a HAR: it has no object log (record one as HAR 1.2)`)
  const { entries } = log
  if (!Array.isArray(entries))
    throw new UserError(`${path}: log.entries: must be an array (HAR 1.2)`)
  // A member that stands twice counts as it stands last, and then other entries were read.
  if (entries.length > 0 || from === undefined)
    throw new UserError(`${path}: log.entries: appears twice`)
}

function textOf(bytes: HarBytes, start: number, end: number): string {
  if (end - start > longestText) {
    const mb = (length: number): string => `${Math.round(length / 1e6)} MB`
    throw new UserError(
      `${bytes.path}: has ${mb(end - start)} in one piece from byte ${start}; an entry, and all that is beside the entries, may have ${mb(longestText)}`,
    )
  }
  return bytes.read(start, end).toString('utf8')
}

function parsed(bytes: HarBytes, { start, end }: EntryPlace, where: string): unknown {
  const text = textOf(bytes, start, end)
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw notJson(bytes, start + bytesBefore(firstError(text)?.offset ?? 0, text), where)
  }
}

function parsedOutside(
  bytes: HarBytes,
  [head, tail]: readonly [string, string],
  tailFrom: number,
): unknown {
  const mark = head.startsWith('\uFEFF') ? 1 : 0
  const text = head.slice(mark) + tail
  try {
    return JSON.parse(text) as unknown
  } catch {
    const offset = mark + (firstError(text)?.offset ?? 0)
    const isInHead = offset < head.length || tailFrom < head.length
    throw notJson(
      bytes,
      isInHead ? bytesBefore(offset, head) : tailFrom + bytesBefore(offset - head.length, tail),
      '',
    )
  }
}

function bytesBefore(offset: number, text: string): number {
  return Buffer.byteLength(text.slice(0, offset))
}

/** `is not JSON at line 3, column 17 (log.entries[5])`: both from 1. */
function notJson(bytes: HarBytes, at: number, where: string): UserError {
  let [line, column] = [1, 1]
  const decoder = new TextDecoder()
  for (const piece of bytes.pieces(at)) {
    const [first = '', ...others] = decoder.decode(piece, { stream: true }).split('\n')
    line += others.length
    column = others.length > 0 ? others.at(-1)!.length + 1 : column + first.length
  }
  return new UserError(`${bytes.path}: is not JSON at line ${line}, column ${column}${where}`)
}

const pieceBytes = 1024 * 1024

/** The longest text that one entry, or all that is beside the entries, may have: what a JavaScript string can hold. */
export const longestText = constants.MAX_STRING_LENGTH

/** The bytes of a file, of which any stretch can be had again. */
type HarBytes = ReturnType<typeof openBytes>

/** Throws UserError if the file cannot be read. What is no file (a pipe) can be read once only, and is held in memory. */
function openBytes(path: string) {
  const reading = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      throw error instanceof UserError ? error : unreadable(path, error)
    }
  }
  // It is read until the process ends.
  const fd = reading(() => openSync(path, 'r'))
  const stat = fstatSync(fd)
  const held = stat.isFile() ? undefined : reading(() => readFileSync(fd))
  const size = held?.length ?? stat.size
  const fill = (room: Buffer, from: number): Buffer => {
    for (let got = 0; got < room.length;) {
      const more = held
        ? held.copy(room, got, from + got)
        : readSync(fd, room, got, room.length - got, from + got)
      if (more === 0) throw new UserError(`${path}: became shorter while being read; try again`)
      got += more
    }
    return room
  }
  let room = Buffer.allocUnsafeSlow(pieceBytes)
  return {
    path,
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
  }
}
