import { type JsonKind, type Member, roleOf } from './operation.ts'

/**
 * Unusual values of a member's own type that no requirement names, and unusual forms of a valid body: a server may
 * accept or refuse them (§7.2: 400 for an invalid format), but must not crash.
 */
export const oddTexts = ['odd characters', 'U+0000', 'lone surrogate', 'long'] as const
export const oddNumbers = ['negative', 'zero', 'huge', 'fraction', 'infinite'] as const
export const oddBodies = ['member names', 'deep nesting'] as const
/** A server may refuse these before reading the body, so each is sent alone. */
export const oddForms = ['BOM', 'no content type'] as const

export type OddText = (typeof oddTexts)[number]
export type OddNumber = (typeof oddNumbers)[number]
export type OddBody = (typeof oddBodies)[number]

export type OddValue =
  | OddText
  | OddNumber
  | 'empty'
  | 'blank'
  | 'repeated'
  | 'unknown'
  | 'alone'
  | 'object member'
  | 'equal'
  | 'deleted'

/** A member of the record, or one found only in the declared body. */
type Known = Pick<Member, 'kinds'> & Partial<Member>

/** Its values come from a list, which servers check first. */
export function isListed({ isChosen, allowed, shows }: Partial<Member>): boolean {
  return (isChosen ?? false) || allowed !== undefined || shows !== undefined
}

/** Bounds of §2.7 have their own requirement, which does not cover a fraction for an integer. */
function oddNumbersOf({ at = '', judgedBy }: Known): readonly OddNumber[] {
  if (!at.startsWith('{query_config}/')) return oddNumbers
  if (judgedBy?.value === undefined) return ['negative', 'huge', 'fraction']
  return /_(?:level|threshold)$/.test(at) ? ['infinite'] : ['fraction', 'infinite']
}

/** An empty object lacks members that the spec requires: that is another fault. */
function lacksRequired({ at = '', kinds }: Known, members: readonly Member[]): boolean {
  const isBelow = (other: Member): boolean =>
    other.at.startsWith(`${at}/`) && other.required === true
  return kinds.includes('object') && at !== '' && members.some(isBelow)
}

/**
 * The odd values of a member that no other requirement sends.
 * @param members of its operation
 */
export function oddValuesOf(member: Known, members: readonly Member[] = []): readonly OddValue[] {
  const { kinds, judgedBy, isId, isFile } = member
  if (isId) return ['empty', 'unknown', ...(isFile ? (['deleted'] as const) : [])]
  const mayBeEmpty = kinds.some((kind) => isEmptiable(kind)) && judgedBy?.empty === undefined
  const isOwnFault = isGrantedEmpty(member) || lacksRequired(member, members)
  return [
    ...(mayBeEmpty && !isOwnFault ? (['empty'] as const) : []),
    ...oddTextsOf(member),
    ...(mayBeBlank(member) ? (['blank'] as const) : []),
    ...(mayNameMember(member) ? (['object member'] as const) : []),
    ...(mayBeUnknown(member) ? (['unknown'] as const) : []),
    ...(twinOf(member, members) ? (['equal'] as const) : []),
    ...(mayStandAlone(member) ? (['alone'] as const) : []),
    ...(kinds.includes('number') ? oddNumbersOf(member) : []),
    ...(isRepeatable(member, members) ? (['repeated'] as const) : []),
  ]
}

/** Another requirement covers any text here. */
export const mayBeAnyText = ({ judgedBy }: Known): boolean => judgedBy?.empty === '202-any-text'

/** Odd texts, except those that another requirement sends. */
function oddTextsOf({ kinds, ...member }: Known): readonly OddText[] {
  if (!kinds.includes('string') || isListed(member)) return []
  return mayBeAnyText({ kinds, ...member }) ? ['lone surrogate', 'long'] : oddTexts
}

/**
 * A text other than the name of a created object, which must be unique; texts of jobs belong to another requirement.
 */
function mayNameMember({ kinds, role, ...member }: Known): boolean {
  const isElsewhere = role === 'name' || mayBeAnyText({ kinds, ...member })
  return kinds.includes('string') && !isListed(member) && !isElsewhere
}

/** An empty text is refused: a server may trim blanks before or after checking that. */
function mayBeBlank({ kinds, judgedBy, ...member }: Known): boolean {
  return (
    kinds.includes('string') &&
    !isListed(member) &&
    judgedBy?.empty?.startsWith('400-empty') === true
  )
}

/** A word that a server looks up in a list, without a requirement to refuse unknown ones. */
export const mayBeUnknown = (member: Known): boolean =>
  isListed(member) && member.judgedBy?.value === undefined

/** An earlier member with values of the same list: `source` for `target`. */
export function twinOf(
  { at, isChosen, judgedBy }: Partial<Member>,
  members: readonly Member[],
): Member | undefined {
  const before = members.slice(
    0,
    members.findIndex((other) => other.at === at),
  )
  return before.find(
    (other) => isChosen && other.isChosen && judgedBy?.value === other.judgedBy?.value,
  )
}

export const mayStandAlone = ({ isExtra, shows }: Known): boolean =>
  isExtra === true && shows !== undefined

const isEmptiable = (kind: JsonKind): boolean =>
  kind === 'string' || kind === 'array' || kind === 'object'

/** `{}` as configuration must be accepted, by another requirement. */
const isGrantedEmpty = (member: Known): boolean =>
  member.at !== undefined && roleOf(member as Member) === 'query_config'

/** An array of objects that every valid request has. */
function isRepeatable({ at, kinds, isExtra }: Known, members: readonly Member[]): boolean {
  if (kinds.length !== 1 || kinds[0] !== 'array' || isExtra) return false
  return members.some((item) => item.at === `${at}/*` && item.kinds.includes('object'))
}

export function emptyOf(kinds: readonly JsonKind[]): unknown[] {
  const values: readonly (readonly [JsonKind, unknown])[] = [
    ['string', ''],
    ['array', []],
    ['object', {}],
  ]
  return values.flatMap(([kind, value]) => (kinds.includes(kind) ? [value] : []))
}
