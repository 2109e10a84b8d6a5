import {
  type Member,
  otherKinds,
  type Parameter,
  numberOf,
  type OperationId,
  operationOf,
  type JsonKind,
} from './operations.ts'

// Kinds of faults in requests; `tests/spec/fault-matrix.ts` says which requirement each is a case of.

/**
 * Where a form of a key is sent. `turn`: a lenient reader accepts it everywhere, so each operation gets every third
 * form; `own`: it resembles another form, and goes only to the operation's own path.
 */
type Sent = '' | 'own' | 'own turn'

/** Values that do not have the form of a key (§5.2). */
const malformed = {
  'no scheme': '',
  'scheme Basic': 'own',
  'scheme Token': 'own',
  'scheme JWT': 'own',
  'scheme ApiKey': 'own turn',
  'Basic in base64': 'own',
  'no blank': 'own turn',
  'text after the key': 'own turn',
  'Bearer alone': 'own',
  'Bearer null': 'own',
  'no JWT': '',
  'three parts': 'own turn',
} as const satisfies Record<string, Sent>

/** Well-formed keys that were never issued. All but the first three need a JWT, the last two further keys. */
const invalid = {
  cut: '',
  lengthened: 'own',
  'other letter case': 'own',
  'signature begins otherwise': 'own',
  'signature ends otherwise': 'own',
  'empty signature': 'own',
  'a fourth part': 'own turn',
  'other payload': '',
  'other header': 'own',
  'alg none, no signature': 'own',
  'alg none, empty signature': '',
  'alg none, old signature': 'own',
  'alg None, no signature': 'own',
  'alg None, empty signature': 'own',
  'alg None, old signature': 'own',
  'alg NONE, empty signature': 'own turn',
  'alg nOnE, empty signature': '',
  'alg unknown': '',
  'alg absent': '',
  'empty secret': '',
  'key in its header': '',
  'secret in its header': 'own',
  'expired key, exp moved': '',
  'restricted key, full payload': 'own',
} as const satisfies Record<string, Sent>

export type MalformedKey = keyof typeof malformed
export type InvalidKey = keyof typeof invalid

export const malformedKeys = Object.keys(malformed) as MalformedKey[]
export const invalidKeys = Object.keys(invalid) as InvalidKey[]

const sent: Readonly<Record<string, Sent>> = { ...malformed, ...invalid }
const inTurn = Object.keys(sent).filter((kind) => sent[kind] === 'own turn')

export function isSentToOtherPaths(kind: string): boolean {
  return !sent[kind]?.startsWith('own')
}

/** An operation's number in rotations: it depends on the seed, and a hundred seeds reach all operations. */
export function turnOf(id: OperationId, seed: number): number {
  return numberOf(id) + Math.abs(seed)
}

/** This many consecutive operations share a rotation, and so do this many consecutive seeds. */
export const everyTurn = 12

export function isFormOn(id: OperationId, kind: string, turn: number): boolean {
  const at = inTurn.indexOf(kind)
  return at === -1 || allFormsOn.includes(id) || at % 3 === turn % 3
}

/**
 * Places besides the operation's own that must not be served without a key either. `spelling`: of the path, or of the
 * uuid in it (RFC 9562, 4), which a router may treat as different; `disguise`: the request claims to be internal, lacks a
 * user agent, or contains a form, and some servers exempt it from keys.
 */
const places = {
  'other path': 'another',
  'slash at the end': 'spelling',
  'double slash': 'spelling',
  ';x': 'spelling',
  'upper case': 'spelling',
  '.json': 'spelling',
  'percent-encoded': 'same',
  'uuid in the other letter case': 'spelling',
  query: 'same',
  'other body': 'another',
  'no body': 'another',
  forwarded: 'disguise',
  multipart: 'disguise',
  'no user agent': 'disguise',
} as const
export type OtherPlace = keyof typeof places
export const otherPlaces = Object.keys(places) as OtherPlace[]

/** These operations get every form of a wrong key, even with `credentialProbes` few, and every spelling of a path. */
export const allFormsOn: readonly OperationId[] = ['pdf.parse', 'jobs.create', 'jobs.retrieve']

export const isDisguise = (place: OtherPlace): boolean => places[place] === 'disguise'
export const isSpelling = (place: OtherPlace): boolean => places[place] === 'spelling'

/** Places that are the same path by RFC 3986; a documented query may have its own route or filter. */
export function isSamePath(place: OtherPlace, id: OperationId): boolean {
  const isNoOther = places[place] === 'same' && !(place === 'query' && shownQuery(id))
  return isNoOther || isDisguise(place)
}

/** Of these a router accepts all or none, so an operation gets one per seed. */
const alike: readonly OtherPlace[] = ['.json', 'percent-encoded', 'query']

function isSentTo(id: OperationId, place: OtherPlace, turn: number): boolean {
  if (allFormsOn.includes(id) || (place === 'query' && shownQuery(id))) return true
  if (place === 'multipart') return operationOf(id).method === 'POST'
  return !alike.includes(place) || alike[turn % alike.length] === place
}

export function shownQuery(id: OperationId): Parameter | undefined {
  return operationOf(id).parameters?.find((one) => one.in === 'query')
}

/**
 * Members that select another documented form of the body, which a server may handle separately: other allowed values,
 * and members that a valid request has only for a requirement about them.
 */
export function otherBodyMembers(id: OperationId): readonly Member[] {
  return operationOf(id).members.filter(
    (member) =>
      member.at.lastIndexOf('/') === 0 &&
      (member.allowed ?? (member.isExtra && (member.example ?? member.kinds.includes('boolean')))),
  )
}

function spelled(path: string, place: OtherPlace): string[] {
  // RFC 3986, 2.3: an encoded letter is the same path to anyone who decodes it.
  if (place === 'percent-encoded')
    return [path.replaceAll(/(?<=\/)[a-z]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`)]
  // The uuid is written only when an id is filled in.
  if (!isSpelling(place) || place === 'uuid in the other letter case') return [path]
  if (place === 'slash at the end') return [`${path}/`]
  if (place === ';x' || place === '.json') return [path + place]
  if (place === 'double slash') return [path.replace('/v1/', '/v1//'), `/${path}`]
  const parts = path.split('/')
  // The version, which a server may check separately, and the last word.
  const words = [1, parts.findLastIndex((part) => /^[a-z]/.test(part))]
  return words.map((at) => parts.with(at, parts[at]?.toUpperCase() ?? '').join('/'))
}

/** The path of a place, given the operation's usual `path`; undefined if it has none in that turn. */
export function pathAt(
  id: OperationId,
  path: string,
  place: OtherPlace,
  turn: number,
): string | undefined {
  const { method, params = {}, ...documented } = operationOf(id)
  // §4.4 names paths besides the main one, among them the parser's without an id.
  if (place === 'other path')
    return [
      documented.path,
      ...documented.otherPaths,
      ...(id === 'pdf.parse' ? ['/v1/tools/pdf-parser'] : []),
    ].find((other) => other !== path)
  const isPossible =
    place === 'other body'
      ? otherBodyMembers(id).length > 0
      : place === 'uuid in the other letter case'
        ? Object.values(params).some((one) => one.format === 'uuid')
        : method === 'POST' || !['no body', 'multipart'].includes(place)
  if (!isPossible || !isSentTo(id, place, turn)) return undefined
  const all = spelled(path, place)
  // A spelling is accepted everywhere or nowhere: each operation gets one of two, in turn.
  return all[turn % all.length]
}

/** Bodies that RFC 8259's grammar refuses: the valid one with one change. */
// oxfmt-ignore
export const malformedJson = [
  'cut before its end', 'bracket too many', 'comma too many', 'text after its end', 'second document',
  'comment', '// comment', '# comment',
  'NaN', 'Infinity', '+1', '01', '.5', 'single quotes', 'name without quotes', 'line end in a string', 'tab in a string',
] as const
export type MalformedJson = (typeof malformedJson)[number]

// oxfmt-ignore
export const mediaTypes = [
  'text/plain', 'text/plain; format=json', 'application/xml', 'application/octet-stream',
  'application/x-www-form-urlencoded', 'multipart/form-data; boundary=conform',
] as const

// oxfmt-ignore
export const otherBodies = ['text', 'number', 'true', 'null', '[]', 'the valid body in an array'] as const
export type OtherBody = (typeof otherBodies)[number]

/** Kinds of bodies that are not objects. If the spec does not show the object, a server may coerce some. */
export function bodiesOf(id: OperationId): readonly OtherBody[] {
  return id === 'pdf.parse' || id === 'chat.create' ? otherBodies : otherBodies.slice(0, 3)
}

/**
 * Unusual values of a member's own type that no requirement names, and unusual forms of a valid body: a server may
 * accept or refuse them (§7.2: 400 for an invalid format), but must not crash.
 */
export const oddTexts = ['odd characters', 'U+0000', 'lone surrogate', 'long'] as const
export const oddNumbers = ['negative', 'zero', 'huge', 'fraction', 'infinite'] as const
export const oddBodies = ['member names', 'deep nesting'] as const
/** A server may refuse these before reading the body, so each is sent alone. */
const oddForms = ['BOM', 'no content type'] as const

type OddText = (typeof oddTexts)[number]
type OddNumber = (typeof oddNumbers)[number]
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

/** Values that no requirement names: only a 5xx fails. */
export const looseBodies = ['null', '[]', '{}', 'length 0', 'invalid UTF-8', ...oddForms] as const

/** Maximum number of members taken from a declared body, besides those of the record. */
export const furtherMembers = 24

/** True if no requirement refuses the member when absent or of that type: a target may accept such a request. */
export function isLoose(member: Member, fault: string): boolean {
  const { judgedBy = {} } = member
  if (fault === 'unknown' || fault === 'deleted') return judgedBy.unknown === undefined
  if (fault === 'absent' || fault === 'null') return judgedBy[fault] === undefined
  return judgedBy.type === undefined || !otherKinds(member).some((kind) => kind === fault)
}

/** A member of the record, or one found only in the declared body. */
type Known = Pick<Member, 'kinds'> & Partial<Member>

/** Its values come from a list, which servers check first. */
export function isListed(member: Partial<Member>): boolean {
  return member.isChosen === true || member.allowed !== undefined || member.shows !== undefined
}

export const mayBeAnyText = (known: Known): boolean => known.judgedBy?.empty === '202-any-text'

/** A word that a server looks up in a list, without a requirement to refuse unknown ones. */
export const mayBeUnknown = (member: Known): boolean =>
  isListed(member) && member.judgedBy?.value === undefined

export const mayStandAlone = (known: Known): boolean =>
  known.isExtra === true && known.shows !== undefined

/** An earlier member with values of the same list: `source` for `target`. */
export function twinOf(member: Partial<Member>, members: readonly Member[]): Member | undefined {
  const { isChosen, judgedBy } = member
  const position = members.findIndex((other) => other.at === member.at)
  return members
    .slice(0, position)
    .find((other) => isChosen && other.isChosen && judgedBy?.value === other.judgedBy?.value)
}

/** Bounds of §2.7 have their own requirement, which does not cover a fraction for an integer. */
function oddNumbersOf(member: Known): readonly OddNumber[] {
  const { at = '', judgedBy } = member
  if (!at.startsWith('{query_config}/')) return oddNumbers
  if (judgedBy?.value === undefined) return ['negative', 'huge', 'fraction']
  return /_(?:level|threshold)$/.test(at) ? ['infinite'] : ['fraction', 'infinite']
}

function mayBeEmpty(member: Known, members: readonly Member[]): boolean {
  const { at = '', kinds, judgedBy } = member
  // `{}` as configuration must be accepted, by another requirement.
  const isGranted = member.role === 'query_config'
  // An empty object lacks members that the spec requires: that is another fault.
  const lacksRequired =
    kinds.includes('object') &&
    at !== '' &&
    members.some((other) => other.at.startsWith(`${at}/`) && other.required === true)
  const hasEmpty = kinds.some((kind) => kind in emptyValues)
  return hasEmpty && judgedBy?.empty === undefined && !isGranted && !lacksRequired
}

/**
 * The odd values of a member that no other requirement sends.
 * @param members of its operation
 */
export function oddValuesOf(member: Known, members: readonly Member[] = []): readonly OddValue[] {
  const { at, kinds, role, isId, isFile, isExtra } = member
  if (isId) return isFile ? ['empty', 'unknown', 'deleted'] : ['empty', 'unknown']
  const isText = kinds.includes('string') && !isListed(member)
  const isAnyText = mayBeAnyText(member)
  const hasObjects = members.some((item) => item.at === `${at}/*` && item.kinds.includes('object'))
  const possible: readonly (readonly [boolean, ...OddValue[]])[] = [
    [mayBeEmpty(member, members), 'empty'],
    [isText, ...(isAnyText ? (['lone surrogate', 'long'] as const) : oddTexts)],
    [isText && !isAnyText, 'blank'],
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

/** The empty value of each kind that has one. */
export const emptyValues: Readonly<Partial<Record<JsonKind, unknown>>> = {
  string: '',
  array: [],
  object: {},
}
