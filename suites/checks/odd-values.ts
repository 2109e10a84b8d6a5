import { isDeepStrictEqual } from 'node:util'
import {
  emptyOf,
  isListed,
  type OddBody,
  oddBodies,
  oddNumbers,
  oddTexts,
  type OddValue,
  oddValuesOf,
  twinOf,
} from '../../catalogue/odd-values.ts'
import type { Member } from '../../catalogue/operation.ts'
import { getAt } from '../../schemas/json.ts'
import {
  type Change,
  change,
  deletedIdAt,
  isOf,
  topOf,
  unknownIdAt,
  type Placed,
} from './changes.ts'
import { freshUnknownId, type Known, shown } from './values.ts'

/**
 * Longer than columns of 255 or 1,000 characters for names; than some pages for processed text; and than 64 KiB if it
 * may be as long as a file.
 */
function lengthOf({ isLimited, tolerates, kinds }: Member): number {
  if (isLimited) return 70_000
  return tolerates?.includes('array') || kinds.includes('array') ? 21_000 : 1200
}

/**
 * Characters with a meaning in formats, templates, SQL, patterns or lines, and some that narrow encodings lack. No
 * U+0000: a server that refuses it would hide the others.
 */
export const characters = `%s%n{{'"[(&|:*\\\r\n\u2028\té茶\u202e\u{1f6b0}`

/** Characters of ordinary names, rarely forbidden: a server may refuse the others before using them. */
export const plainer = `'s é茶\u{1f6b0}`

/** Replaced by a number that JSON.stringify cannot write. */
const stand = 'conform-1e400'

interface Drawn {
  readonly run: Known
  readonly members: readonly Member[]
  readonly places: readonly Placed[]
  readonly random: () => number
}

type Odd = (called: string, value: Change['value']) => Change
type Made = (odd: Odd, place: Placed, drawn: Drawn) => Change[]

const followedBy =
  (words: string, more: string): Made =>
  (odd) => [odd(`followed by ${words}`, (own) => textOf(own) + more)]

const ofNumber =
  (value: (member: Member) => number): Made =>
  (odd, one) => [odd(shown(value(one.member)), () => value(one.member))]

const textOf = (own: unknown): string => (typeof own === 'string' ? own : '')

const oddChange: Readonly<Record<OddValue, Made>> = {
  'odd characters'(odd) {
    const milder = odd("followed by 's, letters of two scripts and an emoji", (own) =>
      String(own).concat(plainer),
    )
    const called = 'followed by %s, {{, quotes, line ends and an emoji'
    return [{ ...odd(called, (own) => textOf(own) + characters), milder }]
  },
  'U+0000': followedBy('U+0000', '\u0000'),
  'lone surrogate': followedBy('half of a surrogate pair', '\ud83d'),
  long(odd, one) {
    const length = lengthOf(one.member)
    return [odd(`${length} characters long`, (own) => textOf(own).padEnd(length, ' and so on'))]
  },
  negative: ofNumber(() => -1),
  zero: ofNumber(() => 0),
  huge: ofNumber(() => 2 ** 63),
  fraction: ofNumber(({ inside = [1] }) => Number(inside[0]) + 0.5),
  infinite: (odd) => [odd('1e400', () => stand)],
  unknown(odd, place, one) {
    if (place.member.isFile) return [unknownIdAt(one.run, place)]
    return [
      odd('unknown', (own) => {
        const id = freshUnknownId(one.run, String(own), one.random)
        return typeof own === 'number' ? Number(id) : id
      }),
    ]
  },
  deleted: (_, place, one) => deletedIdAt(one.run, place),
  empty: (odd, { member: { isId, kinds } }) =>
    emptyOf(isId ? ['string'] : kinds).map((value) => odd(shown(value), () => value)),
  alone: (odd, { member: { shows } }) => [
    odd(`${shown(shows)} without its related members`, () => shows),
  ],
  blank: (odd) => [odd('a blank', () => ' ')],
  equal(odd, one, each) {
    const twin = twinOf(one.member, each.members)
    const place = each.places.find((other) => other.member === twin)
    const value = place && getAt(one.body, place.pointer)
    return typeof value === 'string' ? [odd(shown(value), () => value)] : []
  },
  'object member': (odd) => [odd('__proto__', () => '__proto__')],
  repeated: (odd, one, other) => [
    odd('its own items repeated', (own) => repeated(own, one.member, other.members)),
  ],
}

export const oddChanges = (drawn: Drawn, place: Placed): Change[] =>
  oddValuesOf(place.member, drawn.members).flatMap((kind) =>
    oddChange[kind]((called, value) => change(place, kind, called, value), place, drawn),
  )

/** More items than a list usually has; items that name files may be costly, so each appears twice. */
const manyItems = 120

function repeated(own: unknown, one: Member, members: readonly Member[]): unknown {
  const items = Array.isArray(own) ? (own as unknown[]) : []
  const isCostly = members.some((member) => member.at === `${one.at}/*/file_id`)
  const length = isCostly ? 2 * items.length : manyItems
  if (items.length === 0) return []
  return Array.from({ length }, (_, index) => items[index % items.length])
}

export function everyText(changes: readonly Change[]): Change | undefined {
  const own = changes.filter((one) => oddTexts.some((kind) => isOf(one, kind)))
  const [first] = own
  if (first === undefined) return undefined
  const called = own.map((one) => one.called).join(', ')
  const value = (valid: unknown): unknown => own.reduce((text, one) => one.value(text), valid)
  return { ...first, called, faults: own.flatMap((one) => one.faults), value }
}

/** Odd values other than texts, the most often refused first. */
export const otherOdd: readonly OddValue[] = [
  'unknown',
  'deleted',
  'equal',
  'alone',
  'repeated',
  'empty',
  'blank',
  'object member',
  ...oddNumbers,
]

/** Whether one request can combine it with other odd values. Lists and ids are refused, so each is sent alone. */
export function isFree(change: Change): boolean {
  const { member } = change.place
  if (isListed(member) || member.isId) return false
  const isOfArrays = isOf(change, 'empty') || isOf(change, 'repeated')
  return !isOfArrays || member.kinds.includes('string') || member.isExtra === true
}

const isWithin = (one: Placed, other: Placed): boolean =>
  `${one.pointer}/`.startsWith(`${other.pointer}/`)

function fit(one: Placed, other: Placed): boolean {
  if (isWithin(one, other) || isWithin(other, one)) return false
  const top = topOf(one)
  return top !== topOf(other) || isDeepStrictEqual(getAt(one.body, top), getAt(other.body, top))
}

export function grouped<T extends Pick<Change, 'place'>>(
  changes: readonly T[],
  isAlone: (place: Placed) => boolean = () => false,
): T[][] {
  const groups: T[][] = []
  for (const change of changes) {
    const fits = (one: T): boolean =>
      fit(one.place, change.place) && !isAlone(one.place) && !isAlone(change.place)
    const group = groups.find((others) => others.every(fits))
    if (group) group.push(change)
    else groups.push([change])
  }
  return groups
}

/** Levels of arrays: above the limits of common parsers, some of which fail internally. */
const levels = 1200

const oddMembers: Readonly<Record<OddBody, readonly [text: string, called: string]>> = {
  'member names': [
    '"__proto__":{"conform":true},"constructor":null,"hasOwnProperty":1,"toString":null,"":"","a.b[0]":1,"conform":1,"conform":2',
    'it has members named __proto__, constructor, hasOwnProperty, toString and the empty text, and one twice',
  ],
  'deep nesting': [
    `"nested":${'['.repeat(levels)}${']'.repeat(levels)}`,
    `it has a member that is ${levels} arrays in each other`,
  ],
}

export const calledBody = (kind: OddBody): string => oddMembers[kind][1]

export function written(body: unknown, bodies: readonly OddBody[]): string {
  const text = JSON.stringify(body).replaceAll(`"${stand}"`, '1e400')
  const more = oddBodies.filter((kind) => bodies.includes(kind)).map((kind) => oddMembers[kind][0])
  if (more.length === 0 || !text.endsWith('}')) return text
  return `${text.slice(0, -1)}${text === '{}' ? '' : ','}${more.join(',')}}`
}
