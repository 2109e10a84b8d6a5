import { parsedJson } from '../schemas/json.ts'

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d

/** The range of an entry's bytes: from the one after the bracket or comma before it, to the one before the next. */
export interface EntryPlace {
  readonly start: number
  readonly end: number
}

/**
 * Finds the entries of a HAR in its bytes, which it is given piece by piece. It looks at brackets, commas and texts only:
 * whether what it cuts out is JSON is for `JSON.parse` to say, which reads the entries one by one, and once more what is left
 * without them. A general parser that streams builds every value by itself, and takes three to ten times as long.
 */
export class EntryScanner {
  /** The beginning of the array, after its bracket, and its end, at its bracket; undefined if it was not met. */
  entriesFrom: number | undefined
  entriesTo: number | undefined
  readonly #onEntry: (place: EntryPlace) => void
  #at = 0
  #depth = 0
  #isText = false
  /** The byte before the piece that is given now was a backslash that escapes the first one of it. */
  #isEscaped = false
  /** A member of the root or of `log`: where its name begins and ends, and then the name. */
  #textFrom = 0
  #textTo = 0
  #inLog = false
  #nextIs: 'log' | 'entries' | undefined
  #entryFrom = 0
  readonly #read: (start: number, end: number) => string

  /**
   * @param read text of the bytes from `start` to `end`, which were given already
   * @param onEntry called for each entry as soon as its end is known
   */
  constructor(read: (start: number, end: number) => string, onEntry: (place: EntryPlace) => void) {
    this.#read = read
    this.#onEntry = onEntry
  }

  get #inEntries(): boolean {
    return this.entriesFrom !== undefined && this.entriesTo === undefined
  }

  /** Takes the next bytes. */
  push(bytes: Buffer): void {
    for (let at = 0; at < bytes.length;) {
      if (this.#isText) {
        const end = this.#endOfText(bytes, at)
        if (end < 0) break
        at = end
        this.#isText = false
        this.#textTo = this.#at + at
        continue
      }
      const code = bytes[at] as number
      if (code === quote) {
        this.#isText = true
        this.#textFrom = this.#at + at
      } else if (code >= colon || code === comma) this.#mark(code, this.#at + at)
      at++
    }
    this.#at += bytes.length
  }

  /** Says that no more bytes come. */
  end(): void {
    if (this.#inEntries) this.#onEntry({ start: this.#entryFrom, end: this.#at })
  }

  /** The place after the quote that ends the text; -1 if it goes on after these bytes. */
  #endOfText(bytes: Buffer, from: number): number {
    const first = this.#isEscaped ? from + 1 : from
    this.#isEscaped = false
    for (let at = first; ; at++) {
      at = bytes.indexOf(quote, at)
      const end = at < 0 ? bytes.length : at
      let slashes = 0
      while (end - 1 - slashes >= first && bytes[end - 1 - slashes] === backslash) slashes++
      if (at < 0) {
        this.#isEscaped = slashes % 2 === 1
        return -1
      }
      if (slashes % 2 === 0) return at + 1
    }
  }

  #mark(code: number, at: number): void {
    if (this.#inEntries) this.#markInEntries(code, at)
    else if (code === colon) this.#nextIs = this.#memberAt()
    else if (code === comma) this.#nextIs = undefined
    else if (code === openBrace || code === openBracket) this.#open(code, at)
    else if (code === closeBrace || code === closeBracket) {
      this.#depth--
      if (this.#depth < 2) this.#inLog = false
    }
  }

  /** Member on the way to the entries whose name was read last, if it is one. */
  #memberAt(): 'log' | 'entries' | undefined {
    const wanted = this.#depth === 1 ? 'log' : this.#depth === 2 && this.#inLog ? 'entries' : undefined
    // Every character of a name can be written in six.
    if (wanted === undefined || this.#textTo - this.#textFrom > 6 * 'entries'.length + 2) return undefined
    return parsedJson(this.#read(this.#textFrom, this.#textTo)) === wanted ? wanted : undefined
  }

  #open(code: number, at: number): void {
    if (this.#nextIs === 'log' && this.#depth === 1 && code === openBrace) this.#inLog = true
    if (this.#nextIs === 'entries' && code === openBracket && this.entriesFrom === undefined) {
      this.entriesFrom = at + 1
      this.#entryFrom = at + 1
      this.#depth = 0
    } else this.#depth++
    this.#nextIs = undefined
  }

  #markInEntries(code: number, at: number): void {
    if (code === openBrace || code === openBracket) this.#depth++
    else if (this.#depth > 0) {
      if (code === closeBrace || code === closeBracket) this.#depth--
    } else if (code === comma) {
      this.#onEntry({ start: this.#entryFrom, end: at })
      this.#entryFrom = at + 1
    } else if (code === closeBracket) {
      this.#onEntry({ start: this.#entryFrom, end: at })
      this.entriesTo = at
      // In `log`, which is in the root.
      this.#depth = 2
    }
  }
}
