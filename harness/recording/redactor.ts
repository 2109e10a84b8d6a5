import { replaceSpans, RunIndex, type Span, withoutKept, withTail } from './spans.ts'
import { base64, bitsOf, type Encoding, hex, plain } from './encoding.ts'
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

interface Index {
  readonly encoding: Encoding
  readonly runs: RunIndex
}

/**
 * Removes keys from everything that is shown or stored: whole ones are written as their label, parts of
 * 12 characters or more as `[redacted]`, whether plain, percent-encoded, escaped for JSON, HTML or XML, escaped twice, in
 * UTF-16, in hex, base64 or base64url.
 */
export class Redactor {
  readonly #keys: Key[] = []
  readonly #known = new Set<string>()
  readonly #kept = new Set<string>()
  readonly #indexes = new Map<string, Index>()
  /** Numbers of keys that no index has yet: a run that fails nothing shows little, and often asks for none. */
  #unindexed: number[] = []
  /** Kept texts that share a run with some key; undefined until they are looked for. */
  #relevant: string[] | undefined

  /** Learns a key and how it is written in its place. The first label of a key stays. */
  add(secret: string, label: string): void {
    if (secret === '' || this.#known.has(secret)) return
    this.#known.add(secret)
    const number = this.#keys.push({ value: secret, label }) - 1
    // What is written in place of a key stays as it is when the text is read again.
    this.#kept.add(label)
    if (secret.length < shortestKey) return
    this.#relevant = undefined
    this.#unindexed.push(number)
  }

  #index(): void {
    for (const number of this.#unindexed) {
      const { value } = this.#keys[number] as Key
      for (const encoding of encodings) {
        const runs = this.#runsOf(encoding, encoding.shortest(Math.min(run, value.length)))
        for (const form of encoding.streams(secretPart(value))) runs.add(form)
        encoding.streams(value).forEach((form, stream) => runs.addWhole({ form, key: number, stream }))
      }
    }
    this.#unindexed = []
  }

  /** Learns a value made from a key, and how it is written: `${CONFORM_API_KEY%????}`. */
  addDerived(value: string, shown: string): void {
    this.add(value, shown)
  }

  /** Text that stays although a key has it too (for example an id that is in a token); a whole key does not stay. */
  keep(text: string): void {
    this.#kept.add(text)
    this.#relevant = undefined
  }

  /** The text without any key. */
  text(text: string): string {
    const shown = this.#long(text)
    return this.#shortKeys().reduce(
      (rest, { value, label }) =>
        [value, ...schemes.map((scheme) => `${scheme} ${value}`)].reduce(
          (left, whole) =>
            left.replaceAll(JSON.stringify(whole), () => JSON.stringify(whole.replace(value, () => label))),
          rest,
        ),
      shown,
    )
  }

  /** A header's value without any key. A short key is found if it is the whole value, or all that follows a scheme. */
  header(_name: string, value: string): string {
    const [, scheme = '', rest = ''] = /^(\S+ +)?(.*)$/s.exec(value) ?? []
    for (const key of this.#shortKeys()) {
      if (value === key.value) return key.label
      if (rest === key.value) return scheme + key.label
    }
    return this.text(value)
  }

  #shortKeys(): Key[] {
    return this.#keys.filter(({ value }) => value.length < shortestKey)
  }

  #long(text: string): string {
    if (this.#unindexed.length > 0) this.#index()
    const indexes = [...this.#indexes.values()].filter(({ runs }) => runs.size <= text.length)
    if (indexes.length === 0) return text
    const kept = (this.#relevant ??= this.#relevantTexts())
    const parts: Span[] = []
    const wholes: Span[] = []
    for (const view of viewsOf(text)) {
      const spanOf = ([from, to]: readonly [number, number], label: string): Span => {
        return { start: view.originAt(from), end: view.originAt(to), label }
      }
      for (const { encoding, runs } of indexes) {
        const folded = encoding.fold(view.text)
        const found = runs.runsIn(folded)
        if (found.length === 0) continue
        const shared = encoding === plain ? found.flatMap((one) => withoutKept(folded, one, kept)) : found
        parts.push(...shared.map((one) => spanOf(one, redacted)))
        for (const [{ form, key, stream }, start] of runs.wholesIn(folded)) {
          const { value, label } = this.#keys[key] as Key
          const place = [start, start + form.length] as const
          const tail = { bits: bitsOf(value), stream }
          wholes.push(spanOf(encoding === base64 ? withTail(folded, place, tail) : place, label))
        }
      }
    }
    return replaceSpans(text, wholes, parts)
  }

  #runsOf(encoding: Encoding, size: number): RunIndex {
    const name = `${encodings.indexOf(encoding)} ${size}`
    const index = this.#indexes.get(name) ?? { encoding, runs: new RunIndex(size) }
    this.#indexes.set(name, index)
    return index.runs
  }

  #relevantTexts(): string[] {
    const plains = [...this.#indexes.values()].filter(({ encoding }) => encoding === plain)
    return [...this.#kept].filter((text) => plains.some(({ runs }) => runs.runsIn(text).length > 0))
  }
}

const encodings: readonly Encoding[] = [plain, hex, base64]

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
