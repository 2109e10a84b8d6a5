import { constants } from 'node:buffer'
import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import { visit } from 'jsonc-parser'
import { isObject } from '../schemas/json.ts'
import { unreadable, UserError } from '../harness/user-error.ts'
import { type EntryPlace, EntryScanner } from './entry-scanner.ts'
import { recordedEntry, type RecordedEntry } from './recorded-entry.ts'

/** A HAR 1.2 file, of which one entry at a time is in memory. */
export type Har = ReturnType<typeof openHar>

/**
 * Reads a HAR from its beginning to its end. Throws UserError, naming the place, if it is not one.
 * @param see is given each entry, in the order of the file
 */
export function openHar(path: string, see: (entry: RecordedEntry) => void) {
  const bytes = openBytes(path)
  const starts: number[] = []
  const ends: number[] = []
  const times: number[] = []
  const isEmpty = ({ start, end }: EntryPlace): boolean => /^[ \t\r\n]*$/.test(textOf(bytes, start, end))
  const onEntry = (place: EntryPlace): void => {
    const index = starts.length
    const entry = recordedEntry(parsed(bytes, place, ` (log.entries[${index}])`), index, path)
    starts.push(place.start)
    ends.push(place.end)
    times.push(entry.startedAt ?? NaN)
    see(entry)
  }
  // Between the brackets of an empty array there is no entry, but what is before its end looks like one.
  let last: EntryPlace | undefined
  const scanner = new EntryScanner(
    (start, end) => textOf(bytes, start, end),
    (place) => {
      if (last) onEntry(last)
      last = place
    },
  )
  for (const piece of bytes.pieces()) scanner.push(piece)
  scanner.end()
  if (last && !(starts.length === 0 && scanner.entriesTo !== undefined && isEmpty(last))) onEntry(last)
  refuseOthers(bytes, scanner)
  return {
    /** The indexes of the entries in the order in which the requests were sent, if the file says when that was. */
    inTime: inTime(times),
    entry(index: number): RecordedEntry {
      const place = { start: starts[index] as number, end: ends[index] as number }
      return recordedEntry(parsed(bytes, place, ''), index, path)
    },
  }
}

function inTime(times: readonly number[]): readonly number[] {
  const indexes = Array.from(times.keys())
  if (times.includes(NaN)) return indexes
  return indexes.sort((a, b) => times[a]! - times[b]!)
}

/** Throws UserError if what is beside the entries is not JSON, or shows that there are none. */
function refuseOthers(bytes: HarBytes, { entriesFrom, entriesTo }: EntryScanner): void {
  const { path, size } = bytes
  const before = { start: 0, end: entriesFrom ?? size }
  const after = entriesTo === undefined ? { start: size, end: size } : { start: entriesTo, end: size }
  const head = textOf(bytes, before.start, before.end).replace(/^\uFEFF/, '')
  const value = parsedOutside(bytes, [head, textOf(bytes, after.start, after.end)], after.start)
  const log = isObject(value) ? value['log'] : undefined
  if (!isObject(log)) throw new UserError(`${path}: is not a HAR: it has no object log (record one as HAR 1.2)`)
  const { entries } = log
  if (!Array.isArray(entries)) throw new UserError(`${path}: log.entries: must be an array (HAR 1.2)`)
  // A member that stands twice counts as it stands last, and then other entries were read.
  if (entries.length > 0 || entriesFrom === undefined) throw new UserError(`${path}: log.entries: appears twice`)
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
    throw notJson(bytes, { text, start, offset: firstError(text) }, where)
  }
}

function parsedOutside(bytes: HarBytes, [head, tail]: readonly [string, string], tailFrom: number): unknown {
  try {
    return JSON.parse(head + tail) as unknown
  } catch {
    const offset = firstError(head + tail)
    const place =
      offset < head.length || tailFrom < head.length
        ? { text: head, start: 0, offset }
        : { text: tail, start: tailFrom, offset: offset - head.length }
    throw notJson(bytes, place, '')
  }
}

/** Finds where the grammar of JSON is left first. The parser's own sentence quotes the text, which may hold a key. */
function firstError(text: string): number {
  let first: number | undefined
  visit(text, { onError: (_, offset) => void (first ??= offset) }, { disallowComments: true })
  return first ?? 0
}

interface Place {
  readonly text: string
  /** The byte of the file at which the text begins. */
  readonly start: number
  /** Position in the text, in UTF-16 units. */
  readonly offset: number
}

/** `is not JSON at line 3, column 17 (log.entries[5])` */
function notJson(bytes: HarBytes, { text, start, offset }: Place, where: string): UserError {
  const { line, column } = endOf(textsBefore(bytes, start, text.slice(0, offset)))
  return new UserError(`${bytes.path}: is not JSON at line ${line}, column ${column}${where}`)
}

/** The text before that byte of the file, a piece at a time, and what comes then. */
function* textsBefore(bytes: HarBytes, end: number, then: string): Generator<string> {
  const decoder = new TextDecoder()
  for (const piece of bytes.pieces(end)) yield decoder.decode(piece, { stream: true })
  yield then
}

/** The line and the column after these texts, both from 1. */
function endOf(texts: Iterable<string>): { line: number; column: number } {
  let line = 1
  let column = 1
  let last = ''
  for (const text of texts) {
    for (const character of text) {
      const isBreak = character === '\r' || (character === '\n' && last !== '\r')
      if (isBreak) line++
      column = isBreak || character === '\n' ? 1 : column + character.length
      last = character
    }
  }
  return { line, column }
}

const pieceBytes = 1024 * 1024

/** The longest text that one entry, or all that is beside the entries, may have: what a JavaScript string can hold. */
export const longestText = constants.MAX_STRING_LENGTH

/** The bytes of a file, of which any stretch can be had again. */
interface HarBytes {
  readonly path: string
  readonly size: number
  read(start: number, end: number): Buffer
  /** Reads it from its beginning, a piece at a time, up to that byte. */
  pieces(end?: number): Iterable<Buffer>
}

/** Throws UserError if the file cannot be read. What is no file (a pipe) can be read once only, and is held in memory. */
function openBytes(path: string): HarBytes {
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
      if (more === 0) throw new UserError(`${path}: became shorter while being read; try again`)
      got += more
    }
    return bytes
  } catch (error) {
    throw error instanceof UserError ? error : unreadable(path, error)
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}
