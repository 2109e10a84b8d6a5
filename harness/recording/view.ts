import { type Unescape, unescapes } from './unescape.ts'

/** A text as it reads, or as it reads once escapes are undone. */
export interface View {
  /** UTF-16 codes, `length` of them. */
  readonly codes: Uint16Array
  readonly length: number
  /** Where the code at `at` begins in the text, and for `length` where the last one ends. */
  originAt(at: number): number
}

/**
 * How often a text is unescaped: what was escaped already may be escaped again on its way (a percent sign in a path, an
 * ampersand in JSON). Nobody reads a text by chance that is escaped more often than that.
 */
const rounds = 3

/** Kinds of escapes that are undone in one go. */
interface Kinds {
  readonly marks: readonly number[]
  /** How an escape is read, by the code of its mark. */
  readonly readers: readonly (Unescape | undefined)[]
}

function kindsOf(kinds: typeof unescapes): Kinds {
  const readers = Array.from<Unescape | undefined>({ length: 128 })
  for (const [mark, unescape] of kinds) readers[mark.charCodeAt(0)] = unescape
  return { marks: kinds.map(([mark]) => mark.charCodeAt(0)), readers }
}

const single = unescapes.map((kind) => kindsOf([kind]))
const together = kindsOf(unescapes)

/** The text without any change. */
export function rawView(text: string): View {
  const buffer = Buffer.allocUnsafeSlow(2 * text.length)
  buffer.write(text, 'utf16le')
  const codes = new Uint16Array(buffer.buffer, buffer.byteOffset, text.length)
  return { codes, length: text.length, originAt: (at) => at }
}

/**
 * The text with percent-encoding, JSON escapes, HTML and XML entities or the NULs of wider characters undone. Each kind that
 * the text has is undone by itself, since a key may have what looks like another kind. If there are several kinds, or one
 * leads to another, all of them are also undone at once.
 */
export function escapedViews(raw: View): View[] {
  const alone = single.map((kinds) => undone(raw, kinds))
  return [...alone.flat(), ...(isMixed(alone) ? undone(raw, together) : [])]
}

/** Whether undoing one kind of escape by itself, as often as there is any, leaves some of another kind. */
function isMixed(alone: readonly (readonly View[])[]): boolean {
  return alone.some((views, kind) => {
    const last = views.at(-1)
    return last !== undefined && single.some((kinds, other) => other !== kind && firstEscape(last, kinds) >= 0)
  })
}

/** Undone once, again, and so on, until there is nothing to undo. */
function undone(raw: View, kinds: Kinds): View[] {
  const views: View[] = []
  for (let view = undo(raw, kinds); view !== undefined; view = undo(view, kinds)) {
    views.push(view)
    if (views.length === rounds) break
  }
  return views
}

/** Undefined if there is no escape. */
function undo(view: View, kinds: Kinds): View | undefined {
  const first = firstEscape(view, kinds)
  if (first < 0) return undefined
  const text = view.codes.subarray(0, view.length)
  const codes = new Uint16Array(text.length)
  codes.set(text.subarray(0, first))
  let length = first
  for (let at = first; at < text.length;) {
    const escape = escapeAt(text, at, kinds)
    codes[length++] = escape < 0 ? (text[at] as number) : escape >>> 5
    at += escape < 0 ? 1 : escape & 31
  }
  // Places are asked for only if a key was found, which is seldom: they are counted then.
  let origins: Int32Array | undefined
  return { codes, length, originAt: (at) => view.originAt((origins ??= originsOf(text, length, kinds))[at] as number) }
}

/** Where the first escape begins; -1 if there is none. */
function firstEscape({ codes, length }: View, kinds: Kinds): number {
  const text = codes.subarray(0, length)
  let first = -1
  for (const mark of kinds.marks) {
    let at = text.indexOf(mark)
    while (at >= 0 && escapeAt(text, at, kinds) < 0) at = text.indexOf(mark, at + 1)
    if (at >= 0 && (first < 0 || at < first)) first = at
  }
  return first
}

/** What the escape at `at` stands for, as `Unescape` says it. */
function escapeAt(text: Uint16Array, at: number, { readers }: Kinds): number {
  const code = text[at] as number
  const reader = code < 128 ? readers[code] : undefined
  return reader === undefined ? -1 : reader(text, at)
}

function originsOf(text: Uint16Array, length: number, kinds: Kinds): Int32Array {
  const origins = new Int32Array(length + 1)
  for (let at = 0, index = 0; index < length; index++) {
    origins[index] = at
    const escape = escapeAt(text, at, kinds)
    at += escape < 0 ? 1 : escape & 31
  }
  origins[length] = text.length
  return origins
}
