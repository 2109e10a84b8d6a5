import { unescape } from 'node:querystring'
import { inspect } from 'node:util'

export const redacted = '[redacted]'

const run = 12
/** Each run contains a whole probe at a multiple of `run - probe + 1`: only these are looked up first. */
const probe = 6
/** A shorter key is only found as the whole text: within a longer one it could be a coincidence. */
export const shortestKey = 8

export function isSecretName(name: string): boolean {
  return (
    /key(?!word)|token|secret|passw(?:or)?d|cookie|authorization|session|signature|csrf/i.test(
      name,
    ) || /credential|^(?:sig|code)$|^x-amz-/i.test(name)
  )
}

/** The secrets in the query of a URL, by the names of its members; a plus may stand for a blank. */
export function secretsInQuery(url: string): string[] {
  const [, query = ''] = /\?([^#]*)/.exec(url) ?? []
  return query.split('&').flatMap((member) => {
    const [name = '', ...value] = member.split('=').map(unescape)
    const text = value.join('=')
    return text !== '' && isSecretName(name) ? [text, text.replaceAll('+', ' ')] : []
  })
}

export function isAuthorization(header: string): boolean {
  return ['authorization', 'proxy-authorization'].includes(header.toLowerCase())
}

/** The password in the credentials of scheme Basic: none if it is too short to be found in a text. */
export function passwordIn(credentials: string): string[] {
  const password = Buffer.from(credentials, 'base64').toString().split(':').slice(1).join(':')
  return password.length >= shortestKey ? [password] : []
}

interface Key {
  readonly value: string
  readonly label: string
}

/**
 * Removes keys from everything shown or stored: whole keys are replaced by their label, parts of 12 or more characters
 * by `[redacted]`, whether plain, percent-encoded, escaped for JSON, HTML or XML, in hex, base64 or base64url.
 */
export class Redactor {
  readonly #known = new Set<string>()
  readonly #kept = new Set<string>()
  readonly #short: Key[] = []
  readonly #long: Key[] = []
  readonly #runs = new Set<string>()
  readonly #probes = new Set<string>()

  /** @param of what is known at first, such as what a target file contains */
  constructor(of: { readonly secrets?: readonly Key[]; readonly kept?: readonly string[] } = {}) {
    for (const { value, label } of of.secrets ?? []) this.add(value, label)
    for (const text of of.kept ?? []) this.keep(text)
  }

  add(value: string, label: string): void {
    if (value === '' || this.#known.has(value)) return
    this.#known.add(value)
    this.#kept.add(label)
    const keys = value.length < shortestKey ? this.#short : this.#long
    keys.push({ value, label })
    // In a JWT, the second and third part: the first only names the algorithm and is shared by many tokens.
    const signed = /^eyJ[\w-]*\.([\w-]+\.[\w-]*)$/.exec(value)?.[1] ?? ''
    const secret = signed.length < run ? value : signed
    for (let at = 0; at + run <= secret.length; at++) this.#runs.add(secret.slice(at, at + run))
    for (let at = 0; at + probe <= secret.length; at++)
      this.#probes.add(secret.slice(at, at + probe))
  }

  /** Keeps text that is also part of a key (for example an id in a token), but never a whole key. */
  keep(text: string): void {
    this.#kept.add(text)
  }

  text(text: string): string {
    let rest = this.#withoutLong(text)
    for (const { value, label } of this.#short)
      for (const scheme of ['', 'Bearer ', 'Basic '])
        rest = rest.replaceAll(JSON.stringify(scheme + value), () => JSON.stringify(scheme + label))
    return rest
  }

  header(value: string): string {
    const [, scheme = '', rest = ''] = /^(\S+ +)?(.*)$/s.exec(value) ?? []
    for (const key of this.#short) {
      if (value === key.value) return key.label
      if (rest === key.value) return scheme + key.label
    }
    return this.text(value)
  }

  #withoutLong(text: string): string {
    if (text.length < shortestKey || this.#long.length === 0) return text
    const wholes: Span[] = []
    const parts: Span[] = []
    for (const view of viewsOf(text)) {
      const shared = this.#sharedIn(view.text)
      for (const { value, label } of this.#long)
        if (shared || value.length < run)
          for (const at of placesOf(value, view.text))
            wholes.push([...view.place(at, at + value.length), label])
      if (!shared) continue
      for (const kept of view.isDecoded ? [] : this.#kept)
        if (this.#sharedIn(kept))
          for (const at of placesOf(kept, view.text)) shared.fill(0, at, at + kept.length)
      for (let from = shared.indexOf(1); from >= 0;) {
        const zero = shared.indexOf(0, from)
        const end = zero < 0 ? shared.length : zero
        parts.push([...view.place(from, end), redacted])
        from = shared.indexOf(1, end)
      }
    }
    return replaced(text, wholes, parts)
  }

  #sharedIn(text: string): Uint8Array | undefined {
    let shared: Uint8Array | undefined
    for (let sample = 0; sample + probe <= text.length; sample += run - probe + 1) {
      if (!this.#probes.has(text.slice(sample, sample + probe))) continue
      for (let at = Math.max(0, sample + probe - run); at <= sample; at++)
        if (this.#runs.has(text.slice(at, at + run)))
          (shared ??= new Uint8Array(text.length)).fill(1, at, at + run)
    }
    return shared
  }
}

function placesOf(part: string, text: string): number[] {
  const places: number[] = []
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length))
    places.push(at)
  return places
}

type Span = readonly [start: number, end: number, label: string]

function replaced(text: string, wholes: readonly Span[], parts: readonly Span[]): string {
  const longestFirst = wholes.toSorted((one, other) => other[1] - other[0] - (one[1] - one[0]))
  const spans = [...longestFirst, ...parts]
  if (spans.length === 0) return text
  const owners = new Uint32Array(text.length + 1)
  for (const [index, [start, end]] of spans.entries()) {
    const isWhole = index < wholes.length
    if (isWhole && owners.subarray(start, end).some((owner) => owner !== 0)) continue
    for (let at = start; at < end; at++) owners[at] ||= Math.min(index, wholes.length) + 1
  }
  let shown = ''
  for (let at = 0; at < text.length;) {
    const owner = owners[at]!
    let end = at + 1
    while (end < text.length && owners[end] === owner) end++
    shown += owner === 0 ? text.slice(at, end) : spans[owner - 1]![2]
    at = end
  }
  return shown
}

export interface View {
  readonly text: string
  place(from: number, to: number): readonly [start: number, end: number]
  readonly isDecoded?: true
}

interface Escapes {
  readonly pattern: RegExp
  read(escape: string): string
}

const entities: Escapes = {
  pattern: /&(?:#[Xx][\dA-Fa-f]{1,6}|#\d{1,7}|amp|lt|gt|quot|apos);/g,
  read(escape) {
    const name = escape.slice(1, -1)
    if (!name.startsWith('#'))
      return { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }[name] ?? escape
    const code = Number(name.replace(/^#(x?)/i, (_, x: string) => (x === '' ? '' : '0x')))
    return code > 0xffff ? escape : String.fromCharCode(code)
  },
}
const kinds: readonly Escapes[] = [
  {
    pattern: /%[\dA-Fa-f]{2}/g,
    read: (escape) => String.fromCharCode(Number.parseInt(escape.slice(1), 16)),
  },
  {
    pattern: /\\(?:u[\dA-Fa-f]{4}|["\\/bfnrt])/g,
    read: (escape) => JSON.parse(`"${escape}"`) as string,
  },
  entities,
]

export function withoutEntities(text: string): string {
  return text.replaceAll(entities.pattern, (escape) => entities.read(escape))
}

/** The text itself, and unescaped for each kind of escape in it; each also decoded as hex and base64. */
export function viewsOf(text: string): View[] {
  const whole: View = { text, place: (from, to) => [from, to] }
  return [whole, ...kinds.flatMap((kind) => undone(text, kind))].flatMap((view) => [
    view,
    ...decoded(view),
  ])
}

function undone(text: string, escapes: Escapes): View[] {
  const shown = text.replaceAll(escapes.pattern, (escape) => escapes.read(escape))
  if (shown.length === text.length) return []
  // Computed only if a key was found, which is rare.
  let origins: number[] | undefined
  return [
    {
      text: shown,
      place(from, to) {
        origins ??= originsOf(text, escapes)
        return [origins[from]!, origins[to]!]
      },
    },
  ]
}

function originsOf(text: string, escapes: Escapes): number[] {
  const origins: number[] = []
  let from = 0
  for (const { 0: escape, index } of text.matchAll(escapes.pattern)) {
    if (escapes.read(escape) === escape) continue
    for (; from <= index; from++) origins.push(from)
    from = index + escape.length
  }
  for (; from <= text.length; from++) origins.push(from)
  return origins
}

/** Encodings of bytes as digits: bits per digit, possible alignments, and the minimum length of a key. */
const codings = [
  { format: 'hex', bits: 4, ways: 2, other: /[^\dA-Fa-f]/g, enough: /[\dA-Fa-f]{16}/ },
  { format: 'base64', bits: 6, ways: 4, other: /[^\w+/-]/g, enough: /[\w+/-]{11}/ },
] as const

function decoded(view: View): View[] {
  const present = codings.filter((coding) => coding.enough.test(view.text))
  return present.flatMap(({ format, bits, ways, other }) => {
    const digits = view.text.replace(other, '0')
    return Array.from({ length: ways }, (_, before): View => ({
      text: Buffer.from('0'.repeat(before) + digits, format).toString('latin1'),
      isDecoded: true,
      place(from, to) {
        const end = Math.ceil((8 * to) / bits) - before
        const padding = format === 'base64' ? /^={0,2}/.exec(view.text.slice(end, end + 2))![0] : ''
        return view.place(Math.max(0, Math.floor((8 * from) / bits) - before), end + padding.length)
      },
    }))
  })
}

/** What must not be printed: known keys, and literals in modules that look like keys, guessed before the modules run. */
export const printed = { keys: new Redactor(), literals: new Redactor() }

/** An error as Node.js prints it, with its stack and members, but without known keys. */
export const inspected = (error: unknown): string => printed.keys.text(inspect(error))

/**
 * Notes what looks like a key before a module runs, which may print it or throw it while it loads: literals, and the
 * environment variables that it names.
 */
export function noteSecretsIn(source: string): void {
  const named = /([\w$]+)["']?\s*[:=]\s*(["'`])([^"'`\s]+)\2/g
  for (const [, name = '', , value = ''] of source.matchAll(named)) {
    const isKey = isSecretName(name) || /^(?:full|expired|restricted)$/i.test(name)
    if (isKey && value.length >= shortestKey) printed.literals.add(value, redacted)
  }
  for (const [name, value] of secretVariables())
    if (source.includes(name)) printed.literals.add(value, `$${name}`)
}

const isPlace = (value: string): boolean => /^(?:[./~]|[\w+.-]+:\/|unix:)/.test(value)

/** Environment variables whose name suggests a secret. */
const secretVariables = (): [string, string][] =>
  Object.entries(process.env).flatMap(([name, value = '']) =>
    /key(?!word)|token|secret|passw/i.test(name) && value.length >= shortestKey && !isPlace(value)
      ? [[name, value]]
      : [],
  )

/**
 * An error of foreign code in one line, without anything that may be a key: known keys, values of environment variables
 * with a secret name, and words that look like keys, since such code may have created one.
 */
export function foreignWords(error: unknown): string {
  const redactor = new Redactor()
  for (const [name, value] of secretVariables()) redactor.add(value, `$${name}`)
  const [line = ''] = (error instanceof Error ? error.message : String(error)).trim().split('\n')
  return redactor
    .text(printed.literals.text(printed.keys.text(line.trim().slice(0, longest))))
    .replaceAll(longWord, (word) => (/\.[a-z]{1,4}$/i.test(word) ? word : redacted))
}

const longest = 1_000

const longWord = /(?<![\w/.$~+:@-])(?=[\w+/=~.-]*\d)(?=[\w+/=~.-]*[a-z])[\w+/=~.-]{16,}/gi
