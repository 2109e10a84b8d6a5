import { entities } from './entities.ts'

/**
 * What an escape that begins at `at` stands for: `code * 32 + length`, the length being what it takes in the text; -1 where
 * none begins. One number, for this is asked at every mark of a text.
 */
export type Unescape = (codes: Uint16Array, at: number) => number

const pack = (code: number, length: number): number => code * 32 + length

/** The value of a hex digit; -1 for any other character. */
const hexDigits = new Int8Array(0x10000).fill(-1)
for (const digit of '0123456789abcdefABCDEF') hexDigits[digit.charCodeAt(0)] = Number.parseInt(digit, 16)

/** The number that `count` hex digits write; -1 where they are none. */
function hexNumber(codes: Uint16Array, at: number, count: number): number {
  if (at + count > codes.length) return -1
  let number = 0
  for (let index = at; index < at + count; index++) {
    const digit = hexDigits[codes[index] as number] as number
    if (digit < 0) return -1
    number = number * 16 + digit
  }
  return number
}

const percent: Unescape = (codes, at) => {
  const code = hexNumber(codes, at + 1, 2)
  return code < 0 ? -1 : pack(code, 3)
}

/** The code that the character after a JSON backslash stands for; 0 where it makes no escape. */
const jsonEscapes = new Uint8Array(128)
for (const [index, char] of [...'bfnrt"\\/'].entries())
  jsonEscapes[char.charCodeAt(0)] = '\b\f\n\r\t"\\/'.charCodeAt(index)

const letterU = 0x75

const json: Unescape = (codes, at) => {
  const next = codes[at + 1]
  if (next === undefined || next > 127) return -1
  if (next !== letterU) return jsonEscapes[next] === 0 ? -1 : pack(jsonEscapes[next] as number, 2)
  const code = hexNumber(codes, at + 2, 4)
  return code < 0 ? -1 : pack(code, 6)
}

/** Longest entity that is looked for, from `&` to `;`: the number of a character may have leading zeros. */
const longestEntity = 16
const semicolon = 0x3b
const numberSign = 0x23
const letterX = 0x78

const entity: Unescape = (codes, at) => {
  const last = Math.min(at + longestEntity, codes.length) - 1
  let end = at + 1
  while (end <= last && codes[end] !== semicolon) end++
  if (end > last) return -1
  const code = codes[at + 1] === numberSign ? numbered(codes, at + 2, end) : namedEntity(codes, at + 1, end)
  return code < 0 ? -1 : pack(code, end + 1 - at)
}

function namedEntity(codes: Uint16Array, from: number, to: number): number {
  let name = ''
  for (let at = from; at < to; at++) name += String.fromCharCode(codes[at] as number)
  return entities[name]?.charCodeAt(0) ?? -1
}

/** The character that `65` or `x41` numbers; -1 where it is none, or none that one code holds. */
function numbered(codes: Uint16Array, from: number, to: number): number {
  const isHex = ((codes[from] as number) | 0x20) === letterX
  const base = isHex ? 16 : 10
  const start = isHex ? from + 1 : from
  let number = 0
  for (let at = start; at < to; at++) {
    const digit = hexDigits[codes[at] as number] as number
    if (digit < 0 || digit >= base) return -1
    number = number * base + digit
  }
  return start === to || number > 0xffff ? -1 : number
}

/** How a text is escaped: the character that every such escape begins with, and how one is read. */
export const unescapes: readonly (readonly [mark: string, Unescape])[] = [
  ['%', percent],
  ['\\', json],
  ['&', entity],
]
