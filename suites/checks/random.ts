import { createHash } from 'node:crypto'
import type { Given, RunOptions } from '../../harness/client/index.ts'
import { isUuid } from '../../schemas/formats.ts'

interface Seeded {
  readonly options: Pick<RunOptions, 'seed' | 'depth'>
}

/** Ids that are in the target file, or were seen or sent in this run. */
interface KnownIds {
  readonly objects: Pick<Given['objects'], 'takenIds'>
}

/** Derives a 32-bit seed from the run's seed and a name (usually a requirement id). */
export const seedFor = (given: Seeded, name: string): number =>
  createHash('sha256').update(`${given.options.seed}:${name}`).digest().readInt32BE(0)

/** A seeded stream of numbers in [0, 1) (mulberry32), for choices without an arbitrary. */
export function randomFor(known: Seeded, name: string): () => number {
  let state = seedFor(known, name) >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

export const drawFrom = <T>(from: ArrayLike<T>, random: () => number): T | undefined =>
  from[Math.floor(random() * from.length)]

/** In seeded order. */
export function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const drawn = items.map((item) => ({ item, at: random() }))
  return drawn.toSorted((one, other) => one.at - other.at).map((one) => one.item)
}

/** A seeded word of 12 letters that names nothing. */
export function unknownWord(known: Seeded, name: string): string {
  const random = randomFor(known, name)
  return Array.from({ length: 12 }, () => drawFrom(classes[1], random)).join('')
}

/** All cases; for a quick run one of them, drawn for the requirement. */
export function sampled<T>(known: Seeded, requirement: string, cases: readonly T[]): readonly T[] {
  if (known.options.depth === 'full') return cases
  const at = Math.floor(randomFor(known, `case of ${requirement}`)() * cases.length)
  return cases.slice(at, at + 1)
}

const classes = ['0123456789', 'abcdefghijklmnopqrstuvwxyz', 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'] as const
const classOf = (char: string): string | undefined => classes.find((one) => one.includes(char))

/** Minimum random characters of an unknown id: fewer could match an existing one. */
const fewest = 9
const longest = 64

/** A character of a class that the id contains, if enough: hexadecimal and base 32 use fewer letters. */
function drawLike(id: string, from: string, random: () => number): string {
  const own = [...from].filter((char) => id.includes(char))
  return drawFrom(own.length > 3 ? own : from.slice(0, from === classes[0] ? 10 : 6), random)!
}

function likeUuid(id: string, random: () => number): string {
  const isUpper = id !== id.toLowerCase()
  const made = [...id].map((char, at) => {
    // Version and variant tell what kind of uuid it is: kept, so that no parser refuses it for them.
    if (char === '-' || at === 14 || at === 19) return char
    return drawFrom('0123456789abcdef', random)
  })
  return isUpper ? made.join('').toUpperCase() : made.join('')
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
  const drawn = [...rest].map((char, at) => {
    const from = classOf(char)
    // The first character may limit the rest (a ULID, a 64-bit number): another one may be refused by form.
    return from && (at > 0 || rest.length <= fewest) ? drawLike(rest, from, random) : char
  })
  if (isNumber(rest) && drawn.join('') > rest) drawn[1] = '0'
  let free = [...rest].filter(classOf).length
  const filler = classes.find((one) => [...rest].some((char) => one.includes(char))) ?? classes[1]
  while (free++ < fewest && prefix.length + drawn.length < longest)
    drawn.push(drawLike(rest, filler, random))
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
export function freshUnknownId(known: KnownIds, like: string, random: () => number): string {
  const id = unknownId(like, random, known.objects.takenIds)
  known.objects.takenIds.add(id.toLowerCase())
  return id
}

/** Minimum length at which a shortened or lengthened id is surely unknown; sequential numbers need more. */
const leastChars = 6
const leastDigits = 15

export const isNumber = (id: string): boolean => /^[0-9]+$/.test(id)

/**
 * The id without its last character, or with one more of the same kind; undefined if it might exist. Letters follow
 * digits, since a server may parse the leading number. A short id gets several, since ids may count up in letters, too.
 */
export function changedId(
  run: KnownIds,
  id: string,
  way: 'cut' | 'lengthened',
): string | undefined {
  const last = id.at(-1) ?? ''
  const isCut = way === 'cut'
  const like = last === '1' ? '2' : (classOf(last)?.at(1) ?? 'b')
  if (!/[\p{L}\p{N}]/u.test(last)) return undefined
  // A reader of base64 ignores one character after each fourth.
  const mayBeBase64 = id.length % 4 === 0 && /[A-Z]/.test(id) && /[a-z]/.test(id)
  const more = isNumber(id)
    ? 'x'.repeat(Math.max(1, fewest - id.length))
    : like.repeat(mayBeBase64 ? 2 : 1)
  const made = isCut ? id.slice(0, -1) : id + more
  const free = id.slice(Math.max(id.lastIndexOf('_'), id.lastIndexOf(':')) + 1)
  const least = isNumber(id) && !isCut ? 1 : isNumber(free) ? leastDigits : leastChars
  return free.length < least ||
    made.length > longest ||
    run.objects.takenIds.has(made.toLowerCase())
    ? undefined
    : made
}
