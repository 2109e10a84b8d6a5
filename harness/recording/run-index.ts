/** A form of a whole key. */
interface Whole {
  readonly form: string
  readonly key: number
  /** Which of the encoding's streams it is. */
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
