import { isDeepStrictEqual } from 'node:util'
import type { OddBody, OddNumber, OddText } from '../../catalogue/odd-values.ts'
import {
  emptyOf,
  isListed,
  oddBodies,
  oddTexts,
  oddValuesOf,
  twinOf,
} from '../../catalogue/odd-values.ts'
import type { Member } from '../../catalogue/operation.ts'
import { getAt } from '../../schemas/json.ts'
import { type Change, change, deletedIdAt, isOf, topOf, unknownIdAt } from './changes.ts'
import type { Placed } from './places.ts'
import { freshUnknownId, type Known, shown } from './values.ts'

/**
 * Longer than the columns of 255 and of 1,000 characters that names are kept in; of a text that is worked on, than some pages;
 * and, if it may be as long as a file, than a column of 64 KiB.
 */
function lengthOf({ isLimited, tolerates, kinds }: Member): number {
  if (isLimited) return 70_000
  return tolerates?.includes('array') || kinds.includes('array') ? 21_000 : 1200
}

/**
 * Characters that mean something in a format, a template, SQL, a pattern or a line, and some that
 * narrow encodings lack. No U+0000: a server that refuses it would show nothing of these.
 */
export const characters = `%s%n{{'"[(&|:*\\\r\n\u2028\té茶\u202e\u{1f6b0}`

/** Characters of ordinary names, hardly ever forbidden: a server may refuse the others before it uses them. */
export const plainer = `'s é茶\u{1f6b0}`

type ChangedText = (member: Member) => readonly [called: string, change: (own: string) => string]

const texts: Readonly<Record<OddText, ChangedText>> = {
  'odd characters': () => [
    'followed by %s, {{, quotes, line ends and an emoji',
    (own) => own + characters,
  ],
  'U+0000': () => ['followed by U+0000', (own) => `${own}\u0000`],
  'lone surrogate': () => ['followed by half of a surrogate pair', (own) => `${own}\ud83d`],
  long(member) {
    const length = lengthOf(member)
    return [`${length} characters long`, (own) => own.padEnd(length, ' and so on')]
  },
}

/** Stands in a body until the number takes its place that JSON.stringify would not write. */
const stand = 'conform-1e400'

const numbers: Readonly<Record<OddNumber, (member: Member) => unknown>> = {
  negative: () => -1,
  zero: () => 0,
  huge: () => 2 ** 63,
  fraction: ({ inside = [1] }) => Number(inside[0]) + 0.5,
  infinite: () => stand,
}

/** Parts from which odd values are made. */
interface Drawn {
  readonly run: Known
  /** All members of the operation. */
  readonly members: readonly Member[]
  readonly places: readonly Placed[]
  readonly random: () => number
}

/** The odd values of a member that its record names, each by itself. */
export function oddChanges({ run, members, places, random }: Drawn, place: Placed): Change[] {
  const { member } = place
  const odd = (kind: string, called: string, value: Change['value']): Change =>
    change(place, kind, called, value)
  return oddValuesOf(member, members).flatMap((kind): Change[] => {
    if (kind === 'unknown' && member.isFile) return [unknownIdAt(run, place)]
    if (kind === 'unknown')
      return [
        odd(kind, 'unknown', (own) => withTypeOf(own, freshUnknownId(run, String(own), random))),
      ]
    if (kind === 'empty') {
      return emptyOf(member.isId ? ['string'] : member.kinds).map((value) =>
        odd(kind, shown(value), () => value),
      )
    }
    if (kind === 'alone')
      return [odd(kind, `${shown(member.shows)}, without what it is for`, () => member.shows)]
    if (kind === 'blank') return [odd(kind, 'a blank', () => ' ')]
    if (kind === 'deleted') {
      const { deletedFile } = run.target.resources
      return deletedFile === undefined ? [] : [deletedIdAt(place, deletedFile)]
    }
    if (kind === 'equal') {
      const twinPlace = places.find((other) => other.member === twinOf(member, members))
      const twin = twinPlace && getAt(place.body, twinPlace.pointer)
      return typeof twin === 'string' ? [odd(kind, shown(twin), () => twin)] : []
    }
    if (kind === 'object member') return [odd(kind, '__proto__', () => '__proto__')]
    if (kind === 'repeated')
      return [odd(kind, 'its own items again and again', (own) => repeated(own, member, members))]
    if (kind in numbers) {
      const value = numbers[kind as OddNumber](member)
      return [odd(kind, value === stand ? '1e400' : shown(value), () => value)]
    }
    const [called, to] = texts[kind as OddText](member)
    const made = odd(kind, called, (own) => to(typeof own === 'string' ? own : ''))
    if (kind !== 'odd characters') return [made]
    const milder = odd(
      kind,
      "followed by 's, letters of two scripts and an emoji",
      (own) => `${String(own)}${plainer}`,
    )
    return [{ ...made, milder }]
  })
}

/** More items than a list usually has; items that name files may cost something: each is there twice. */
const manyItems = 120

function repeated(own: unknown, { at }: Member, members: readonly Member[]): unknown {
  const items = Array.isArray(own) ? (own as unknown[]) : []
  const isCostly = members.some((member) => member.at === `${at}/*/file_id`)
  const most = isCostly ? 2 * items.length : manyItems
  return Array.from(
    { length: items.length === 0 ? 0 : most },
    (_, index) => items[index % items.length],
  )
}

function withTypeOf(own: unknown, id: string): string | number {
  return typeof own === 'number' ? Number(id) : id
}

/** All odd texts of one place in one value. */
export function everyText(changes: readonly Change[]): Change | undefined {
  const own = changes.filter((one) => oddTexts.some((kind) => isOf(one, kind)))
  const [first] = own
  if (first === undefined) return undefined
  const called = own.map((one) => one.called).join(', ')
  const value = (valid: unknown): unknown => own.reduce((text, one) => one.value(text), valid)
  return { ...first, called, faults: own.flatMap(({ faults }) => faults), value }
}

/** Whether a server may well grant it together with other odd values: it looks at no list, and the value is no id. */
export function isFree(change: Change): boolean {
  const { member } = change.place
  if (isListed(member) || member.isId) return false
  const isOfArrays = isOf(change, 'empty') || isOf(change, 'repeated')
  return !isOfArrays || member.kinds.includes('string') || member.isExtra === true
}

function isNested(one: string, other: string): boolean {
  return `${one}/`.startsWith(`${other}/`) || `${other}/`.startsWith(`${one}/`)
}

/** Whether both places can be in one body, with all that is above them. */
function fit(one: Placed, other: Placed): boolean {
  if (isNested(one.pointer, other.pointer)) return false
  const top = topOf(one)
  return top !== topOf(other) || isDeepStrictEqual(getAt(one.body, top), getAt(other.body, top))
}

/** Changes that can be made to one body at once, in few groups. */
export function grouped<T extends Pick<Change, 'place'>>(
  changes: readonly T[],
  isAlone: (place: Placed) => boolean = () => false,
): T[][] {
  const groups: T[][] = []
  for (const change of changes) {
    const group = groups.find((others) =>
      others.every(
        ({ place }) => fit(place, change.place) && !isAlone(place) && !isAlone(change.place),
      ),
    )
    if (group) group.push(change)
    else groups.push([change])
  }
  return groups
}

/** Levels of arrays: above the limits of common parsers, some of which take it for an error of their own to meet them. */
const levels = 1200

const members: Readonly<Record<OddBody, string>> = {
  'member names':
    '"__proto__":{"conform":true},"constructor":null,"hasOwnProperty":1,"toString":null,"":"","a.b[0]":1,"conform":1,"conform":2',
  'deep nesting': `"nested":${'['.repeat(levels)}${']'.repeat(levels)}`,
}

/** Faults of a body, in words. */
export const calledBodies: Readonly<Record<OddBody, string>> = {
  'member names':
    'it has members named __proto__, constructor, hasOwnProperty, toString and the empty text, and one twice',
  'deep nesting': `it has a member that is ${levels} arrays in each other`,
}

/** The body as it is sent, with the odd members after its own. */
export function written(body: unknown, bodies: readonly OddBody[] = []): string {
  const text = JSON.stringify(body).replaceAll(`"${stand}"`, '1e400')
  const more = oddBodies.filter((kind) => bodies.includes(kind)).map((kind) => members[kind])
  if (more.length === 0 || !text.endsWith('}')) return text
  return `${text.slice(0, -1)}${text === '{}' ? '' : ','}${more.join(',')}}`
}
