import { conditionOf } from '../../catalogue/requirement.ts'
import { anyBadRequest, type Pairs } from '../../catalogue/expected.ts'
import { jsonKinds, type MemberFault, roleOf } from '../../catalogue/operation.ts'
import { emptyOf } from '../../catalogue/odd-values.ts'
import { getAt } from '../../schemas/json.ts'
import { isUuid } from '../../schemas/formats.ts'
import { jsonOf, NotExercised, type Probe, withJson } from '../engine/index.ts'
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
} from './changes.ts'
import { missingBodyCase, withBody } from './conditions.ts'
import { arraysAbove, type Placed, placesIn } from './places.ts'
import { type Known, unknownWord } from './values.ts'

/** Longest value that is lengthened by a word. */
const longestKnown = 52

/** Names of two or three letters (languages), and longer ones with digits: with fewer letters another one may be known. */
const hasOwnForm = /^[A-Za-z]{2,3}([-_]|$)|([A-Za-z][^A-Za-z]*){4}/

/** A word of the form of a known name, which nothing is called: a server may look at no more than the form. */
function unknownOfForm(word: string, known: unknown): string {
  if (typeof known !== 'string' || known.length > longestKnown) return word
  return hasOwnForm.test(known) && !isUuid(known)
    ? known.replaceAll(/[a-z]/g, 'q').replaceAll(/[A-Z]/g, 'Q')
    : word
}

/**
 * Values of its type that a member may not have: outside its bounds; unknown words, and what begins like the known one, as a
 * server may compare no more than its beginning. What the target has names for gets a word of their form.
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
    // An object in which a server looks words up has it.
    unknown('object member', 'constructor'),
  ]
}

/** Everything wrong with a member that the record counts under a condition. */
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
 * Each case by itself, and in a later item of the array that it stands in. Of an item within an item one case is sent in a
 * later one of the outer array as well: whoever looks at each of them looks at all that is in them. Of a
 * single item one case stands before it, too: a server may look at the last alone.
 */
function withLater(place: Placed, cases: readonly Change[]): Change[] {
  const [inner, outer] = arraysAbove(place).toReversed()
  const { at } = place.member
  if (inner === undefined) return [...cases]
  // A server may take what counts as false for absent: of the two booleans each is sent.
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
  /** A body of length 0 is a case as well: it lacks the member, too. */
  readonly orNoBody?: true
  /** The valid request with what a fault of these members needs besides. */
  readonly besides?: (known: Known, valid: Probe) => Probe
  /** Pairs that answer a value of another type at that member, if others than those of the requirement. */
  readonly otherTypes?: { readonly at: string; readonly expects: Pairs }
  /** What the case of a deleted object has besides: it may be granted for good. */
  readonly deleted?: Partial<Case>
}

/** Everything that the record of the operation counts under the requirement's condition. */
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
      `put a value at ${at} into operations.${operation}.body: it is sent as another type`,
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
    // Made a number it is 0, which may be out of range (§7.2).
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

/** Whether the target is known to support what a member is part of: the declared body has it, or a scenario shows it. */
function isSupported({ target, operation }: Material, place: Placed, body: unknown): boolean {
  const { supportedIf } = place.member
  return (
    supportedIf === undefined ||
    hasAbove(body, place) ||
    Object.hasOwn(target.scenarios, `${operation}/${supportedIf}`)
  )
}

/** Whoever looks a word up may remember it once that was answered. Within an array it stands in two items. */
const isChosenWord = (one: Change): boolean =>
  roleOf(one.place.member) !== undefined && one.place.member.isChosen === true && isOf(one, 'value')

const askedAgain = ({ called, ...one }: Change): Change => ({
  ...one,
  called: `${called}, asked for again`,
  faults: [`again @ ${one.place.member.at}`],
})

/** `true` for a number: a server may coerce it. */
const mayBeCoerced = (one: Change): boolean =>
  one.place.member.kinds[0] === 'number' && isOf(one, 'boolean')

/** A server that makes a number of `true` reads one in a text, too: one that takes the one and refuses the other does not look. */
const asText =
  (one: Change) =>
  (valid: Probe): Probe =>
    withBody(valid, changedBody([{ ...one, value: () => '1' }], jsonOf(valid)))
