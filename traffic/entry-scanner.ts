import { parsedJson } from '../schemas/json.ts'

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
  /** The member that is being read, by depth. */
  const names: (string | undefined)[] = []
  let isText = false
  let isEscaped = false
  /** The text that was read last. */
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
