import { isLoose, looseBodies } from '../../catalogue/faults.ts'
import { type OddBody, oddBodies, oddTexts } from '../../catalogue/odd-values.ts'
import { type Effect, jsonKinds, type Member } from '../../catalogue/operation.ts'
import { busyStatus, operation as operationOf } from '../../catalogue/operations.ts'
import { getAt } from '../../schemas/json.ts'
import { jsonOf, type Probe, withHeader } from '../../harness/journal/index.ts'
import type { Case, Material } from './case.ts'
import {
  absent,
  type Change,
  change,
  changedBody,
  described,
  inOtherItem,
  isOf,
  ofKinds,
  topOf,
  arraysAbove,
  isSetting,
  type Placed,
  placesIn,
  undescribedMembers,
} from './changes.ts'
import {
  calledBody,
  everyText,
  grouped,
  isFree,
  oddChanges,
  otherOdd,
  written,
} from './odd-values.ts'
import { falsy, randomOf, seedFor } from './values.ts'

interface Ground {
  readonly material: Material
  readonly places: readonly Placed[]
  readonly effect: Effect
}

/** All cases of bad input, those that prove most when accepted first. */
export function oddCases(material: Material): Case[] {
  const { operation, options, requirement, target, valid } = material
  const body = jsonOf(valid)
  const shown = placesIn(material, operation, body)
  const places = [...shown, ...undescribedMembers(body, shown)]
  const ground: Ground = { material, places, effect: valid.effect }
  const seed = seedFor(options.seed, requirement.id)
  const { members } = operationOf(operation)
  const drawn = { run: material, members, places, random: randomOf(seed) }
  const changes = places.flatMap((place) => oddChanges(drawn, place))
  const single = places.flatMap(changesOf)
  // Usually refused without the member, and so free of charge.
  const isNeeded = (one: Change): boolean =>
    isOf(one, 'absent') && getAt(body, topOf(one.place)) !== undefined
  const others = single.filter((one) => !isNeeded(one)).map((one) => memberCase(ground, one))
  // If a limit cuts the list, other seeds send the rest.
  const isCut = target.limits.maxGenerations > 0
  return [
    ...bodyCases(ground),
    ...single.filter(isNeeded).map((one) => memberCase(ground, one)),
    ...textCases(ground, changes),
    ...valueCases(ground, changes),
    ...togetherCases(ground),
    ...(isCut ? shuffled(others, randomOf(seed)) : others),
  ]
}

const shuffled = <T>(cases: readonly T[], random: () => number): T[] =>
  cases
    .map((one) => [random(), one] as const)
    .toSorted(([one], [other]) => one - other)
    .map(([, one]) => one)

function changesOf(place: Placed): Change[] {
  const { member, like } = place
  const { at, kinds, judgedBy, isExtra } = member
  const others = jsonKinds.filter(
    (kind) => kind !== 'null' && !kinds.includes(kind) && !isElsewhere(member, kind),
  )
  const array = arraysAbove(place).at(-1)
  const later = (all: readonly Change[]): Change[] =>
    array === undefined ? [] : all.flatMap((one) => inOtherItem(one, array, 'last'))
  const items: unknown[] = Array.isArray(like) && kinds.includes('array') ? like : []
  return [
    // Absent members of a query_config belong to another requirement.
    ...(isSetting(member) && at !== '{query_config}' ? [] : absent(place).filter(isNoEmptyArray)),
    ...ofKinds(place, others, isExtra ? { boolean: falsy.boolean } : {}),
    ...(kinds.includes('boolean') ? [change(place, 'number', 'the number 1', () => 1)] : []),
    // A server may accept one item as an array of one.
    ...(items.length > 0 ? [change(place, 'one item', 'only its first item', () => items[0])] : []),
    ...later(judgedBy?.absent === undefined ? absent(place) : []),
    // Later items are checked by the member's requirement. Code that reads members of an item fails on null.
    ...(at.includes('*') && judgedBy?.type === undefined
      ? later(ofKinds(place, [kinds.includes('object') ? 'null' : 'number']))
      : []),
  ]
}

/** `true` for numbers of a query_config is sent for several at once, and 1 for booleans. */
function isElsewhere(member: Member, kind: string): boolean {
  if (kind === 'number') return member.kinds.includes('boolean')
  return kind === 'boolean' && isSetting(member) && member.kinds.includes('number')
}

/** Removing the only item leaves an empty array, which is a separate case. */
function isNoEmptyArray({ place: { body, pointer } }: Change): boolean {
  const above = getAt(body, pointer.slice(0, pointer.lastIndexOf('/')))
  return !Array.isArray(above) || above.length > 1
}

export const badBytes = 'conform-bad-bytes'

/** The text with bytes that are not UTF-8 in place of its mark; undefined without a mark. */
export function withBytes(text: string, bytes: readonly number[]): Uint8Array | undefined {
  const [before = '', after] = text.split(badBytes)
  return after === undefined
    ? undefined
    : Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)])
}

interface LooseBody {
  /** Continues the request line; default `with a body that is <its kind>`. */
  readonly what?: string
  /** Whether a server may read it as the valid one. */
  readonly isWhole?: true
  change(valid: Probe): Partial<Pick<Probe, 'body' | 'headers'>> | undefined
}

const looseBody: Readonly<Record<(typeof looseBodies)[number], LooseBody>> = {
  null: { change: () => ({ body: 'null' }) },
  '[]': { change: () => ({ body: '[]' }) },
  // For a body with one member, this equals leaving that member out.
  '{}': {
    isWhole: true,
    change: (valid) =>
      Object.keys(Object(jsonOf(valid)) as object).length > 1 ? { body: '{}' } : undefined,
  },
  'length 0': { change: () => ({ body: '' }) },
  'invalid UTF-8': {
    isWhole: true,
    change(valid) {
      const text = JSON.stringify(jsonOf(valid)).replace(/(:\s*")/, `$1${badBytes}`)
      const body = withBytes(text, [0x80])
      return body && { body }
    },
  },
  BOM: {
    what: 'with the valid body, but a byte order mark before it',
    isWhole: true,
    change: (one) => ({ body: `\ufeff${String(one.body)}` }),
  },
  'no content type': {
    what: 'with the valid body, but no content type',
    isWhole: true,
    change: (valid) => withHeader(valid, 'content-type', undefined),
  },
}

const bodyCases = ({ material: { operation, valid }, effect }: Ground): Case[] =>
  looseBodies
    .filter((kind) => looseBody[kind].change(valid) !== undefined)
    .map((kind) => {
      const { what = `with a body that is ${kind}`, isWhole, change } = looseBody[kind]
      return {
        what,
        fault: `body: ${kind}`,
        effect: isWhole && busyStatus(operation) === undefined ? effect : 'none',
        change: (probe) => ({ ...probe, ...change(probe) }),
      }
    })

function memberCase(ground: Ground, one: Change): Case {
  const [fault = ''] = one.faults
  const mayBeGranted = isLoose(one.place.member, fault.slice(0, fault.indexOf(' ')))
  return together({ effect: mayBeGranted ? ground.effect : 'none' }, [one])
}

function together(
  ground: Pick<Ground, 'effect'>,
  changes: readonly Change[],
  bodies: readonly OddBody[] = [],
): Case {
  const faults = [...changes.flatMap((one) => one.faults), ...bodies.map((kind) => `body: ${kind}`)]
  const all = [...changes.map(described), ...bodies.map(calledBody)]
  return {
    what: `with a valid body, but ${all.join(', ')}`,
    fault: faults.join(' + '),
    effect: ground.effect,
    change: (valid) => ({ ...valid, body: written(changedBody(changes, jsonOf(valid)), bodies) }),
  }
}

/** Several changes in one request: accepting it covers all; otherwise each is sent alone. */
function groupCase(ground: Ground, changes: readonly Change[], isConclusive = false): Case {
  const whole = together(ground, changes)
  if (changes.length > 1)
    return { ...whole, parts: changes.map((one) => groupCase(ground, [one])), isConclusive }
  const milder = changes.flatMap((one) => one.milder ?? [])
  return milder.length === 0 ? whole : { ...whole, parts: [together(ground, milder)] }
}

/** Groups of changes; names of created objects go alone, since some may be invalid. */
function groupsOf<T extends Pick<Change, 'place'>>(ground: Ground, changes: T[]): T[][] {
  const name = operationOf(ground.material.operation).creates?.name
  return grouped(
    changes,
    (one) => name !== undefined && 'role' in name && name.role === one.member.role,
  )
}

function textCases(ground: Ground, changes: readonly Change[]): Case[] {
  const texts = ground.places.flatMap(
    (place) => everyText(changes.filter((one) => one.place === place)) ?? [],
  )
  const groups = groupsOf(ground, texts)
  const named = oddBodies.map((kind) => together(ground, [], [kind]))
  if (groups.length === 0) return [{ ...together(ground, [], oddBodies), parts: named }]
  return groups.map((group, at) => {
    const kinds = oddTexts.map((kind) =>
      changes.filter((one) => isOf(one, kind) && group.some((other) => other.place === one.place)),
    )
    const ofKind = kinds.map((own) => groupCase(ground, own))
    return at === 0
      ? { ...together(ground, group, oddBodies), parts: [...named, ...ofKind] }
      : { ...together(ground, group), parts: ofKind }
  })
}

/** `null` for optional members, and texts for numbers, several at once; otherwise each alone. */
function togetherCases(ground: Ground): Case[] {
  const all = (places: readonly Placed[], kind: string, called: string, value: unknown) =>
    grouped(places.map((place) => change(place, kind, called, () => value)))
  const asText = ground.places.filter((place) => place.member.kinds.includes('number'))
  const nulls = ground.places.filter((place) => !place.member.kinds.includes('null'))
  const settings = asText.filter((one) => isSetting(one.member))
  const optional = nulls.filter((one) => isOptional(one.member))
  const required = nulls.filter((place) => !optional.includes(place))
  // A server that refuses convertible numbers does so everywhere; others are sent one by one.
  const converted = [
    ...all(asText, 'string', 'the text "1"', '1'),
    ...all(settings, 'boolean', 'true', true),
  ]
  return [
    ...all(optional, 'null', 'null', null).map((group) => groupCase(ground, group)),
    ...converted.map((group) => groupCase(ground, group, true)),
    ...required.flatMap((place) => ofKinds(place, ['null'])).map((one) => memberCase(ground, one)),
  ]
}

function isOptional(member: Member): boolean {
  if (member.required || !isLoose(member, 'null')) return false
  const isPlain = member.kinds.some((kind) => kind === 'number' || kind === 'boolean')
  return member.isExtra === true || isPlain
}

/** Odd values other than texts: combined if they may be accepted together, others alone. */
const valueCases = (ground: Ground, changes: readonly Change[]): Case[] =>
  otherOdd.flatMap((kind) => {
    const own = changes.filter((one) => isOf(one, kind))
    return [
      ...groupsOf(ground, own.filter(isFree)).map((group) => groupCase(ground, group)),
      ...own.filter((one) => !isFree(one)).map((one) => together(ground, [one])),
    ]
  })
