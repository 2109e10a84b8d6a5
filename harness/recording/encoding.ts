/** How a text can hold the bytes of a key other than escaped character by character. */
export interface Encoding {
  /** The text as it is compared, character for character: letter case of hex digits, the two alphabets of base64. */
  fold(text: string): string
  /** The encoded forms of `text`, one for each alignment, without the characters that other bytes share. */
  streams(text: string): string[]
  /** The fewest characters that a run of `run` characters takes in a form. */
  shortest(run: number): number
}

export const plain: Encoding = {
  fold: (text) => text,
  streams: (text) => [text],
  shortest: (run) => run,
}

export const hex: Encoding = {
  fold(text) {
    const lower = text.toLowerCase()
    // A few letters of other alphabets become two: places in the text would move.
    return lower.length === text.length ? lower : text.replace(/[A-F]+/g, (digits) => digits.toLowerCase())
  },
  streams: (text) => [Buffer.from(text, 'latin1').toString('hex')],
  shortest: (run) => 2 * run,
}

const base64Alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** The six bits of a base64 or base64url digit; empty for any other character, and for none. */
export function digitBits(character: string | undefined): string {
  const digit = character === undefined ? -1 : base64Alphabet.indexOf(base64.fold(character))
  return digit < 0 ? '' : digit.toString(2).padStart(6, '0')
}

/** The first bits of a key that are before the whole digits of each base64 stream, in the order of the streams. */
export const base64Offsets = [0, 2, 4] as const

export const base64: Encoding = {
  fold: (text) => text.replaceAll('-', '+').replaceAll('_', '/'),
  streams(text) {
    // So many bytes before the text leave so many of its bits in the digit that they share.
    const before = { 0: 0, 2: 2, 4: 1 }
    return base64Offsets.map((offset) => {
      const bytes = Buffer.concat([Buffer.alloc(before[offset]), Buffer.from(text, 'latin1')])
      const from = Math.ceil((8 * before[offset]) / 6)
      return bytes.toString('base64').slice(from, Math.floor((8 * bytes.length) / 6))
    })
  },
  shortest: (run) => Math.floor((8 * run - 4) / 6),
}

/** The bits of `text` as zeros and ones, eight a character. */
export function bitsOf(text: string): string {
  return Array.from(Buffer.from(text, 'latin1'), (byte) => byte.toString(2).padStart(8, '0')).join('')
}
