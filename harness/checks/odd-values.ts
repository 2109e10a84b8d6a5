import { isDeepStrictEqual } from 'node:util'
import type { OddBody, OddNumber, OddText } from '../../catalogue/odd-values.ts'
import { emptyOf, isListed, oddBodies, oddTexts, oddValuesOf } from '../../catalogue/odd-values.ts'
import type { Member } from '../../catalogue/operation.ts'
import { queryConfigMembers } from '../../catalogue/query-config.ts'
import { getAt, setAt } from '../../schemas/json.ts'
import type { Run } from '../engine/index.ts'
import { type Placed, nameOf } from './member-faults.ts'
import { freshUnknownId } from './seed.ts'
import { shown } from './values.ts'

/** A value to be put at a place. */
export interface Change {
  readonly place: Placed
  /** Names in the fault matrix; several only if all odd texts are in one value. */
  readonly faults: readonly string[]
  /** Description of the changed member, to follow its name. */
  readonly called: string
  /** @param own what a valid request has there */
  value(own: unknown): unknown
  /** A weaker change, sent if this one was refused. */
  readonly milder?: Change
}

/**
 * Longer than the columns of 255 and of 1,000 characters that names are kept in; of a text that is worked on, than some pages;
 * and, if §7.3 names a greatest length, than a column of 64 KiB.
 */
function lengthOf({ member }: Placed): number {
  if (member?.isLimited) return 70_000
  return member?.tolerates?.includes('array') || member?.kinds.includes('array') ? 21_000 : 1200
}
/**
 * Characters that mean something in a format, a template, SQL, a pattern or a line, and some that
 * narrow encodings lack. No U+0000: a server that refuses it would show nothing of these.
 */
const characters = `%s%n{{'"[(&|:*\\\r\n\té茶\u202e\u{1f6b0}`

/** Characters of ordinary names, hardly ever forbidden: a server may refuse the others before it uses them. */
const plainer = `'s é茶\u{1f6b0}`

type ChangedText = (place: Placed) => readonly [called: string, change: (own: string) => string]

const texts: Readonly<Record<OddText, ChangedText>> = {
  'odd characters': () => ['followed by %s, {{, quotes, line ends and an emoji', (own) => own + characters],
  'U+0000': () => ['followed by U+0000', (own) => `${own}\u0000`],
  'lone surrogate': () => ['followed by half of a surrogate pair', (own) => `${own}\ud83d`],
  long(place) {
    const length = lengthOf(place)
    return [`${length} characters long`, (own) => own.padEnd(length, ' and so on')]
  },
}

/** Stands in a body until the number takes its place that JSON.stringify would not write. */
const stand = 'conform-1e400'

const numbers: Readonly<Record<OddNumber, (place: Placed) => unknown>> = {
  negative: () => -1,
  zero: () => 0,
  huge: () => 2 ** 63,
  fraction: ({ at }) => (queryConfigMembers.find(({ name }) => at.endsWith(`/${name}`))?.range?.[0] ?? 1) + 0.5,
  infinite: () => stand,
}

/** Parts from which odd values are made. */
interface Drawn {
  readonly run: Run
  /** All members of the operation. */
  readonly members: readonly Member[]
  readonly random: () => number
}

export function changesOf({ run, members, random }: Drawn, place: Placed): Change[] {
  const change = (kind: string, called: string, value: Change['value']): Change => ({
    place,
    faults: [kind],
    called,
    value,
  })
  const { kinds } = place
  return oddValuesOf({ ...place.member, kinds }, members).flatMap((kind): Change[] => {
    if (kind === 'unknown')
      return [change(kind, 'unknown', (own) => withTypeOf(own, freshUnknownId(run, String(own), random)))]
    if (kind === 'empty') {
      return emptyOf(place.member?.isId ? ['string'] : kinds).map((value) => change(kind, shown(value), () => value))
    }
    if (kind === 'alone')
      return [change(kind, `${shown(place.member?.shows)}, without what it is for`, () => place.member?.shows)]
    if (kind === 'blank') return [change(kind, 'a blank', () => ' ')]
    if (kind === 'repeated')
      return [change(kind, 'its own items again and again', (own) => repeated(own, place, members))]
    if (kind in numbers) {
      const value = numbers[kind as OddNumber](place)
      return [change(kind, value === stand ? '1e400' : shown(value), () => value)]
    }
    const [called, to] = texts[kind as OddText](place)
    const made = change(kind, called, (own) => to(typeof own === 'string' ? own : ''))
    if (kind !== 'odd characters') return [made]
    const milder = change(
      kind,
      "followed by 's, letters of two scripts and an emoji",
      (own) => `${String(own)}${plainer}`,
    )
    return [{ ...made, milder }]
  })
}

/** More items than a list usually has; items that name files may cost something: each is there twice. */
const manyItems = 120

function repeated(own: unknown, { at }: Placed, members: readonly Member[]): unknown {
  const items = Array.isArray(own) ? (own as unknown[]) : []
  const isCostly = members.some((member) => member.at === `${at}/*/file_id`)
  const most = isCostly ? 2 * items.length : manyItems
  return Array.from({ length: items.length === 0 ? 0 : most }, (_, index) => items[index % items.length])
}

function withTypeOf(own: unknown, id: string): string | number {
  return typeof own === 'number' ? Number(id) : id
}

export function everyText(changes: readonly Change[]): Change | undefined {
  const own = changes.filter((one) => oddTexts.some((kind) => isOf(one, kind)))
  const [first] = own
  if (first === undefined) return undefined
  const called = own.map((one) => one.called).join(', ')
  const value = (valid: unknown): unknown => own.reduce((text, one) => one.value(text), valid)
  return { ...first, faults: own.flatMap(({ faults }) => faults), called, value }
}

/** Whether a server may well grant it together with other odd values: it looks at no list, and the value is no id. */
export function isFree(change: Change): boolean {
  const { member, kinds } = change.place
  if (member && (isListed(member) || member.isId)) return false
  const isOfArrays = isOf(change, 'empty') || isOf(change, 'repeated')
  return !isOfArrays || kinds.includes('string') || member?.isExtra === true
}

function topOf({ pointer }: Placed): string {
  return `/${pointer.split('/', 2)[1]}`
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
      others.every(({ place }) => fit(place, change.place) && !isAlone(place) && !isAlone(change.place)),
    )
    if (group) group.push(change)
    else groups.push([change])
  }
  return groups
}

export function changedBody(changes: readonly Change[], valid: unknown): unknown {
  const [first] = changes
  const framed = changes.reduce<unknown>((body, { place }) => {
    const top = topOf(place)
    return setAt(body, top, getAt(place.body, top))
  }, first?.place.body ?? valid)
  return changes.reduce((body, { place, value }) => {
    const own = getAt(valid, place.pointer) ?? getAt(place.body, place.pointer)
    return setAt(body, place.pointer, value(own))
  }, framed)
}

/** Levels of arrays: above the limits of common parsers, some of which take it for an error of their own to meet them. */
const levels = 1200

const members: Readonly<Record<OddBody, string>> = {
  'member names':
    '"__proto__":{"conform":true},"constructor":null,"hasOwnProperty":1,"toString":null,"":"","a.b[0]":1,"conform":1,"conform":2',
  'deep nesting': `"nested":${'['.repeat(levels)}${']'.repeat(levels)}`,
}

const calledBodies: Readonly<Record<OddBody, string>> = {
  'member names': 'members named __proto__, constructor, hasOwnProperty, toString and the empty text, and one twice',
  'deep nesting': `a member that is ${levels} arrays in each other`,
}

/** Fault of a body, in words. */
export function describe(changes: readonly Change[], bodies: readonly OddBody[] = []): string {
  return [
    ...changes.map(({ place, called }) => `${nameOf(place)} is ${called}`),
    ...bodies.map((kind) => `it has ${calledBodies[kind]}`),
  ].join(', ')
}

/** The body as it is sent, with the odd members after its own. */
export function written(body: unknown, bodies: readonly OddBody[] = []): string {
  const text = JSON.stringify(body).replaceAll(`"${stand}"`, '1e400')
  const more = oddBodies.filter((kind) => bodies.includes(kind)).map((kind) => members[kind])
  if (more.length === 0 || !text.endsWith('}')) return text
  return `${text.slice(0, -1)}${text === '{}' ? '' : ','}${more.join(',')}}`
}

export const pointersOf = (changes: readonly Change[]): string[] => changes.map(({ place }) => place.pointer)

/** Faults of all of them, as the fault matrix calls each. */
export function faultOf(changes: readonly Change[], bodies: readonly OddBody[] = []): string {
  const ofMembers = changes.flatMap(({ place, faults }) => faults.map((fault) => `${fault} @ ${place.at}`))
  return [...ofMembers, ...bodies.map((kind) => `body: ${kind}`)].join(' + ')
}

export const isOf = ({ faults }: Change, kind: string): boolean => faults.includes(kind)
