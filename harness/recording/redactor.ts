import { replaceSpans, RunIndex, type Span, withoutKept } from './spans.ts'
import { viewsOf } from './views.ts'

/** A run of this many characters shared with a key is removed. */
const run = 12
/** A shorter key is found only if it is the whole text: in a longer text it could stand by chance. */
export const shortestKey = 8
const redacted = '[redacted]'
/** Schemes before a key in a header that a target repeats: the two together are a whole value too. */
const schemes = ['Bearer', 'bearer', 'Basic', 'basic']

/** Whether the name of a header or of a member of a query tells that its value opens something. */
export function isSecretName(name: string): boolean {
  return /key(?!word)|token|secret|passw(?:or)?d|cookie|authorization|session|signature|csrf/i.test(name)
}

/** Whether the header's value is a scheme and what opens something. */
export function isAuthorization(header: string): boolean {
  return ['authorization', 'proxy-authorization'].includes(header.toLowerCase())
}

interface Key {
  readonly value: string
  readonly label: string
}

/**
 * Removes keys from everything that is shown or stored: whole ones are written as their label, parts of
 * 12 characters or more as `[redacted]`, whether plain, percent-encoded, escaped for JSON, HTML or XML, escaped twice, in
 * UTF-16, in hex, base64 or base64url.
 */
export class Redactor {
  readonly #known = new Set<string>()
  readonly #kept = new Set<string>()
  readonly #short: Key[] = []
  readonly #long: Key[] = []
  /** By the length of the runs: that of a key, if it is less than usual. */
  readonly #indexes = new Map<number, RunIndex>()

  /** Learns a key and how it is written in its place. The first label of a key stays. */
  add(value: string, label: string): void {
    if (value === '' || this.#known.has(value)) return
    this.#known.add(value)
    // The text in place of a key is not redacted again.
    this.#kept.add(label)
    const isShort = value.length < shortestKey
    ;(isShort ? this.#short : this.#long).push({ value, label })
    if (isShort) return
    const size = Math.min(run, value.length)
    const index = this.#indexes.get(size) ?? new RunIndex(size)
    this.#indexes.set(size, index)
    index.add(secretPart(value))
  }

  /** Learns a value made from a key, and how it is written: `${CONFORM_API_KEY%????}`. */
  addDerived(value: string, shown: string): void {
    this.add(value, shown)
  }

  /** Text that stays although a key has it too (for example an id that is in a token); a whole key does not stay. */
  keep(text: string): void {
    this.#kept.add(text)
  }

  /** The text without any key. */
  text(text: string): string {
    return this.#short.reduce(
      (rest, { value, label }) =>
        [value, ...schemes.map((scheme) => `${scheme} ${value}`)].reduce(
          (left, whole) =>
            left.replaceAll(JSON.stringify(whole), () => JSON.stringify(whole.replace(value, () => label))),
          rest,
        ),
      this.#withoutLong(text),
    )
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
    const shortest = Math.min(...this.#indexes.keys())
    if (text.length < shortest) return text
    const parts: Span[] = []
    const wholes: Span[] = []
    for (const { text: shown, place, isDecoded } of viewsOf(text)) {
      const found = this.#runsIn(shown)
      if (found.length === 0) continue
      const kept = isDecoded ? [] : [...this.#kept].filter((one) => this.#runsIn(one).length > 0)
      for (const stretch of found)
        for (const [from, to] of withoutKept(shown, stretch, kept)) parts.push([...place(from, to), redacted])
      for (const { value, label } of this.#long)
        for (let at = shown.indexOf(value); at >= 0; at = shown.indexOf(value, at + value.length))
          wholes.push([...place(at, at + value.length), label])
    }
    return replaceSpans(text, wholes, parts)
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
  return rest.length === 2 && head !== undefined && isJoseHeader(head) && secret.length >= 12 ? secret : key
}

function isJoseHeader(part: string): boolean {
  try {
    const header: unknown = JSON.parse(Buffer.from(part, 'base64url').toString())
    return typeof header === 'object' && header !== null && 'alg' in header
  } catch {
    return false
  }
}
