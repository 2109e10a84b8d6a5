import { conditionOf } from '../../catalogue/requirement.ts'
import { anyBadRequest, type Pairs } from '../../catalogue/expected.ts'
import { jsonKinds, type MemberFault, roleOf } from '../../catalogue/operation.ts'
import { emptyOf } from '../../catalogue/odd-values.ts'
import { getAt } from '../../schemas/json.ts'
import { isUuid } from '../../schemas/formats.ts'
import { jsonOf, NotExercised, type Probe, withJson } from '../../harness/journal/index.ts'
import { byCases } from './by-cases.ts'
import type { Case, CaseCondition, Material } from './case.ts'
import {
  absent,
  caseOf,
  type Change,
  change,
  changedBody,
  deletedIdAt,
  hasAbove,
  inOtherItem,
  isOf,
  ofKinds,
  ofOtherTypes,
  otherFormsOf,
  unknownIdAt,
  withoutFault,
  arraysAbove,
  type Placed,
  placesIn,
} from './changes.ts'
import { missingBodyCase, withBody } from './conditions.ts'
import { type Known, unknownWord } from './values.ts'

const longestKnown = 52

/** Language codes, and names with at least four letters: a shorter made-up word may itself be a known name. */
const hasOwnForm = /^[A-Za-z]{2,3}([-_]|$)|([A-Za-z][^A-Za-z]*){4}/

/** An unused word in the form of a known name, since a server may check only the form. */
function unknownOfForm(word: string, known: unknown): string {
  if (typeof known !== 'string' || known.length > longestKnown) return word
  return hasOwnForm.test(known) && !isUuid(known)
    ? known.replaceAll(/[a-z]/g, 'q').replaceAll(/[A-Z]/g, 'Q')
    : word
}

/**
 * Invalid values of the right type: outside bounds; unknown words, and words with the known one as prefix, since a
 * server may compare only the prefix. If the target has its own names, a word in their form.
 */
function otherValues(place: Placed, drawn: string): Change[] {
  const { member, body, pointer } = place
  const bounds = (member.outside ?? []).map((value) =>
    change(place, 'value', `${String(value)}, outside its bounds`, () => value),
  )
  if (!member.isChosen) return bounds
  const known = getAt(body, pointer)
  const word = roleOf(member) === undefined ? drawn : unknownOfForm(drawn, known)
  const unknown = (kind: string, value: string): Change =>
    change(place, kind, `the unknown ${value}`, () => value)
  const isShort = typeof known === 'string' && known !== '' && known.length <= longestKnown
  return [
    unknown('value', word),
    ...(isShort ? [unknown('lengthened', known + word)] : []),
    // Every JavaScript object used as a lookup table has it.
    unknown('object member', 'constructor'),
  ]
}

function faultsUnder(known: Known, name: string, place: Placed, drawn: string): Change[] {
  const { judgedBy, kinds, isFile } = place.member
  const changes: Readonly<Record<MemberFault, () => Change[]>> = {
    absent: () => absent(place),
    null: () => ofKinds(place, ['null']),
    type: () => ofOtherTypes(place),
    empty: () => emptyOf(kinds).map((value) => change(place, 'empty', 'empty', () => value)),
    value: () => otherValues(place, drawn),
    unknown: () => [unknownIdAt(known, place), ...(isFile ? deletedIdAt(known, place) : [])],
  }
  return Object.entries(changes).flatMap(([fault, make]) =>
    judgedBy?.[fault as MemberFault] === name ? make() : [],
  )
}

/**
 * Each case alone, and in a later item of its array. For nested items, one case also in a later outer item. For a
 * single item, one case also before it, since a server may check only the last.
 */
function withLater(place: Placed, cases: readonly Change[]): Change[] {
  const [inner, outer] = arraysAbove(place).toReversed()
  const { at } = place.member
  if (inner === undefined) return [...cases]
  // A server may treat false as absent, so both booleans are sent.
  const later = cases.map((one) =>
    one.faults[0] === `boolean @ ${at}` ? change(place, 'boolean', 'false', () => false) : one,
  )
  const [first] = cases
  const isSingle =
    at.endsWith('/*') && (getAt(place.body, inner) as readonly unknown[]).length === 1
  return [
    ...cases,
    ...later.flatMap((one) => inOtherItem(one, inner, 'last')),
    ...(first && isSingle ? inOtherItem(first, inner, 'first') : []),
    ...(first && outer !== undefined ? inOtherItem({ ...first, faults: [] }, outer, 'last') : []),
  ]
}

interface RecordOptions {
  /** An empty body lacks the member, too. */
  readonly orNoBody?: true
  readonly besides?: (known: Known, valid: Probe) => Probe
  readonly otherTypes?: { readonly at: string; readonly expects: Pairs }
  /** Extra rules for the case of a deleted object, which some targets accept. */
  readonly deleted?: Partial<Case>
}

export const byRecord = (options: RecordOptions = {}): CaseCondition =>
  byCases((material) => recordCases(material, options))

function recordCases(material: Material, options: RecordOptions): Case[] {
  const { operation, requirement, valid } = material
  const { besides = (_, probe) => probe, otherTypes, deleted } = options
  const name = conditionOf(requirement.id)
  const body = jsonOf(besides(material, valid))
  const places = placesIn(material, operation, body).filter(
    (place) =>
      Object.values(place.member.judgedBy ?? {}).includes(name) &&
      isSupported(material, place, body),
  )
  const drawn = unknownWord(material, requirement.id)
  const changes = places.flatMap((place) => [
    ...withLater(place, faultsUnder(material, name, place, drawn)),
    ...(place.member.judgedBy?.type === name ? otherFormsOf(place) : []),
  ])
  const at = places[0]?.pointer ?? ''
  if (changes.length === 0)
    throw new NotExercised(
      `put a value at ${at} into operations.${operation}.body: the suite sends it as another type`,
    )
  const isMore = JSON.stringify(body) !== JSON.stringify(jsonOf(valid))
  const controlOf = (one: Change): Case['control'] => {
    if (withoutFault(one, body) === undefined)
      return isMore ? (own) => besides(material, own) : undefined
    return (own) => {
      const probe = besides(material, own)
      return withJson(probe, withoutFault(one, jsonOf(probe)))
    }
  }
  const expectsOf = (one: Change): Pairs | undefined => {
    // Converted to a number it is 0, which may be out of range (§7.2).
    if (mayBeCoerced(one) && one.value(undefined) === false) return anyBadRequest
    const isOther = one.place.member.at === otherTypes?.at
    return isOther && jsonKinds.some((kind) => isOf(one, kind)) ? otherTypes.expects : undefined
  }
  const asCase = (one: Change): Case => {
    const { change, ...more } = caseOf(one)
    const [control, expects] = [controlOf(one), expectsOf(one)]
    return {
      ...more,
      change: (own) => change(besides(material, own)),
      ...(control && { control }),
      ...(expects && { expects }),
      ...(mayBeCoerced(one) && { coercion: asText(one) }),
      ...(isOf(one, 'deleted') && deleted),
    }
  }
  const again = changes.filter(isChosenWord).map((one) => asCase(askedAgain(one)))
  return [
    ...changes.filter((one) => !mayBeCoerced(one)).map(asCase),
    ...(options.orNoBody ? [missingBodyCase] : []),
    ...changes.filter(mayBeCoerced).map(asCase),
    ...again.map((one): Case => ({ ...one, when: 'after the others' })),
  ]
}

/** Whether the target supports what a member is part of: the declared body has it, or a scenario shows it. */
function isSupported(material: Material, place: Placed, body: unknown): boolean {
  const { supportedIf } = place.member
  return (
    supportedIf === undefined ||
    hasAbove(body, place) ||
    Object.hasOwn(material.target.scenarios, `${material.operation}/${supportedIf}`)
  )
}

/** A server may cache a known word. In an array, it appears in two items. */
const isChosenWord = (one: Change): boolean =>
  roleOf(one.place.member) !== undefined && one.place.member.isChosen === true && isOf(one, 'value')

const askedAgain = ({ called, ...one }: Change): Change => ({
  ...one,
  called: `${called}, asked for again`,
  faults: [`again @ ${one.place.member.at}`],
})

/** `true` for a number: a server may convert it. */
const mayBeCoerced = (one: Change): boolean =>
  one.place.member.kinds[0] === 'number' && isOf(one, 'boolean')

/**
 * A server that converts `true` to a number also converts text: accepting one and refusing the other is inconsistent.
 */
const asText =
  (one: Change) =>
  (valid: Probe): Probe =>
    withBody(valid, changedBody([{ ...one, value: () => '1' }], jsonOf(valid)))
