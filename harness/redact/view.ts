import { type Unescape, unescapes } from './unescape.ts'

/** A text as it reads, or as it reads once one kind of escape is undone. */
export interface View {
  /** UTF-16 codes, `length` of them. */
  readonly codes: Uint16Array
  readonly length: number
  /** Where the code at `at` begins in the text, and for `length` where the last one ends. */
  originAt(at: number): number
}

/** The text as it stands. */
export function rawView(text: string): View {
  const buffer = Buffer.allocUnsafeSlow(2 * text.length)
  buffer.write(text, 'utf16le')
  const codes = new Uint16Array(buffer.buffer, buffer.byteOffset, text.length)
  return { codes, length: text.length, originAt: (at) => at }
}

/** The text with percent-encoding, JSON escapes or HTML and XML entities undone: those of which there are any in it. */
export function escapedViews(text: string, raw: View): View[] {
  return unescapes.flatMap(([mark, unescape]) => {
    const first = text.indexOf(mark)
    const view = first < 0 ? undefined : undo(raw.codes, mark.charCodeAt(0), first, unescape)
    return view ? [view] : []
  })
}

/** Undefined where there is no escape. */
function undo(text: Uint16Array, mark: number, first: number, unescape: Unescape): View | undefined {
  const codes = new Uint16Array(text.length)
  codes.set(text.subarray(0, first))
  let length = first
  for (let at = first; at < text.length;) {
    const code = text[at] as number
    const escape = code === mark ? unescape(text, at) : -1
    codes[length++] = escape < 0 ? code : escape >>> 5
    at += escape < 0 ? 1 : escape & 31
  }
  if (length === text.length) return undefined
  // Places are asked for only where a key was found, which is seldom: they are counted then.
  let origins: Int32Array | undefined
  return { codes, length, originAt: (at) => (origins ??= originsOf(text, length, mark, unescape))[at] as number }
}

function originsOf(text: Uint16Array, length: number, mark: number, unescape: Unescape): Int32Array {
  const origins = new Int32Array(length + 1)
  for (let at = 0, index = 0; index < length; index++) {
    origins[index] = at
    const escape = text[at] === mark ? unescape(text, at) : -1
    at += escape < 0 ? 1 : escape & 31
  }
  origins[length] = text.length
  return origins
}
