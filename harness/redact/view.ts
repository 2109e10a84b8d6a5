import { entities } from './entities.ts'

/** A text as it reads once one kind of escape is undone. */
export interface View {
  /** UTF-16 codes, `length` of them. */
  readonly codes: Uint16Array
  readonly length: number
  /** Where each code begins in the text, and at `length` where the last one ends; absent where they are the same. */
  readonly origin?: Int32Array
}

/** The code that an escape beginning at `at` stands for, and how many characters it takes; undefined where none begins. */
type Unescape = (codes: Uint16Array, at: number, text: string) => Escape | undefined
type Escape = readonly [code: number, length: number]

export function rawView(text: string): View {
  const buffer = Buffer.allocUnsafeSlow(2 * text.length)
  buffer.write(text, 'utf16le')
  return { codes: new Uint16Array(buffer.buffer, buffer.byteOffset, text.length), length: text.length }
}

/** The text with percent-encoding, JSON escapes or HTML and XML entities undone: those of which there are any in it. */
export function escapedViews(text: string, raw: View): View[] {
  return unescapes.filter(([mark]) => text.includes(mark)).map(([mark, unescape]) => undo(text, raw, mark, unescape))
}

function undo(text: string, raw: View, mark: string, unescape: Unescape): View {
  const first = mark.charCodeAt(0)
  const codes = new Uint16Array(raw.length)
  const origin = new Int32Array(raw.length + 1)
  let length = 0
  for (let at = 0; at < raw.length; length++) {
    origin[length] = at
    const code = raw.codes[at] as number
    const escape = code === first ? unescape(raw.codes, at, text) : undefined
    codes[length] = escape ? escape[0] : code
    at += escape ? escape[1] : 1
  }
  origin[length] = raw.length
  return { codes, length, origin }
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

/** Where in the text the view's character at `at` begins. */
export function originAt(view: View, at: number): number {
  return view.origin ? (view.origin[at] as number) : at
}
