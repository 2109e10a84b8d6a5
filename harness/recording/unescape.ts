/** HTML's named references to the printable ASCII characters; XML's five are among them. A key has no others. */
const entities: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  ...{ excl: '!', quot: '"', QUOT: '"', num: '#', dollar: '$', percnt: '%', amp: '&', AMP: '&', apos: "'" },
  ...{ lpar: '(', rpar: ')', ast: '*', midast: '*', plus: '+', comma: ',', period: '.', sol: '/' },
  ...{ colon: ':', semi: ';', lt: '<', LT: '<', equals: '=', gt: '>', GT: '>', quest: '?', commat: '@' },
  ...{ lsqb: '[', lbrack: '[', bsol: '\\', rsqb: ']', rbrack: ']', Hat: '^', lowbar: '_', UnderBar: '_', grave: '`' },
  ...{ lcub: '{', lbrace: '{', vert: '|', verbar: '|', VerticalLine: '|', rcub: '}', rbrace: '}' },
}) as Record<string, string>

/**
 * What an escape that begins at `at` stands for: `code * 32 + length`, the length being what it takes in the text; -1 if
 * none begins. It is one number because this is asked at every mark of a text.
 */
export type Unescape = (codes: Uint16Array, at: number) => number

const pack = (code: number, length: number): number => code * 32 + length

/** The value of a hex digit; -1 for any other character. */
const hexDigits = new Int8Array(0x10000).fill(-1)
for (const digit of '0123456789abcdefABCDEF') hexDigits[digit.charCodeAt(0)] = Number.parseInt(digit, 16)

/** The value of `count` hex digits; -1 if they are not hex digits. */
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

/** The code that the character after a JSON backslash stands for; 0 if it makes no escape. */
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

/** Longest entity that is looked for, its `;` included: the number of a character may have leading zeros. */
const longestEntity = 16
const semicolon = 0x3b
const numberSign = 0x23
const letterX = 0x78

const entity: Unescape = (codes, at) => (codes[at + 1] === numberSign ? numbered(codes, at) : namedEntity(codes, at))

/** `&#65;`, `&#x41;`: the number ends with its last digit; a semicolon after it belongs to it but may be missing. */
function numbered(codes: Uint16Array, at: number): number {
  const isHex = ((codes[at + 2] as number) | 0x20) === letterX
  const base = isHex ? 16 : 10
  const start = isHex ? at + 3 : at + 2
  let number = 0
  let end = start
  for (; end < codes.length; end++) {
    const digit = hexDigits[codes[end] as number] as number
    if (digit < 0 || digit >= base) break
    if (end - at === longestEntity) return -1
    number = number * base + digit
  }
  // One code cannot hold a larger one.
  if (end === start || number > 0xffff) return -1
  return pack(number, end - at + (codes[end] === semicolon ? 1 : 0))
}

function namedEntity(codes: Uint16Array, at: number): number {
  const most = Math.min(at + longestEntity, codes.length)
  let name = ''
  let end = at + 1
  while (end < most && isLetter(codes[end] as number)) name += String.fromCharCode(codes[end++] as number)
  if (end < codes.length && codes[end] === semicolon && entities[name]) return pack(codeOf(name), end + 1 - at)
  const short = unclosed.find((known) => name.startsWith(known))
  return short === undefined ? -1 : pack(codeOf(short), short.length + 1)
}

/** The names that HTML reads without a semicolon as well. */
const unclosed = ['amp', 'AMP', 'lt', 'LT', 'gt', 'GT', 'quot', 'QUOT']

function codeOf(name: string): number {
  return (entities[name] as string).charCodeAt(0)
}

function isLetter(code: number): boolean {
  return (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a
}

/** Most NULs before a character: three in UTF-32, and room for more. */
const mostNuls = 8

/** A character after NULs, as in UTF-16 that is read byte by byte. */
const wide: Unescape = (codes, at) => {
  let end = at + 1
  while (codes[end] === 0 && end - at < mostNuls) end++
  const code = codes[end]
  return code === undefined || code === 0 ? -1 : pack(code, end + 1 - at)
}

/** How a text is escaped: the character that every such escape begins with, and how one is read. */
export const unescapes: readonly (readonly [mark: string, Unescape])[] = [
  ['%', percent],
  ['\\', json],
  ['&', entity],
  ['\0', wide],
]
