import { type JsonKind, type Member, roleOf } from './operation.ts'

/**
 * Values of a member's own type that clients send and no requirement names, and bodies that hold the valid one in an odd form: a
 * server may grant them or refuse them (§7.2: 400 for an invalid format), but none is an error of its own.
 */
export const oddTexts = ['odd characters', 'U+0000', 'lone surrogate', 'long'] as const
export const oddNumbers = ['negative', 'zero', 'huge', 'fraction', 'infinite'] as const
export const oddBodies = ['member names', 'deep nesting'] as const
/** Bodies that a server may refuse before it looks into them: each is sent by itself. */
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

/** A member, or one that only the declared body shows. */
type Known = Pick<Member, 'kinds'> & Partial<Member>

/** Its values are those of a list, which is looked at before anything is done with one. */
export function isListed({ isChosen, allowed, shows }: Partial<Member>): boolean {
  return (isChosen ?? false) || allowed !== undefined || shows !== undefined
}

/** Bounds of §2.7 have a requirement of their own; a fraction for a whole number is none of its faults. */
function oddNumbersOf({ at = '', judgedBy }: Known): readonly OddNumber[] {
  if (!at.startsWith('{query_config}/')) return oddNumbers
  if (judgedBy?.value === undefined) return ['negative', 'huge', 'fraction']
  return /_(?:level|threshold)$/.test(at) ? ['infinite'] : ['fraction', 'infinite']
}

/** An object whose members the spec shows as required lacks them if it is empty: that is another fault. */
function lacksRequired({ at = '', kinds }: Known, members: readonly Member[]): boolean {
  const isBelow = (other: Member): boolean =>
    other.at.startsWith(`${at}/`) && other.required === true
  return kinds.includes('object') && at !== '' && members.some(isBelow)
}

/**
 * The odd values of a member that are sent for no other requirement.
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

/** A requirement is about its texts, whatever they hold. */
export const mayBeAnyText = ({ judgedBy }: Known): boolean => judgedBy?.empty === '202-any-text'

/** Texts that a requirement of their own is about are sent for that, as far as they are texts, and not endless. */
function oddTextsOf({ kinds, ...member }: Known): readonly OddText[] {
  if (!kinds.includes('string') || isListed(member)) return []
  return mayBeAnyText({ kinds, ...member }) ? ['lone surrogate', 'long'] : oddTexts
}

/** A text that is not the name of what is created, which would be one that other runs have; those of jobs are sent for another requirement. */
function mayNameMember({ kinds, role, ...member }: Known): boolean {
  const isElsewhere = role === 'name' || mayBeAnyText({ kinds, ...member })
  return kinds.includes('string') && !isListed(member) && !isElsewhere
}

/** A text that is refused if it is empty: a server may take away its blanks before it looks at it, or after. */
function mayBeBlank({ kinds, judgedBy, ...member }: Known): boolean {
  return (
    kinds.includes('string') &&
    !isListed(member) &&
    judgedBy?.empty?.startsWith('400-empty') === true
  )
}

/** A word of a list that a server looks up, if no requirement wants one refused that it does not have. */
export const mayBeUnknown = (member: Known): boolean =>
  isListed(member) && member.judgedBy?.value === undefined

/** A member before it whose value is one of the same list: `source` of `target`. */
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

/** The value that is shown for it, without the members that it is for. */
export const mayStandAlone = ({ isExtra, shows }: Known): boolean =>
  isExtra === true && shows !== undefined

const isEmptiable = (kind: JsonKind): boolean =>
  kind === 'string' || kind === 'array' || kind === 'object'

/** `{}` as configuration is granted, for another requirement. */
const isGrantedEmpty = (member: Known): boolean =>
  member.at !== undefined && roleOf(member as Member) === 'query_config'

/** An array of objects that every valid request has. */
function isRepeatable({ at, kinds, isExtra }: Known, members: readonly Member[]): boolean {
  if (kinds.length !== 1 || kinds[0] !== 'array' || isExtra) return false
  return members.some((item) => item.at === `${at}/*` && item.kinds.includes('object'))
}

/** The empty values of those types. */
export function emptyOf(kinds: readonly JsonKind[]): unknown[] {
  const values: readonly (readonly [JsonKind, unknown])[] = [
    ['string', ''],
    ['array', []],
    ['object', {}],
  ]
  return values.flatMap(([kind, value]) => (kinds.includes(kind) ? [value] : []))
}
