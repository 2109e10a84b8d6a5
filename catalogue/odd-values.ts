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

export const mayBeAnyText = (known: Known): boolean => known.judgedBy?.empty === '202-any-text'

/** A word that a server looks up in a list, without a requirement to refuse unknown ones. */
export const mayBeUnknown = (member: Known): boolean =>
  isListed(member) && member.judgedBy?.value === undefined

export const mayStandAlone = (known: Known): boolean =>
  known.isExtra === true && known.shows !== undefined

/** An earlier member with values of the same list: `source` for `target`. */
export function twinOf(
  { at, isChosen, judgedBy }: Partial<Member>,
  members: readonly Member[],
): Member | undefined {
  const position = members.findIndex((other) => other.at === at)
  return members
    .slice(0, position)
    .find((other) => isChosen && other.isChosen && judgedBy?.value === other.judgedBy?.value)
}

/** Bounds of §2.7 have their own requirement, which does not cover a fraction for an integer. */
function oddNumbersOf({ at = '', judgedBy }: Known): readonly OddNumber[] {
  if (!at.startsWith('{query_config}/')) return oddNumbers
  if (judgedBy?.value === undefined) return ['negative', 'huge', 'fraction']
  return /_(?:level|threshold)$/.test(at) ? ['infinite'] : ['fraction', 'infinite']
}

function mayBeEmpty(member: Known, members: readonly Member[]): boolean {
  const { at = '', kinds, judgedBy } = member
  // `{}` as configuration must be accepted, by another requirement.
  const isGranted = member.at !== undefined && roleOf(member as Member) === 'query_config'
  // An empty object lacks members that the spec requires: that is another fault.
  const lacksRequired =
    kinds.includes('object') &&
    at !== '' &&
    members.some((other) => other.at.startsWith(`${at}/`) && other.required === true)
  return emptyOf(kinds).length > 0 && judgedBy?.empty === undefined && !isGranted && !lacksRequired
}

/**
 * The odd values of a member that no other requirement sends.
 * @param members of its operation
 */
export function oddValuesOf(member: Known, members: readonly Member[] = []): readonly OddValue[] {
  const { at, kinds, judgedBy, role, isId, isFile, isExtra } = member
  if (isId) return isFile ? ['empty', 'unknown', 'deleted'] : ['empty', 'unknown']
  const isText = kinds.includes('string') && !isListed(member)
  const isAnyText = mayBeAnyText(member)
  const hasObjects = members.some((item) => item.at === `${at}/*` && item.kinds.includes('object'))
  const possible: readonly (readonly [boolean, ...OddValue[]])[] = [
    [mayBeEmpty(member, members), 'empty'],
    [isText, ...(isAnyText ? (['lone surrogate', 'long'] as const) : oddTexts)],
    // An empty text is refused: a server may trim blanks before or after checking that.
    [isText && judgedBy?.empty?.startsWith('400-empty') === true, 'blank'],
    // The name of a created object must be unique.
    [isText && !isAnyText && role !== 'name', 'object member'],
    [mayBeUnknown(member), 'unknown'],
    [twinOf(member, members) !== undefined, 'equal'],
    [mayStandAlone(member), 'alone'],
    [kinds.includes('number'), ...oddNumbersOf(member)],
    [kinds.join() === 'array' && !isExtra && hasObjects, 'repeated'],
  ]
  return possible.flatMap(([isPossible, ...values]) => (isPossible ? values : []))
}

export function emptyOf(kinds: readonly JsonKind[]): unknown[] {
  const values: readonly (readonly [JsonKind, unknown])[] = [
    ['string', ''],
    ['array', []],
    ['object', {}],
  ]
  return values.flatMap(([kind, value]) => (kinds.includes(kind) ? [value] : []))
}
