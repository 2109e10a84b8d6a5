/** How a text can hold the bytes of a key other than escaped character by character. */
export interface Encoding {
  /** What each ASCII code is compared as: letter case of hex digits, the two alphabets of base64. */
  readonly fold: Uint8Array
  /** The encoded forms of `text`, one for each alignment, without the characters that other bytes share. */
  streams(text: string): string[]
  /** The fewest characters that a run of `run` characters takes in a form. */
  shortest(run: number): number
}

function foldTable(pairs: Iterable<readonly [string, string]>): Uint8Array {
  const table = Uint8Array.from({ length: 128 }, (_, code) => code)
  for (const [from, to] of pairs) table[from.charCodeAt(0)] = to.charCodeAt(0)
  return table
}

export const plain: Encoding = {
  fold: foldTable([]),
  streams: (text) => [text],
  shortest: (run) => run,
}

export const hex: Encoding = {
  fold: foldTable([...'ABCDEF'].map((digit) => [digit, digit.toLowerCase()])),
  streams: (text) => [Buffer.from(text, 'latin1').toString('hex')],
  shortest: (run) => 2 * run,
}

const base64Alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** The value of a base64 or base64url digit given by its character code; -1 for any other character. */
export function base64Digit(code: number): number {
  return code < 128 ? base64Alphabet.indexOf(String.fromCharCode(base64.fold[code] as number)) : -1
}

/** The first bits of a key that are before the whole digits of each base64 stream, in the order of the streams. */
export const base64Offsets = [0, 2, 4] as const

export const base64: Encoding = {
  fold: foldTable([
    ['-', '+'],
    ['_', '/'],
  ]),
  streams(text) {
    const bits = bitsOf(text)
    return base64Offsets.map((offset) =>
      Array.from({ length: Math.floor((bits.length - offset) / 6) }, (_, at) =>
        base64Alphabet.charAt(Number.parseInt(bits.slice(offset + 6 * at, offset + 6 * at + 6), 2)),
      ).join(''),
    )
  },
  shortest: (run) => Math.floor((8 * run - 4) / 6),
}

/** The bits of `text` as zeros and ones, eight a character. */
export function bitsOf(text: string): string {
  return Array.from(Buffer.from(text, 'latin1'), (byte) => byte.toString(2).padStart(8, '0')).join('')
}
