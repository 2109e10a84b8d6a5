import { type JsonKind, type Member, otherKinds } from '../../catalogue/operation.ts'
import { getAt, isObject, setAt, tokensOf } from '../../schemas/json.ts'
import { jsonOf, type Probe, withJson } from '../../harness/journal/index.ts'
import type { Case } from './case.ts'
import type { Placed } from './places.ts'
import {
  byIndex,
  falsy,
  inPlaceOf,
  type Known,
  nameOfKind,
  randomOf,
  sample,
  seedFor,
  unknownId,
} from './values.ts'

export interface Change {
  readonly place: Placed
  /** For example `messages.0.role`, `a number`. */
  readonly name: string
  readonly called: string
  /** Names in the fault matrix; several if one value has several faults. */
  readonly faults: readonly string[]
  /** @param own the value in the valid request; returns undefined to leave it out */
  value(own: unknown): unknown
  readonly sound?: unknown
  /** A weaker change, sent if this one was refused. */
  readonly milder?: Change
}

export function change(
  place: Placed,
  kind: string,
  called: string,
  value: Change['value'],
): Change {
  const { pointer, member } = place
  const name = pointer === '' ? 'the body' : pointer.slice(1).replaceAll('/', '.')
  const fault = pointer === '' ? `body: ${kind}` : `${kind} @ ${member.at}`
  return { place, name, called, faults: [fault], value }
}

export const described = (one: Change): string => `${one.name} is ${one.called}`

export const isOf = (one: Change, kind: string): boolean =>
  one.faults.some((fault) => fault.startsWith(`${kind} @ `))

export const absent = (place: Placed): Change[] =>
  getAt(place.body, place.pointer) === undefined
    ? []
    : [change(place, 'absent', 'left out', () => undefined)]

/** The member with an unknown id, shared by all requirements and so sent once. */
export function unknownIdAt(known: Known, place: Placed): Change {
  const random = () => randomOf(seedFor(known.options.seed, `unknown ${place.member.at}`))
  return change(place, 'unknown', 'unknown', (own) => {
    const id = unknownId(String(place.like ?? own), random(), known.target.ids)
    return typeof own === 'number' ? Number(id) : id
  })
}

export function deletedIdAt(known: Known, place: Placed): Change[] {
  const { deletedFile: id } = known.target.resources
  return id === undefined ? [] : [change(place, 'deleted', 'that of a deleted file', () => id)]
}

export const ofKinds = (
  place: Placed,
  kinds: readonly JsonKind[],
  values: Partial<Record<JsonKind, unknown>> = {},
): Change[] =>
  kinds.map((kind) =>
    change(place, kind, nameOfKind(kind), () =>
      inPlaceOf(place.like, values[kind] ?? sample[kind]),
    ),
  )

/**
 * Falsy values, which `if (!value)` mistakes for an absent member: `false` for members that a server may skip, 0 for
 * members that may be booleans.
 */
function falsyFor({ isExtra, tolerates = [], role }: Member): Partial<Record<JsonKind, unknown>> {
  const mayBeSkipped = isExtra || tolerates.includes('array') || role === 'name'
  return {
    ...(mayBeSkipped ? { boolean: falsy.boolean } : {}),
    ...(tolerates.includes('boolean') ? { number: falsy.number } : {}),
  }
}

/**
 * The member with a value of each excluded type; instead of an array of objects also an object with indices as names.
 */
export function ofOtherTypes(place: Placed): Change[] {
  const { like, member } = place
  const isIndexed = Array.isArray(like) && isObject(like[0])
  const indexed = (): unknown => inPlaceOf(like, byIndex)
  return [
    ...ofKinds(place, otherKinds(member), falsyFor(member)),
    ...(isIndexed ? [change(place, 'object', 'an object of its items', indexed)] : []),
  ]
}

/** The other boolean, and 0: `if (value && ...)` checks only one of them. A server may read 0 as false. */
export function otherFormsOf(place: Placed): Change[] {
  const { member } = place
  const sent: Partial<Record<JsonKind, unknown>> = { ...sample, ...falsyFor(member) }
  return otherKinds(member).flatMap((kind) => {
    const isFalsy = sent[kind] === falsy[kind as keyof typeof falsy]
    if (kind === 'boolean') return [change(place, kind, String(isFalsy), () => isFalsy)]
    const hasZero = kind === 'number' && !isFalsy && !member.kinds.includes('boolean')
    return hasZero ? [change(place, kind, '0', () => falsy.number)] : []
  })
}

const hasName = (item: unknown): boolean =>
  isObject(item) && Object.keys(item).some((name) => /^(?:name|id|.*_id)$/.test(name))

/** Puts the case into a separate item after or before the valid ones: a server may check only one. */
export function inOtherItem(one: Change, array: string, where: 'first' | 'last'): Change[] {
  const { place } = one
  const found: unknown = getAt(place.body, array)
  const [token, ...below] = tokensOf(place.pointer.slice(array.length))
  const faulty: unknown = getAt(changedBody([one]), `${array}/${token}`)
  if (!Array.isArray(found) || (faulty === undefined && below.length === 0)) return []
  const sound = found as unknown[]
  const own = sound[Number(token)]
  const isLast = where === 'last'
  const items = isLast ? [...sound, faulty] : [faulty, ...sound]
  return [
    {
      place: { ...place, pointer: array },
      name: [...tokensOf(array), isLast ? sound.length : 0, ...below].join('.'),
      called: `${one.called} (the ${where} of ${items.length})`,
      faults: isLast ? one.faults.map((fault) => `${fault}, later`) : one.faults,
      value: () => items,
      ...(!hasName(own) && { sound: [...sound, own] }),
    },
  ]
}

/** The request with the additions of a change but without its fault; undefined without additions. */
export function withoutFault(one: Change, body: unknown): unknown {
  const { place, sound } = one
  if (sound === undefined && hasAbove(body, place)) return undefined
  return changedBody([{ ...one, value: (own) => sound ?? own }], body)
}

export const topOf = (place: Placed): string =>
  place.pointer === '' ? '' : `/${place.pointer.split('/', 2)[1]}`

export function hasAbove(body: unknown, place: Placed): boolean {
  if (place.pointer === '') return true
  const above = getAt(body, place.pointer.slice(0, place.pointer.lastIndexOf('/')))
  return typeof above === 'object' && above !== null
}

export function changedBody(changes: readonly Change[], valid?: unknown): unknown {
  const framed = changes.reduce<unknown>((body, one) => {
    const top = topOf(one.place)
    return hasAbove(body, one.place) ? body : setAt(body, top, getAt(one.place.body, top))
  }, valid ?? changes[0]?.place.body)
  return changes.reduce((body, one) => {
    const own = getAt(valid, one.place.pointer) ?? getAt(one.place.body, one.place.pointer)
    return setAt(body, one.place.pointer, one.value(own))
  }, framed)
}

export const caseOf = (one: Change): Case => ({
  what: `with a valid body, but ${described(one)}`,
  fault: one.faults.join(' + ') || undefined,
  change: (valid: Probe): Probe => withJson(valid, changedBody([one], jsonOf(valid))),
})
