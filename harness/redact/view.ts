import { entities } from './entities.ts'

/** A text as it reads once one kind of escape is undone. */
export interface View {
  /** UTF-16 codes, `length` of them. */
  readonly codes: Uint16Array
  readonly length: number
  /** Where the text and the view part: the view's index after each escape, and how much further on the text is from there. */
  readonly ends: readonly number[]
  readonly shifts: readonly number[]
}

/** The code that an escape beginning at `at` stands for, and how many characters it takes; undefined where none begins. */
type Unescape = (codes: Uint16Array, at: number, text: string) => Escape | undefined
type Escape = readonly [code: number, length: number]

export function rawView(text: string): View {
  const buffer = Buffer.allocUnsafeSlow(2 * text.length)
  buffer.write(text, 'utf16le')
  return {
    codes: new Uint16Array(buffer.buffer, buffer.byteOffset, text.length),
    length: text.length,
    ends: [],
    shifts: [],
  }
}

/** The text with percent-encoding, JSON escapes or HTML and XML entities undone: those of which there are any in it. */
export function escapedViews(text: string, raw: View): View[] {
  return unescapes.filter(([mark]) => text.includes(mark)).map(([mark, unescape]) => undo(text, raw, mark, unescape))
}

function undo(text: string, raw: View, mark: string, unescape: Unescape): View {
  const codes = new Uint16Array(raw.length)
  const ends: number[] = []
  const shifts: number[] = []
  let length = 0
  let copied = 0
  const copyTo = (end: number): void => {
    codes.set(raw.codes.subarray(copied, end), length)
    length += end - copied
    copied = end
  }
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, Math.max(at + 1, copied))) {
    const escape = unescape(raw.codes, at, text)
    if (!escape) continue
    copyTo(at)
    codes[length++] = escape[0]
    copied = at + escape[1]
    ends.push(length)
    shifts.push(copied - length)
  }
  copyTo(raw.length)
  return { codes, length, ends, shifts }
}

function hexDigit(code: number | undefined): number {
  if (code === undefined) return -1
  if (code >= 48 && code <= 57) return code - 48
  const letter = code | 32
  return letter >= 97 && letter <= 102 ? letter - 87 : -1
}

/** The number that `count` hex digits write; -1 where they are none. */
function hexNumber(codes: Uint16Array, at: number, count: number): number {
  let number = 0
  for (let index = at; index < at + count; index++) {
    const digit = hexDigit(codes[index])
    if (digit < 0) return -1
    number = number * 16 + digit
  }
  return number
}

const percent: Unescape = (codes, at) => {
  const code = hexNumber(codes, at + 1, 2)
  return code < 0 ? undefined : [code, 3]
}

const jsonEscapes: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  '"': '"',
  '\\': '\\',
  '/': '/',
}

const json: Unescape = (codes, at) => {
  const next = String.fromCharCode(codes[at + 1] ?? 0)
  if (next === 'u') {
    const code = hexNumber(codes, at + 2, 4)
    return code < 0 ? undefined : [code, 6]
  }
  const stands = jsonEscapes[next]
  return stands === undefined ? undefined : [stands.charCodeAt(0), 2]
}

/** Longest entity looked for, from `&` to `;`: references to characters may have leading zeros. */
const longestEntity = 12

const entity: Unescape = (codes, at, text) => {
  let end = at + 2
  while (end < at + longestEntity && codes[end] !== 0x3b) end++
  if (codes[end] !== 0x3b) return undefined
  const name = text.slice(at + 1, end)
  const named = entities[name]
  const [, decimal, hexadecimal] = /^#(?:(\d+)|[xX]([\da-fA-F]+))$/.exec(name) ?? []
  if (named === undefined && decimal === undefined && hexadecimal === undefined) return undefined
  const code = named?.charCodeAt(0) ?? Number.parseInt(decimal ?? hexadecimal ?? '', decimal === undefined ? 16 : 10)
  return code <= 0xffff ? [code, end + 1 - at] : undefined
}

const unescapes: readonly (readonly [mark: string, Unescape])[] = [
  ['%', percent],
  ['\\', json],
  ['&', entity],
]

/** Where in the text the view's character at `at` begins; at the view's end, where the last one ends. */
export function originAt({ ends, shifts }: View, at: number): number {
  let low = 0
  let high = ends.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ends[middle] as number) <= at) low = middle + 1
    else high = middle
  }
  return at + (shifts[low - 1] ?? 0)
}
