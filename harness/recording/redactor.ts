import { redacted } from './recorded.ts'
import { viewsOf } from './views.ts'

/** A run of this many characters shared with a key is removed. */
const run = 12
/** A shorter key is found only if it is the whole text: in a longer text it could stand by chance. */
export const shortestKey = 8
/** Schemes before a key in a header that a target repeats: the two together are a whole value too. */
const schemes = ['Bearer', 'bearer', 'Basic', 'basic']

/** Whether the name of a header or of a member of a query tells that its value opens something. */
export function isSecretName(name: string): boolean {
  return /key(?!word)|token|secret|passw(?:or)?d|cookie|authorization|session|signature|csrf/i.test(
    name,
  )
}

/** Whether the header's value is a scheme and what opens something. */
export function isAuthorization(header: string): boolean {
  return ['authorization', 'proxy-authorization'].includes(header.toLowerCase())
}

interface Key {
  readonly value: string
  readonly label: string
}

/** Ways in which a target may show a key: it is still to be read from what is written in other letters, or backwards. */
const writings: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text.toLowerCase(),
  (text) => text.toUpperCase(),
  (text) =>
    text.replaceAll(/[a-z]+|[A-Z]+/g, (one) =>
      /[a-z]/.test(one) ? one.toUpperCase() : one.toLowerCase(),
    ),
  (text) => [...text].reverse().join(''),
]

type Stretch = readonly [start: number, end: number]

/**
 * All runs of `size` characters of some keys. A text is read by samples: of the `size - probe + 1` characters in a row one
 * probe is looked up. Every position is looked at only if a key has that probe.
 */
class RunIndex {
  readonly #size: number
  readonly #probe: number
  readonly #probes = new Set<string>()
  readonly #runs = new Set<string>()

  constructor(size: number) {
    this.#size = size
    this.#probe = Math.floor(size / 2)
  }

  add(key: string): void {
    for (let at = 0; at + this.#probe <= key.length; at++) {
      this.#probes.add(key.slice(at, at + this.#probe))
      if (at + this.#size <= key.length) this.#runs.add(key.slice(at, at + this.#size))
    }
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

/**
 * Removes keys from everything that is shown or stored: whole ones are written as their label, parts of
 * 12 characters or more as `[redacted]`, whether plain, in other letter case, backwards, percent-encoded, escaped for JSON, HTML or
 * XML, escaped twice, in UTF-16, in hex, base64 or base64url.
 */
export class Redactor {
  readonly #known = new Set<string>()
  readonly #kept = new Set<string>()
  readonly #short: Key[] = []
  readonly #long: Key[] = []
  /** By the length of the runs: that of a key, if it is less than usual. */
  readonly #indexes = new Map<number, RunIndex>()
  /** How many of the long keys are in the indexes: many runs have no text that may show one. */
  #indexed = 0

  /** Learns a key, or what was made from one, and how it is written in its place. The first label of a key stays. */
  add(value: string, label: string): void {
    if (value === '' || this.#known.has(value)) return
    this.#known.add(value)
    // The text in place of a key is not redacted again.
    this.#kept.add(label)
    const keys = value.length < shortestKey ? this.#short : this.#long
    keys.push({ value, label })
  }

  /** Text that stays although a key has it too (for example an id that is in a token); a whole key does not stay. */
  keep(text: string): void {
    this.#kept.add(text)
  }

  text(text: string): string {
    let rest = this.#withoutLong(text)
    for (const { value, label } of this.#short)
      for (const before of ['', ...schemes.map((scheme) => `${scheme} `)])
        rest = rest.replaceAll(JSON.stringify(before + value), () => JSON.stringify(before + label))
    return rest
  }

  /** A header's value without any key. A short key is found if it is the whole value, or all that follows a scheme. */
  header(_name: string, value: string): string {
    const [, scheme = '', rest = ''] = /^(\S+ +)?(.*)$/s.exec(value) ?? []
    for (const key of this.#short) {
      if (value === key.value) return key.label
      if (rest === key.value) return scheme + key.label
    }
    return this.text(value)
  }

  #withoutLong(text: string): string {
    while (this.#indexed < this.#long.length) this.#index(this.#long[this.#indexed++]!)
    const shortest = Math.min(...this.#indexes.keys())
    if (text.length < shortest) return text
    const parts: Span[] = []
    const wholes: Span[] = []
    for (const { text: shown, place, isDecoded } of viewsOf(text)) {
      const found = this.#runsIn(shown)
      if (found.length === 0) continue
      const kept = isDecoded ? [] : [...this.#kept].filter((one) => this.#runsIn(one).length > 0)
      for (const stretch of found)
        for (const [from, to] of withoutKept(shown, stretch, kept))
          parts.push([...place(from, to), redacted])
      for (const { value, label } of this.#long)
        for (let at = shown.indexOf(value); at >= 0; at = shown.indexOf(value, at + value.length))
          wholes.push([...place(at, at + value.length), label])
    }
    return replaceSpans(text, wholes, parts)
  }

  #index({ value }: Key): void {
    const size = Math.min(run, value.length)
    const index = this.#indexes.get(size) ?? new RunIndex(size)
    this.#indexes.set(size, index)
    const secret = secretPart(value)
    for (const write of writings) index.add(write(secret))
  }

  #runsIn(text: string) {
    return [...this.#indexes.values()].flatMap((index) => index.runsIn(text))
  }
}

/**
 * The part of a key whose runs give it away. A JWT's first part says only how it is signed and is the same in many
 * tokens, so that the second and third count; of any other key all of it.
 */
function secretPart(key: string): string {
  const [head, ...rest] = key.split('.')
  const secret = rest.join('.')
  return rest.length === 2 && head !== undefined && isJoseHeader(head) && secret.length >= 12
    ? secret
    : key
}

function isJoseHeader(part: string): boolean {
  try {
    const header: unknown = JSON.parse(Buffer.from(part, 'base64url').toString())
    return typeof header === 'object' && header !== null && 'alg' in header
  } catch {
    return false
  }
}

type Span = readonly [start: number, end: number, label: string]

/**
 * The text with the spans replaced: whole keys first, the longer before the shorter if they overlap; then what is left of
 * the runs, each stretch as one.
 */
function replaceSpans(text: string, wholes: readonly Span[], runs: readonly Span[]): string {
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

const longestFirst = (one: Span, other: Span): number =>
  other[1] - other[0] - (one[1] - one[0]) || one[0] - other[0]

/** The stretches of the run that lie in no kept text: none if the whole run is kept. */
function withoutKept(text: string, [start, end]: Stretch, kept: readonly string[]): Stretch[] {
  const taken = kept
    .flatMap((one) => occurrences(text, [start, end], one))
    .sort(([one], [other]) => one - other)
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
