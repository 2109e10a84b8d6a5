import { type Member, otherKinds, type Parameter } from './operation.ts'
import { numberOf, type OperationId, operation } from './operations.ts'
import { oddForms } from './odd-values.ts'

/** Kinds of faults of requests, each with the requirement that it is a case of (`tests/spec/fault-matrix.ts`). */

/**
 * Where a form of a key is sent. `turn`: whoever reads keys leniently takes it at each operation, and of those each operation gets
 * every third one; `own`: it is like another one, and sent to the operation's own path alone.
 */
type Sent = '' | 'own' | 'own turn'

/** Keys that are none by their form (§5.2). */
const malformed = {
  'no scheme': '',
  'other scheme': 'own',
  'six-letter scheme': 'own turn',
  'no blank': 'own turn',
  'text after the key': 'own turn',
  'Bearer alone': 'own',
  'Bearer null': 'own',
  'no JWT': '',
  'three parts': 'own turn',
} as const satisfies Record<string, Sent>

/** Keys that nobody issued. All but the first three need a JWT, the last two further keys. */
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

/**
 * An operation's number in what goes to some operations only: with another seed it goes to others, and a hundred seeds reach
 * all of them.
 */
export function turnOf(id: OperationId, seed: number): number {
  return numberOf(id) + Math.abs(seed)
}

/** So many operations in a row share out what goes to some of them only: as many seeds in a row do it as well. */
export const everyTurn = 12

/** False if the operation gets, with that turn, another one of the forms that are lenient alike. */
export function isFormOn(id: OperationId, kind: string, turn: number): boolean {
  const at = inTurn.indexOf(kind)
  // There the other scheme is that of a key in base64: whoever takes any word for a scheme sees no key in it.
  const isOnlyScheme = kind === 'six-letter scheme' && turn % 4 === 3
  return at === -1 || allFormsOn.includes(id) || at % 3 === turn % 3 || isOnlyScheme
}

/** True if each run sends it to some operations only, chosen by its seed. */
export function isInTurn(id: OperationId, kind: string, place?: OtherPlace): boolean {
  const isAlone = place === undefined ? inTurn.includes(kind) : isOneOf(id, place) !== undefined
  return isAlone && !allFormsOn.includes(id)
}

/** Places beside the operation's own where nothing may be served without a key either. */
// oxfmt-ignore
export const otherPlaces = [
  'other path', 'slash at the end', 'double slash', ';x', 'upper case', '.json', 'percent-encoded',
  'uuid in the other letter case', 'query', 'other body', 'no body', 'forwarded', 'multipart', 'no user agent',
] as const
export type OtherPlace = (typeof otherPlaces)[number]

/** Every form of a wrong key is sent to these, even if a target wants few, and every spelling of a path. */
export const allFormsOn: readonly OperationId[] = ['pdf.parse', 'jobs.create', 'jobs.retrieve']

/** Spellings that a router takes everywhere or nowhere, and a query that means nothing. */
const alike: readonly OtherPlace[] = ['.json', 'percent-encoded', 'query']

/** Ways in which a request says that it comes from within, or from no program, or holds a form: some take it for one that needs no key. */
const disguises: readonly OtherPlace[] = ['forwarded', 'no user agent', 'multipart']

export const isDisguise = (place: OtherPlace): boolean => disguises.includes(place)

/** The places of which the operation gets one with each seed; undefined if it gets that one anyway. */
function isOneOf(id: OperationId, place: OtherPlace): readonly OtherPlace[] | undefined {
  if (place === 'query' && shownQuery(id) !== undefined) return undefined
  // A form is posted.
  const own = operation(id).method === 'POST' ? disguises : disguises.slice(0, -1)
  return [alike, own].find((all) => all.includes(place))
}

/** False if the operation gets, with that turn, another one of the places that are alike. */
export function isSentTo(id: OperationId, place: OtherPlace, turn: number): boolean {
  const all = isOneOf(id, place)
  return all === undefined || allFormsOn.includes(id) || all[turn % all.length] === place
}

/** The member of the query that the spec shows for an operation. */
export function shownQuery(id: OperationId): Parameter | undefined {
  return operation(id).parameters?.find((one) => one.in === 'query')
}

/**
 * Members with which a valid body is another one that the spec shows, for which a server may have a way of its own: another of
 * the values that it allows, and what a valid request has only if a requirement is about it.
 */
export function otherBodyMembers(id: OperationId): readonly Member[] {
  return operation(id).members.filter(
    ({ at, allowed, isExtra, example, kinds }) =>
      at.lastIndexOf('/') === 0 && (allowed ?? (isExtra && (example ?? kinds.includes('boolean')))),
  )
}

/** Places that are the very same path by RFC 3986; a query that the spec shows may have a route or a filter of its own. */
export function isSamePath(place: OtherPlace, id: OperationId): boolean {
  const isNoOther = place === 'query' && shownQuery(id) === undefined
  return place === 'percent-encoded' || isDisguise(place) || isNoOther
}

/** Places that are another spelling of the path, or of the uuid in it (RFC 9562, 4): a router may not take it for the same. */
export function isSpelling(place: OtherPlace): boolean {
  const others = ['other path', 'percent-encoded', 'query', 'other body', 'no body']
  return !others.includes(place) && !isDisguise(place)
}

/** Paths of an operation that the spec names beside its own (§4.4), the one without an id included. */
function namedPaths(id: OperationId): readonly string[] {
  const { path, otherPaths } = operation(id)
  return [path, ...otherPaths, ...(id === 'pdf.parse' ? ['/v1/tools/pdf-parser'] : [])]
}

/** The path in the spellings of a place, which a router may take for the same. */
function spelled(path: string, place: OtherPlace): string[] {
  if (place === 'percent-encoded') return [path.replaceAll(/(?<=\/)[a-z]/g, percentEncoded)]
  if (!isSpelling(place)) return [path]
  if (place === 'slash at the end') return [`${path}/`]
  if (place === ';x' || place === '.json') return [path + place]
  if (place === 'double slash') return [path.replace('/v1/', '/v1//'), `/${path}`]
  const parts = path.split('/')
  // The version, which a server may look at by itself, and the last word.
  const words = [1, parts.findLastIndex((part) => /^[a-z]/.test(part))]
  return words.map((at) => parts.with(at, parts[at]?.toUpperCase() ?? '').join('/'))
}

/** RFC 3986, 2.3: the same letter, so that the path is the same to whoever decodes it. */
const percentEncoded = (letter: string): string => `%${letter.charCodeAt(0).toString(16)}`

/** The path of a place, for a request that is sent to `path` otherwise; undefined if the operation has none, or not with that turn. */
export function pathAt(
  id: OperationId,
  path: string,
  place: OtherPlace,
  turn: number,
): string | undefined {
  if (place === 'other path') return namedPaths(id).find((other) => other !== path)
  if (place === 'no body') return operation(id).method === 'POST' ? path : undefined
  if (place === 'other body') return otherBodyMembers(id).length > 0 ? path : undefined
  if (place === 'uuid in the other letter case') {
    const isUuid = Object.values(operation(id).params ?? {}).some(({ format }) => format === 'uuid')
    return isUuid ? path : undefined
  }
  if (place === 'multipart' && operation(id).method !== 'POST') return undefined
  if (!isSentTo(id, place, turn)) return undefined
  const all = spelled(path, place)
  // Who takes a spelling takes it everywhere: of two each operation is asked for one, in turn.
  return all[turn % all.length]
}

/** A body that RFC 8259's grammar refuses: the valid one with one change. */
// oxfmt-ignore
export const malformedJson = [
  'cut before its end', 'bracket too many', 'comma too many', 'text after its end', 'second document', 'comment', '# comment',
  'NaN', 'Infinity', '+1', '01', '.5', 'single quotes', 'name without quotes', 'line end in a string', 'tab in a string',
] as const
export type MalformedJson = (typeof malformedJson)[number]

/** The content types that the valid body is labelled with, in place of JSON. */
// oxfmt-ignore
export const mediaTypes = [
  'text/plain', 'text/plain; format=json', 'application/xml', 'application/octet-stream',
  'application/x-www-form-urlencoded', 'multipart/form-data; boundary=conform',
] as const

// oxfmt-ignore
export const otherBodies = ['text', 'number', 'true', 'null', '[]', 'the valid body in an array'] as const
export type OtherBody = (typeof otherBodies)[number]

/** Gives the kinds of bodies that are no object. If the spec does not show the object, a server may read what one can be made of. */
export function bodiesOf(id: OperationId): readonly OtherBody[] {
  return id === 'pdf.parse' || id === 'chat.create' ? otherBodies : otherBodies.slice(0, 3)
}

/** Values that no requirement names, so that nothing but a 5xx fails. */
export const looseBodies = ['null', '[]', '{}', 'length 0', 'invalid UTF-8', ...oddForms] as const

/** Most members that are looked at of a declared body, beside those that the record shows. */
export const furtherMembers = 24

/** True if no requirement wants it refused that the member is absent, or of that type: a target may grant such a request. */
export function isLoose(member: Member, fault: string): boolean {
  const { absent, null: ofNull, type, unknown } = member.judgedBy ?? {}
  if (fault === 'unknown' || fault === 'deleted') return unknown === undefined
  if (fault === 'absent') return absent === undefined
  if (fault === 'null') return ofNull === undefined
  return type === undefined || !otherKinds(member).some((kind) => kind === fault)
}

/** Most that is generated after all others were judged: what is looked at again, and jobs that are judged last. */
export const generatedLater = 24
