import type { Encoding } from './encoding.ts'
import type { View } from './view.ts'

/** A form of a whole key. It is looked for when one of its grams is found. */
export interface Whole {
  /** Folded codes. */
  readonly codes: Uint16Array
  /** Where in it the gram is. */
  readonly anchor: number
  readonly key: number
  /** Which of the encoding's streams it is. */
  readonly stream: number
}

/** A gram of some key, and the whole keys that are looked for when it is found. */
interface Gram {
  readonly codes: Uint16Array
  readonly wholes: Whole[]
}

const factor = 0x01000193
const filterBits = 18

/**
 * All runs of `size` characters of the keys in one encoding. A text is read by samples: of the `size - probe + 1`
 * characters in a row one probe is hashed. Every position is looked at only if a key has that probe.
 */
export class GramIndex {
  readonly size: number
  readonly #fold: Uint8Array
  readonly #probe: number
  readonly #filter = new Uint8Array(1 << filterBits)
  readonly #grams = new Map<number, Gram[]>()
  readonly #outgoing: number

  constructor(encoding: Encoding, size: number) {
    this.size = size
    this.#fold = encoding.fold
    this.#probe = size >= 20 ? 8 : 4
    let power = 1
    for (let index = 1; index < size; index++) power = Math.imul(power, factor)
    this.#outgoing = power
  }

  /** Learns all runs of that encoded form. */
  addRuns(form: string): void {
    const codes = this.#folded(form)
    for (let at = 0; at + this.size <= codes.length; at++) this.#learn(codes, at)
  }

  /** Learns the form of a whole key. */
  addWhole(form: string, key: number, stream: number): void {
    const codes = this.#folded(form)
    if (codes.length < this.size) return
    const anchor = this.#anchor(codes)
    this.#learn(codes, anchor).wholes.push({ codes, anchor, key, stream })
  }

  /** True if the text has a run of some key. */
  meets(view: View): boolean {
    let met = false
    this.scan(
      view,
      () => (met = true),
      () => undefined,
    )
    return met
  }

  /**
   * Calls `onRun` for each longest stretch of which every character lies in a gram, and `onWhole` for each whole key
   * (of one that overlaps itself, the first).
   * Takes time in proportion to the text, whatever it holds.
   */
  scan(view: View, onRun: (start: number, end: number) => void, onWhole: (whole: Whole, start: number) => void): void {
    const { codes, length } = view
    const stride = this.size - this.#probe + 1
    let next = 0
    let start = -1
    let end = -1
    const met = new Map<Whole, number>()
    const meet = (whole: Whole, at: number): void => {
      if (at < (met.get(whole) ?? 0) || !this.#isAt(whole, view, at)) return
      met.set(whole, at + whole.codes.length)
      onWhole(whole, at)
    }
    for (let sample = stride - 1; sample + this.#probe <= length; sample += stride) {
      if (this.#filter[this.#slot(codes, sample)] === 0) continue
      let at = Math.max(next, sample + this.#probe - this.size)
      if (at + this.size > length) break
      let hash = this.#hash(codes, at, this.size)
      for (;;) {
        const gram = this.#find(codes, at, hash)
        if (gram) {
          if (at > end) {
            if (end > 0) onRun(start, end)
            start = at
          }
          end = at + this.size
          for (const whole of gram.wholes) meet(whole, at - whole.anchor)
        }
        at++
        if (at + this.size > length || (at > sample && !gram)) break
        const out = this.#code(codes, at - 1)
        hash = (Math.imul(hash - Math.imul(out, this.#outgoing), factor) + this.#code(codes, at + this.size - 1)) | 0
      }
      next = at
    }
    if (end > 0) onRun(start, end)
  }

  /**
   * Where the form is looked for: at a gram that is a run already, if there is one, and of those the one it has least often,
   * so that a text that repeats a part of the form is not compared with all of it again and again.
   */
  #anchor(codes: Uint16Array): number {
    const counts = new Map<number, number>()
    const hashes = new Int32Array(codes.length - this.size + 1)
    for (let at = 0; at < hashes.length; at++) {
      const hash = this.#hash(codes, at, this.size)
      hashes[at] = hash
      counts.set(hash, (counts.get(hash) ?? 0) + 1)
    }
    let best = 0
    let bestCount = Infinity
    let bestIsRun = false
    for (const [at, hash] of hashes.entries()) {
      const isRun = this.#find(codes, at, hash) !== undefined
      const count = counts.get(hash) as number
      if (bestIsRun && !isRun) continue
      if (isRun === bestIsRun && count >= bestCount) continue
      best = at
      bestCount = count
      bestIsRun = isRun
    }
    return best
  }

  #code(codes: Uint16Array, at: number): number {
    const code = codes[at] as number
    return code < 128 ? (this.#fold[code] as number) : code
  }

  #folded(form: string): Uint16Array {
    const codes = new Uint16Array(form.length)
    for (let at = 0; at < form.length; at++) codes[at] = this.#fold[form.charCodeAt(at) & 127] as number
    return codes
  }

  #hash(codes: Uint16Array, at: number, length: number): number {
    let hash = 0
    for (let index = at; index < at + length; index++) hash = (Math.imul(hash, factor) + this.#code(codes, index)) | 0
    return hash
  }

  /** Place of a probe in the filter. */
  #slot(codes: Uint16Array, at: number): number {
    const hash = this.#hash(codes, at, this.#probe)
    return Math.imul(hash ^ (hash >>> 15), 0x9e3779b1) >>> (32 - filterBits)
  }

  #find(codes: Uint16Array, at: number, hash: number): Gram | undefined {
    return this.#grams.get(hash)?.find((gram) => this.#equals(gram.codes, codes, at))
  }

  #equals(folded: Uint16Array, codes: Uint16Array, at: number): boolean {
    for (let index = 0; index < folded.length; index++)
      if (folded[index] !== this.#code(codes, at + index)) return false
    return true
  }

  #isAt(whole: Whole, view: View, at: number): boolean {
    return at >= 0 && at + whole.codes.length <= view.length && this.#equals(whole.codes, view.codes, at)
  }

  #learn(codes: Uint16Array, at: number): Gram {
    const hash = this.#hash(codes, at, this.size)
    const known = this.#find(codes, at, hash)
    if (known) return known
    const gram: Gram = { codes: codes.slice(at, at + this.size), wholes: [] }
    this.#grams.set(hash, [...(this.#grams.get(hash) ?? []), gram])
    for (let probe = at; probe + this.#probe <= at + this.size; probe++) {
      this.#filter[this.#slot(codes, probe)] = 1
    }
    return gram
  }
}
