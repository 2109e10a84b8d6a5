import { constants } from 'node:buffer'
import { firstError } from '../harness/report/index.ts'
import { isObject, member } from '../schemas/json.ts'
import { UserError } from '../harness/user-error.ts'
import { type EntryPlace, scanEntries, type HarBytes, openBytes } from './har-bytes.ts'
import { recordedEntry, type RecordedEntry, Unreadable } from './recorded-entry.ts'

/** A HAR 1.2 file, of which one entry at a time is in memory. */
export type Har = ReturnType<typeof openHar>

/**
 * Reads a HAR from its beginning to its end. Throws UserError, naming the place, if it is not one. An entry that HAR 1.2 does not
 * allow costs no other.
 * @param see is given each entry, in the order of the file
 */
export function openHar(path: string, see: (entry: RecordedEntry) => void) {
  const bytes = openBytes(path)
  const places: EntryPlace[] = []
  const times = new Map<number, number>()
  const unreadable: string[] = []
  const entryAt = (place: EntryPlace, index: number, where: string): RecordedEntry =>
    recordedEntry(parsed(bytes, place, where), index, bytes.attachment)
  const around = scanEntries(
    bytes.pieces(),
    (start, end) => textOf(bytes, start, end),
    (place) => {
      const index = places.push(place) - 1
      try {
        const entry = entryAt(place, index, ` (log.entries[${index}])`)
        times.set(index, entry.startedAt ?? NaN)
        see(entry)
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error
        unreadable.push(error.message)
      }
    },
  )
  const creator = creatorOf(bytes, around)
  if (times.size === 0 && unreadable[0] !== undefined)
    throw new UserError(`${bytes.path}: ${unreadable[0]}`)
  return {
    /** The indexes of the entries in the order in which the requests were sent, if the file says when that was. */
    inTime: inTime(times),
    entry: (index: number): RecordedEntry => entryAt(places[index]!, index, ''),
    /** Why entries could not be read, a sentence each. */
    unreadable,
    creator,
  }
}

function inTime(times: ReadonlyMap<number, number>): readonly number[] {
  const indexes = [...times.keys()]
  if ([...times.values()].includes(NaN)) return indexes
  return indexes.sort((a, b) => times.get(a)! - times.get(b)!)
}

/** The name of the program that wrote it. Throws UserError if what is beside the entries is not JSON, or shows that there are none. */
function creatorOf(
  bytes: HarBytes,
  { from, to }: ReturnType<typeof scanEntries>,
): string | undefined {
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
  const name = member(log['creator'], 'name')
  return typeof name === 'string' ? name : undefined
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

/** The longest text that one entry, or all that is beside the entries, may have: what a JavaScript string can hold. */
export const longestText = constants.MAX_STRING_LENGTH
