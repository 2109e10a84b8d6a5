import type { JsonKind } from '../../catalogue/operation.ts'
import type { Given, RunOptions } from '../../harness/client/index.ts'
import fc from 'fast-check'
import { createHash } from 'node:crypto'
import { isUuid } from '../../schemas/formats.ts'

/** Derives a 32-bit seed from the run's seed and a name (usually a requirement id). */
export function seedFor(seed: number, name: string): number {
  return createHash('sha256').update(`${seed}:${name}`).digest().readInt32BE(0)
}

/** A stream of numbers in [0, 1) from a seed (mulberry32), for choices without an arbitrary, such as unknown ids. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

/** What is known of a run before anything is sent; a run is that and more. */
export interface Known {
  readonly target: Given['target']
  readonly options: Pick<RunOptions, 'seed' | 'depth' | 'refusalRuns' | 'grantedRuns' | 'readOnly'>
  readonly objects: Pick<Given['objects'], 'takenIds'>
}

export type OfTarget = Pick<Known, 'target'>

interface SampledFor {
  readonly given: { readonly options: Pick<RunOptions, 'depth' | 'seed'> }
  readonly requirement: { readonly id: string }
}

export function randomFor(sampledFor: SampledFor): () => number {
  return randomOf(seedFor(sampledFor.given.options.seed, sampledFor.requirement.id))
}

/** A seeded word of 12 letters that names nothing. */
export function unknownWord(run: Pick<Known, 'options'>, name: string): string {
  const random = randomOf(seedFor(run.options.seed, name))
  return Array.from({ length: 12 }, () => String.fromCharCode(97 + Math.floor(random() * 26))).join(
    '',
  )
}

export function sampled<T>(
  { given: { options }, requirement }: SampledFor,
  cases: readonly T[],
): readonly T[] {
  if (options.depth === 'full') return cases
  const at = Math.floor(
    randomOf(seedFor(options.seed, `case of ${requirement.id}`))() * cases.length,
  )
  return cases.slice(at, at + 1)
}

const classes = ['0123456789', 'abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'] as const
const hexDigits = '0123456789abcdef'

/** Minimum random characters of an unknown id: fewer could match an existing one. */
const fewest = 9
const longest = 64

function pick(from: string, random: () => number): string {
  return from[Math.floor(random() * from.length)] as string
}

/** Characters of a class that the id contains, if enough: hexadecimal and base 32 use fewer letters. */
function ofItsOwn(id: string, from: string): string {
  const own = [...from].filter((char) => id.includes(char))
  return own.length > 3 ? own.join('') : from.slice(0, from === classes[0] ? 10 : 6)
}

function likeUuid(id: string, random: () => number): string {
  const upper = id !== id.toLowerCase()
  // Version (14th digit) and variant (19th) tell what kind of uuid it is: kept, so that no parser refuses it for them.
  return [...id]
    .map((char, at) => {
      if (char === '-' || at === 14 || at === 19) return char
      const digit = pick(hexDigits, random)
      return upper ? digit.toUpperCase() : digit
    })
    .join('')
}

function likeWord(id: string, random: () => number, known: boolean): string {
  const split = Math.max(id.lastIndexOf('_'), id.lastIndexOf('-'), id.lastIndexOf(':')) + 1
  // Leaves room for random characters, however long the prefix.
  const prefix = id.slice(0, Math.min(split, longest - fewest))
  const rest = id.slice(split)
  if (/^[0-9]*$/.test(rest) && rest.length < fewest) {
    // Within 32 bits, so that a server with numeric ids looks it up instead of refusing its form.
    return prefix + (known ? String(100000000 + Math.floor(random() * 899999999)) : '999999937')
  }
  const alphabet = (char: string): string | undefined => classes.find((one) => one.includes(char))
  const drawn = [...rest].map((char, at) => {
    const from = alphabet(char)
    // The first character may limit the rest (a ULID, a 64-bit number): another one may be refused by form.
    return from && (at > 0 || rest.length <= fewest) ? pick(ofItsOwn(rest, from), random) : char
  })
  if (isNumber(rest) && drawn.join('') > rest) drawn[1] = '0'
  let free = [...rest].filter(alphabet).length
  const filler = classes.find((one) => [...rest].some((char) => one.includes(char))) ?? classes[1]
  while (free++ < fewest && prefix.length + drawn.length < longest)
    drawn.push(pick(ofItsOwn(rest, filler), random))
  return (prefix + drawn.join('')).slice(0, longest)
}

/**
 * An unknown id in the form of `like`: a uuid keeps version and variant; otherwise the prefix up to the last `_`, `-`
 * or `:` and each character's class are kept, with random characters from those of `like`. Never one of `taken` (lower
 * case).
 */
export function unknownId(like: string, random: () => number, taken: ReadonlySet<string>): string {
  for (let round = 0; ; round++) {
    const id = isUuid(like) ? likeUuid(like, random) : likeWord(like, random, round > 0)
    if (!taken.has(id.toLowerCase())) return id
  }
}

/** An unknown id of that form: not in the target file, and not seen or sent in this run. */
export function freshUnknownId(
  run: Pick<Known, 'objects'>,
  like: string,
  random: () => number,
): string {
  const id = unknownId(like, random, run.objects.takenIds)
  run.objects.takenIds.add(id.toLowerCase())
  return id
}

/** Minimum length at which a shortened or lengthened id is surely unknown; sequential numbers need more. */
const leastChars = 6
const leastDigits = 15

export const isNumber = (id: string): boolean => /^[0-9]+$/.test(id)

/**
 * The id without its last character, or with two more of the same kind; undefined if it might exist. Base64 readers
 * ignore one missing character, and trailing padding or brackets. Letters follow digits, since a server may parse the
 * leading number. A short id gets several, since ids may count up in letters, too.
 */
export function changedId(
  run: Pick<Known, 'objects'>,
  id: string,
  way: 'cut' | 'lengthened',
): string | undefined {
  const last = id.at(-1) ?? ''
  const isCut = way === 'cut'
  const like = last === '1' ? '2' : (classes.find((one) => one.includes(last))?.at(1) ?? 'b')
  if (!/[\p{L}\p{N}]/u.test(last)) return undefined
  const more = isNumber(id) ? 'x'.repeat(Math.max(1, fewest - id.length)) : like.repeat(2)
  const made = isCut ? id.slice(0, -1) : id + more
  const free = id.slice(Math.max(id.lastIndexOf('_'), id.lastIndexOf(':')) + 1)
  const least = isNumber(id) && !isCut ? 1 : isNumber(free) ? leastDigits : leastChars
  return free.length < least ||
    made.length > longest ||
    run.objects.takenIds.has(made.toLowerCase())
    ? undefined
    : made
}

export function kindOf(value: unknown): JsonKind {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value as JsonKind
}

const word = fc.stringMatching(/^[a-z]{1,12}$/)

/** Ranges of standalone characters: Latin, Greek, Cyrillic, Hebrew, Chinese, emoji. */
const scripts = [' ~', '¡ſ', 'ΑΡ', 'Ая', 'את', '一龥', '😀🙏'] as const
const character = fc
  .oneof(
    ...scripts.map((ends) => {
      const [min, max] = [...ends].map((end) => end.codePointAt(0)!)
      return fc.integer({ min, max })
    }),
  )
  .map((code) => String.fromCodePoint(code))

/** Texts of many scripts; fast-check's own graphemes load a table of some MB. */
export const anyText = (maxLength: number): fc.Arbitrary<string> =>
  fc.string({ unit: character, minLength: 1, maxLength })

/** Small values of each kind that shrink in a few steps; never empty. */
const ofKind: Readonly<Record<JsonKind, fc.Arbitrary<unknown>>> = {
  null: fc.constant(null),
  boolean: fc.boolean(),
  number: fc.oneof(
    fc.integer({ min: -1000, max: 1000 }),
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }),
  ),
  string: word,
  array: fc.array(fc.oneof(word, fc.integer({ min: 0, max: 99 })), { minLength: 1, maxLength: 3 }),
  object: fc.dictionary(word, fc.oneof(word, fc.integer({ min: 0, max: 99 })), {
    minKeys: 1,
    maxKeys: 2,
  }),
}

export function ofKindsAny(...kinds: JsonKind[]): fc.Arbitrary<unknown> {
  return fc.oneof(...kinds.map((kind) => ofKind[kind]))
}

export const sample: Readonly<Record<JsonKind, unknown>> = {
  null: null,
  boolean: true,
  number: 42,
  string: 'text',
  array: ['text'],
  object: { key: 'text' },
}

/**
 * Falsy values, which `if (!value)` treats as absent, for optional members; the number if the member tolerates a
 * boolean.
 */
export const falsy = { boolean: false, number: 0 } as const

export const byIndex: unknown = { 0: 'text' }

/**
 * The value to replace `value`, keeping the member's own content as a lenient server would read it: in an array; as an
 * object of an array's items; as an object with a text under common names. One item in place of its array is never
 * used: a server may accept it.
 */
export function inPlaceOf(own: unknown, value: unknown): unknown {
  const isSample = value === byIndex || value === sample[kindOf(value)]
  if (own === undefined || own === null || !isSample) return value
  if (typeof own === 'string' && value === sample.object)
    return { text: own, value: own, id: own, name: own }
  if (!Array.isArray(own)) return value === sample.array ? [own] : value
  const items = own as readonly unknown[]
  if (items.length === 0) return value
  if (value !== byIndex && kindOf(items[0]) === kindOf(value)) return value
  return value === byIndex || value === sample.object ? { ...items } : value
}

export function nameOfKind(kind: JsonKind): string {
  if (kind === 'null') return 'null'
  return /^[aeiou]/.test(kind) ? `an ${kind}` : `a ${kind}`
}

/** A value for a sentence, at most 60 characters. */
export function shown(value: unknown): string {
  const text = (JSON.stringify(value) as string | undefined) ?? 'nothing'
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}
