/** The ways in which a key may stand in a text, each by its name; written without any code of the redactor. */
const each = (text: string, write: (code: number, char: string) => string): string =>
  Array.from(text, (char) => write(char.charCodeAt(0), char)).join('')
const hexOf = (code: number, digits: number): string => code.toString(16).padStart(digits, '0')
const named: Readonly<Record<string, string>> = {
  '&': 'amp',
  '<': 'lt',
  '>': 'gt',
  '"': 'quot',
  "'": 'apos',
}
const base64At =
  (format: 'base64' | 'base64url', before: number, after: number) =>
  (text: string): string =>
    Buffer.from('~'.repeat(before) + text + '~'.repeat(after), 'latin1').toString(format)

export const encodings: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  'percent where needed': (text) => encodeURIComponent(text),
  'percent in lower case': (text) => each(text, (code) => `%${hexOf(code, 2)}`),
  'percent in upper case': (text) => each(text, (code) => `%${hexOf(code, 2).toUpperCase()}`),
  json: (text) => JSON.stringify(text).slice(1, -1),
  'json with slashes escaped': (text) => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/'),
  'json in code points': (text) => each(text, (code) => `\\u${hexOf(code, 4)}`),
  'html by name': (text) => each(text, (_, char) => (named[char] ? `&${named[char]};` : char)),
  'html in decimals': (text) => each(text, (code) => `&#${code};`),
  'html in hex': (text) => each(text, (code) => `&#x${hexOf(code, 4).toUpperCase()};`),
  'html in decimals, no semicolons': (text) => each(text, (code) => `&#${code}`),
  'html in hex, no semicolons': (text) => each(text, (code) => `&#x${hexOf(code, 2)}`),
  'percent of percent': (text) => each(text, (code) => `%25${hexOf(code, 2)}`),
  'percent, three times': (text) => each(text, (code) => `%2525${hexOf(code, 2)}`),
  'json in json': (text) => each(text, (code) => `\\\\u${hexOf(code, 4)}`),
  'html in json': (text) => each(text, (code) => `\\u0026#${code};`),
  'percent and json and html in turns': (text) =>
    each(text, (code) => [`%${hexOf(code, 2)}`, `\\u${hexOf(code, 4)}`, `&#${code};`][code % 3]!),
  'utf-16, low byte first': (text) => each(text, (_, char) => `${char}\0`),
  'utf-16, high byte first': (text) => each(text, (_, char) => `\0${char}`),
  'utf-32': (text) => each(text, (_, char) => `\0\0\0${char}`),
  'utf-16 in json': (text) =>
    each(text, (_, char) => `${JSON.stringify(char).slice(1, -1)}\\u0000`),
  hex: (text) => Buffer.from(text, 'latin1').toString('hex'),
  'hex in upper case': (text) => Buffer.from(text, 'latin1').toString('hex').toUpperCase(),
  base64: base64At('base64', 0, 0),
  'base64, one byte in': base64At('base64', 1, 0),
  'base64, two bytes in': base64At('base64', 2, 1),
  'base64, bytes after': base64At('base64', 3, 2),
  base64url: base64At('base64url', 0, 0),
  'base64url, one byte in': base64At('base64url', 1, 1),
  'base64url, two bytes in': base64At('base64url', 2, 0),
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
  text.replaceAll(
    /&#x([\da-f]+);?|&#(\d+);?|&(amp|lt|gt|quot|apos);/gi,
    (_, hex?: string, decimal?: string, name?: string) =>
      name
        ? (Object.keys(named).find((char) => named[char] === name.toLowerCase()) as string)
        : character(hex ?? decimal ?? '', hex ? 16 : 10),
  )
const noNuls = (text: string): string => text.replaceAll('\0', '')

/** The readings of a text in which a run of a key might show, by the means of the standard library. */
export function readings(text: string): string[] {
  const once = [undoPercent, undoJson, undoHtml].map((undo) => undo(text))
  const twice = [undoPercent(once[0]!), undoJson(once[1]!), undoHtml(once[1]!)]
  const nested = [undoPercent(twice[0]!), undoHtml(undoJson(once[0]!))]
  const plain = [text, ...once, ...twice, ...nested]
  const unescaped = [...plain, ...plain.filter((reading) => reading.includes('\0')).map(noNuls)]
  const hexed = [...text.matchAll(/[\da-f]{24,}/gi)].flatMap(([digits]) =>
    [digits, digits.slice(1)].map((part) => Buffer.from(part, 'hex').toString('latin1')),
  )
  const based = [...text.matchAll(/[\w+/-]{12,}/g)].flatMap(([digits]) =>
    [0, 1, 2, 3].map((from) => Buffer.from(digits.slice(from), 'base64').toString('latin1')),
  )
  return [...unescaped, ...hexed, ...based]
}

/** The first 12 characters of that key that stand in the text together. */
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
