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

interface Whole {
  readonly form: string
  readonly key: number
  /** Index of the stream among those of the encoding. */
  readonly stream: number
}

const filterBits = 18

/**
 * All runs of `size` characters of the keys in one encoding. A text is read by samples: of the `size - probe + 1` characters
 * in a row one probe is hashed. Every position is looked at only if a key may have that probe.
 */
export class RunIndex {
  readonly size: number
  readonly #probe: number
  readonly #probes = new Uint8Array(1 << filterBits)
  readonly #runs = new Set<string>()
  readonly #wholes: Whole[] = []

  constructor(size: number) {
    this.size = size
    this.#probe = size >= 20 ? 8 : 4
  }

  /** Learns all runs of that form of a key. */
  add(form: string): void {
    for (let at = 0; at + this.size <= form.length; at++) this.#runs.add(form.slice(at, at + this.size))
    for (let at = 0; at + this.#probe <= form.length; at++) this.#probes[this.#slot(form, at)] = 1
  }

  /** Learns the form of a whole key, whose runs or a part of them are known. */
  addWhole(whole: Whole): void {
    if (whole.form.length >= this.size) this.#wholes.push(whole)
  }

  /**
   * Each longest stretch of which every character lies in a run of some key. Takes time in proportion to the text, whatever
   * it holds.
   */
  runsIn(text: string): (readonly [start: number, end: number])[] {
    const { size } = this
    const found: [start: number, end: number][] = []
    let next = 0
    for (let sample = size - this.#probe; sample + this.#probe <= text.length; sample += size - this.#probe + 1) {
      if (this.#probes[this.#slot(text, sample)] === 0) continue
      for (let at = Math.max(next, sample + this.#probe - size); at + size <= text.length; at++) {
        const isRun = this.#runs.has(text.slice(at, at + size))
        next = at + 1
        if (!isRun && at >= sample) break
        if (!isRun) continue
        const last = found.at(-1)
        if (last && at <= last[1]) last[1] = at + size
        else found.push([at, at + size])
      }
    }
    return found
  }

  /** Each whole key and where it begins; of one that overlaps itself, the first. */
  *wholesIn(text: string): Generator<readonly [Whole, start: number]> {
    for (const whole of this.#wholes) {
      const { form } = whole
      for (let at = text.indexOf(form); at >= 0; at = text.indexOf(form, at + form.length)) yield [whole, at]
    }
  }

  /** Place of the probe that begins there. */
  #slot(text: string, at: number): number {
    let hash = 0
    for (let index = at; index < at + this.#probe; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
    return Math.imul(hash, 0x9e3779b1) >>> (32 - filterBits)
  }
}

/** A stretch of a text that is written as something else. */
export interface Span {
  readonly start: number
  readonly end: number
  readonly label: string
}

/**
 * The text with the spans replaced: whole keys first, the longer before the shorter if they overlap; then what is left of
 * the runs, each stretch as one.
 */
export function replaceSpans(text: string, wholes: readonly Span[], runs: readonly Span[]): string {
  const spans = [...longestFirst(wholes), ...runs]
  if (spans.length === 0) return text
  // 0: not replaced; else the number of the span that replaces the character, the same number for all runs.
  const owner = new Uint32Array(text.length)
  const runsFrom = spans.length - runs.length
  spans.forEach(({ start, end }, index) => {
    if (index < runsFrom && !isFree(owner, start, end)) return
    const number = index < runsFrom ? index + 1 : runsFrom + 1
    for (let at = start; at < end; at++) if (owner[at] === 0) owner[at] = number
  })
  const parts: string[] = []
  for (let at = 0; at < text.length;) {
    const number = owner[at] as number
    let end = at + 1
    while (end < text.length && owner[end] === number) end++
    parts.push(number === 0 ? text.slice(at, end) : (spans[number - 1] as Span).label)
    at = end
  }
  return parts.join('')
}

function longestFirst(spans: readonly Span[]): Span[] {
  return [...spans].sort((a, b) => b.end - b.start - (a.end - a.start) || a.start - b.start)
}

function isFree(owner: Uint32Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (owner[at] !== 0) return false
  return true
}

/**
 * A whole key in base64, including the digits that it shares with what is before and after it, and the padding.
 * @param bits the key's bits
 * @param stream which alignment of the key was found
 */
export function withTail(
  text: string,
  [start, end]: readonly [start: number, end: number],
  { bits, stream }: { readonly bits: string; readonly stream: number },
): readonly [start: number, end: number] {
  const head = bits.slice(0, base64Offsets[stream])
  const tail = bits.slice(head.length + 6 * (end - start))
  const from = head !== '' && digitBits(text[start - 1]).endsWith(head) ? start - 1 : start
  let to = tail !== '' && digitBits(text[end]).startsWith(tail) ? end + 1 : end
  for (let padding = 0; padding < 2 && text[to] === '='; padding++) to++
  return [from, to]
}

/** The stretches of the run that lie in no kept text: none if the whole run is kept. */
export function withoutKept(
  text: string,
  [start, end]: readonly [start: number, end: number],
  kept: readonly string[],
): (readonly [start: number, end: number])[] {
  const taken = kept.flatMap((one) => occurrences(text, [start, end], one)).sort(([one], [other]) => one - other)
  const rest: (readonly [number, number])[] = []
  let from = start
  for (const [begins, ends] of taken) {
    if (begins > from) rest.push([from, begins])
    from = Math.max(from, ends)
  }
  if (from < end) rest.push([from, end])
  return rest
}

/** The places of a kept text that share at least one character with the run. */
function occurrences(
  text: string,
  [start, end]: readonly [start: number, end: number],
  kept: string,
): (readonly [number, number])[] {
  const from = Math.max(0, start - kept.length + 1)
  const around = text.slice(from, end + kept.length - 1)
  const found: (readonly [number, number])[] = []
  for (let at = around.indexOf(kept); at >= 0; at = around.indexOf(kept, at + 1))
    found.push([from + at, from + at + kept.length])
  return found
}
