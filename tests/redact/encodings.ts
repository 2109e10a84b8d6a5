/** The ways in which a key may be written in a text, each by its name; without any code of the redactor. */
const each = (text: string, write: (code: number, char: string) => string): string =>
  Array.from(text, (char) => write(char.charCodeAt(0), char)).join('')
const hexOf = (code: number, digits: number): string => code.toString(16).padStart(digits, '0')
const names: readonly (readonly [char: string, name: string])[] = [
  ['&', 'amp'],
  ['<', 'lt'],
  ['>', 'gt'],
  ['"', 'quot'],
  ["'", 'apos'],
]
const bytes = (text: string): Buffer => Buffer.from(text, 'latin1')

export const encodings: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  'percent where needed': encodeURIComponent,
  'percent in lower case': (text) => each(text, (code) => `%${hexOf(code, 2)}`),
  'percent in upper case': (text) => each(text, (code) => `%${hexOf(code, 2).toUpperCase()}`),
  json: (text) => JSON.stringify(text).slice(1, -1),
  'json with slashes escaped': (text) => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/'),
  'json in code points': (text) => each(text, (code) => `\\u${hexOf(code, 4)}`),
  'html by name': (text) =>
    names.reduce((rest, [char, name]) => rest.replaceAll(char, `&${name};`), text),
  'html in decimals': (text) => each(text, (code) => `&#${code};`),
  'html in hex': (text) => each(text, (code) => `&#x${hexOf(code, 4).toUpperCase()};`),
  hex: (text) => bytes(text).toString('hex'),
  'hex in upper case': (text) => bytes(text).toString('hex').toUpperCase(),
  base64: (text) => bytes(text).toString('base64'),
  'base64, one byte in': (text) => bytes(`~${text}~`).toString('base64'),
  'base64, two bytes in': (text) => bytes(`~~${text}`).toString('base64'),
  base64url: (text) => bytes(text).toString('base64url'),
  'base64url, one byte in': (text) => bytes(`~${text}`).toString('base64url'),
  'base64url, two bytes in': (text) => bytes(`~~${text}~`).toString('base64url'),
}

const character = (digits: string, base: number): string =>
  String.fromCharCode(Number.parseInt(digits, base))
const undoPercent = (text: string): string =>
  text.replaceAll(/%([\da-f]{2})/gi, (_, code: string) => character(code, 16))
const undoJson = (text: string): string =>
  text.replaceAll(/\\u([\da-f]{4})|\\(.)/gi, (_, code?: string, self?: string) =>
    code ? character(code, 16) : (self ?? ''),
  )
const undoHtml = (text: string): string =>
  names
    .reduceRight((rest, [char, name]) => rest.replaceAll(`&${name};`, char), text)
    .replaceAll(/&#x([\da-f]+);/gi, (_, code: string) => character(code, 16))
    .replaceAll(/&#(\d+);/g, (_, code: string) => character(code, 10))

/** The readings of a text in which a run of a key might show, by the means of the standard library. */
export function readings(text: string): string[] {
  const plain = [text, undoPercent(text), undoJson(text), undoHtml(text)]
  const hexed = [...text.matchAll(/[\da-f]{24,}/gi)].flatMap(([digits]) =>
    [digits, digits.slice(1)].map((part) => Buffer.from(part, 'hex').toString('latin1')),
  )
  const based = [...text.matchAll(/[\w+/-]{12,}/g)].flatMap(([digits]) =>
    [0, 1, 2, 3].map((from) => Buffer.from(digits.slice(from), 'base64').toString('latin1')),
  )
  return [...plain, ...hexed, ...based]
}

/** The first 12 characters of that key that are in the text together. */
export function runIn(text: string, key: string): string | undefined {
  // Any 12 characters hold six that begin at a multiple of six: these are looked for first, since they are few.
  for (let at = 0; at + 6 <= key.length; at += 6) {
    if (!text.includes(key.slice(at, at + 6))) continue
    for (let from = Math.max(0, at - 6); from <= at && from + 12 <= key.length; from++) {
      const run = key.slice(from, from + 12)
      if (text.includes(run)) return run
    }
  }
  return undefined
}
