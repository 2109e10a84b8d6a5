import type { Span, Encoding } from './spans.ts'
import { replaceSpans, RunIndex, withoutKept, withTail, base64, bitsOf, hex, plain } from './spans.ts'

/** A text as it reads, or as it reads once escapes are undone. */
interface View {
  readonly text: string
  /** Maps an index of the view to the text as it was: to the beginning of that character, or for the length to the end of the last one. */
  originAt(at: number): number
}

/** HTML's named references to the printable ASCII characters; XML's five are among them. A key has no others. */
const entities: Readonly<Record<string, string>> = {
  ...{ excl: '!', quot: '"', QUOT: '"', num: '#', dollar: '$', percnt: '%', amp: '&', AMP: '&', apos: "'" },
  ...{ lpar: '(', rpar: ')', ast: '*', midast: '*', plus: '+', comma: ',', period: '.', sol: '/' },
  ...{ colon: ':', semi: ';', lt: '<', LT: '<', equals: '=', gt: '>', GT: '>', quest: '?', commat: '@' },
  ...{ lsqb: '[', lbrack: '[', bsol: '\\', rsqb: ']', rbrack: ']', Hat: '^', lowbar: '_', UnderBar: '_', grave: '`' },
  ...{ lcub: '{', lbrace: '{', vert: '|', verbar: '|', VerticalLine: '|', rcub: '}', rbrace: '}' },
}

const jsonEscapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }

/**
 * Escapes of one character, by the mark that they begin with. A number's semicolon may be missing, and it may have leading
 * zeros; HTML reads a few names without a semicolon as well. NULs stand before a character in UTF-16 and UTF-32 that is read
 * byte by byte.
 */
const patterns: readonly string[] = [
  String.raw`%[\dA-Fa-f]{2}`,
  String.raw`\\(?:u[\dA-Fa-f]{4}|[bfnrt"\\/])`,
  String.raw`&(?:#[Xx][\dA-Fa-f]{1,13}(?![\dA-Fa-f]);?|#\d{1,14}(?!\d);?|(?:${Object.keys(entities).join('|')});|(?:amp|AMP|lt|LT|gt|GT|quot|QUOT))`,
  String.raw`\0{1,8}[^\0]`,
]
const single = patterns.map((pattern) => new RegExp(pattern, 'g'))
const together = new RegExp(patterns.join('|'), 'g')

/** The character that an escape stands for; undefined if none has that number. */
function characterOf(escape: string): string | undefined {
  switch (escape[0]) {
    case '%':
      return characterAt(Number.parseInt(escape.slice(1), 16))
    case '\\':
      if (escape[1] === 'u') return characterAt(Number.parseInt(escape.slice(2), 16))
      return jsonEscapes[escape[1] as string] ?? escape[1]
    case '&': {
      const name = escape.slice(1).replace(';', '')
      if (name[0] !== '#') return entities[name]
      return characterAt(/x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1)))
    }
    default:
      return escape.at(-1)
  }
}

function characterAt(code: number): string | undefined {
  return code > 0xffff ? undefined : String.fromCharCode(code)
}

/**
 * How often a text is unescaped: what was escaped already may be escaped again on its way (a percent sign in a path, an
 * ampersand in JSON). Nobody reads a text by chance that is escaped more often than that.
 */
const rounds = 3

/**
 * The text, and the text with percent-encoding, JSON escapes, HTML and XML entities or the NULs of wider characters undone.
 * Each kind that the text has is undone by itself, since a key may have what looks like another kind. If there are several
 * kinds, or one leads to another, all of them are also undone at once.
 */
export function viewsOf(text: string): View[] {
  const raw: View = { text, originAt: (at) => at }
  const alone = single.map((escapes) => undone(raw, escapes))
  return [raw, ...alone.flat(), ...(isMixed(alone) ? undone(raw, together) : [])]
}

/** Whether undoing one kind of escape by itself, as often as there is any, leaves some of another kind. */
function isMixed(alone: readonly (readonly View[])[]): boolean {
  return alone.some((views, kind) => {
    const last = views.at(-1)
    return last !== undefined && single.some((escapes, other) => other !== kind && undo(last, escapes) !== undefined)
  })
}

/** Undone once, again, and so on, until there is nothing to undo. */
function undone(raw: View, escapes: RegExp): View[] {
  const views: View[] = []
  for (let view = undo(raw, escapes); view && views.length < rounds; view = undo(view, escapes)) views.push(view)
  return views
}

/** Undefined if there is no escape. */
function undo({ text, originAt }: View, escapes: RegExp): View | undefined {
  const shown = text.replace(escapes, (escape) => characterOf(escape) ?? escape)
  if (shown.length === text.length) return undefined
  // Places are asked for only if a key was found, which is seldom: they are counted then.
  let origins: Int32Array | undefined
  return { text: shown, originAt: (at) => originAt((origins ??= originsOf(text, shown.length, escapes))[at] as number) }
}

function originsOf(text: string, length: number, escapes: RegExp): Int32Array {
  const origins = new Int32Array(length + 1)
  let from = 0
  let index = 0
  const copyTo = (end: number): void => {
    for (; from < end; from++) origins[index++] = from
  }
  for (const { 0: escape, index: at } of text.matchAll(escapes)) {
    if (characterOf(escape) === undefined) continue
    copyTo(at)
    origins[index++] = at
    from = at + escape.length
  }
  copyTo(text.length)
  origins[length] = text.length
  return origins
}

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
    // The text in place of a key is not redacted again.
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
