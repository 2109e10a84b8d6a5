type Stretch = readonly [start: number, end: number]

/**
 * All runs of `size` characters of some keys. A text is read by samples: of the `size - probe + 1` characters in a row one
 * probe is looked up. Every position is looked at only if a key has that probe.
 */
export class RunIndex {
  readonly #size: number
  readonly #probe: number
  readonly #probes = new Set<string>()
  readonly #runs = new Set<string>()

  constructor(size: number) {
    this.#size = size
    this.#probe = Math.floor(size / 2)
  }

  /** Learns all runs of a key. */
  add(key: string): void {
    for (let at = 0; at + this.#size <= key.length; at++) this.#runs.add(key.slice(at, at + this.#size))
    for (let at = 0; at + this.#probe <= key.length; at++) this.#probes.add(key.slice(at, at + this.#probe))
  }

  /**
   * Each longest stretch of which every character lies in a run of some key. Takes time in proportion to the text, whatever
   * it holds.
   */
  runsIn(text: string): Stretch[] {
    const size = this.#size
    const probe = this.#probe
    const found: [start: number, end: number][] = []
    let next = 0
    for (let sample = size - probe; sample + probe <= text.length; sample += size - probe + 1) {
      if (!this.#probes.has(text.slice(sample, sample + probe))) continue
      for (let at = Math.max(next, sample + probe - size); at + size <= text.length; at++) {
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
}

/** A stretch of a text that is written as something else. */
export type Span = readonly [start: number, end: number, label: string]

/**
 * The text with the spans replaced: whole keys first, the longer before the shorter if they overlap; then what is left of
 * the runs, each stretch as one.
 */
export function replaceSpans(text: string, wholes: readonly Span[], runs: readonly Span[]): string {
  const spans = [...wholes.toSorted(longestFirst), ...runs]
  if (spans.length === 0) return text
  // 0: not replaced; else the number of the span that replaces the character, the same number for all runs.
  const owner = new Uint32Array(text.length)
  spans.forEach(([start, end], index) => {
    const isWhole = index < wholes.length
    if (isWhole && owner.subarray(start, end).some((number) => number !== 0)) return
    const number = isWhole ? index + 1 : wholes.length + 1
    for (let at = start; at < end; at++) if (owner[at] === 0) owner[at] = number
  })
  const parts: string[] = []
  for (let at = 0; at < text.length;) {
    const number = owner[at] as number
    let end = at + 1
    while (end < text.length && owner[end] === number) end++
    parts.push(number === 0 ? text.slice(at, end) : (spans[number - 1] as Span)[2])
    at = end
  }
  return parts.join('')
}

const longestFirst = (one: Span, other: Span): number => other[1] - other[0] - (one[1] - one[0]) || one[0] - other[0]

/** The stretches of the run that lie in no kept text: none if the whole run is kept. */
export function withoutKept(text: string, [start, end]: Stretch, kept: readonly string[]): Stretch[] {
  const taken = kept.flatMap((one) => occurrences(text, [start, end], one)).sort(([one], [other]) => one - other)
  const rest: Stretch[] = []
  let from = start
  for (const [begins, ends] of taken) {
    if (begins > from) rest.push([from, begins])
    from = Math.max(from, ends)
  }
  if (from < end) rest.push([from, end])
  return rest
}

/** The places of a kept text that share at least one character with the run. */
function occurrences(text: string, [start, end]: Stretch, kept: string): Stretch[] {
  const from = Math.max(0, start - kept.length + 1)
  const around = text.slice(from, end + kept.length - 1)
  const found: Stretch[] = []
  for (let at = around.indexOf(kept); at >= 0; at = around.indexOf(kept, at + 1))
    found.push([from + at, from + at + kept.length])
  return found
}
