import type { RecordedHeaders } from './recorded.ts'
import type { HeaderLine } from '../http/message.ts'

/** Most lines of an answer's head that are recorded, and most characters of their names and values. */
const recordedLines = 100
const recordedCharacters = 16 * 1024

/** A key that begins in what is kept of a value is found to its end, and what follows need not be read. */
const overlap = 64 * 1024

/** Stands for the lines that are left out. */
const leftOut = 'conform-left-out'

/** Recorded wherever they stand among the headers: answers are judged by them, those of a recording too. */
const judged = new Set(['content-type', 'content-encoding', 'content-length', 'location', 'retry-after', 'date'])

/** A line as it may be shown, its name in lower case. */
export type Shown = (line: HeaderLine) => HeaderLine

/** Headers as they are recorded: keys removed, by name. */
export function recordHeaders(lines: readonly HeaderLine[], shown: Shown): RecordedHeaders {
  const recorded: RecordedHeaders = Object.create(null) as RecordedHeaders
  for (const line of lines) {
    const { name, value } = shown(line)
    recorded[name] = name in recorded ? `${recorded[name]}, ${value}` : value
  }
  return { ...recorded }
}

/** The headers of an answer. There may be any number of them, of any length: what is over the limits is only counted. */
export function recordHead(lines: readonly HeaderLine[], shown: Shown): RecordedHeaders {
  const room = roomOf(lines)
  const kept = lines.filter((line) => room.has(line))
  const recorded = recordHeaders(kept, (line) => cut(line, room.get(line)!, shown))
  if (kept.length < lines.length) recorded[leftOut] = `${lines.length - kept.length} of ${lines.length} header lines`
  return recorded
}

/** The lines that are recorded, with the characters that each value may take. */
function roomOf(lines: readonly HeaderLine[]): Map<HeaderLine, number> {
  const isJudged = ({ name }: HeaderLine): boolean => judged.has(name.toLowerCase())
  const room = new Map<HeaderLine, number>()
  let left = recordedCharacters
  for (const line of [...lines.filter(isJudged), ...lines.filter((other) => !isJudged(other))]) {
    if (room.size === recordedLines) break
    if (line.name.length + Math.min(1, line.value.length) > left) continue
    left -= line.name.length
    room.set(line, Math.min(left, line.value.length))
    left -= Math.min(left, line.value.length)
  }
  return room
}

function cut({ name, value }: HeaderLine, room: number, shown: Shown): HeaderLine {
  const line = shown({ name, value: value.slice(0, room + overlap) })
  // What is shown of a key may be longer than the key.
  if (room >= value.length) return line
  return { name: line.name, value: `${line.value.slice(0, room)} (cut: ${value.length} characters in all)` }
}
