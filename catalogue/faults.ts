import { type Member, otherKinds, type Parameter } from './operation.ts'
import { numberOf, type OperationId, operation } from './operations.ts'
import { oddForms } from './odd-values.ts'

// Kinds of faults in requests; `tests/spec/fault-matrix.ts` says which requirement each is a case of.

/**
 * Where a form of a key is sent. `turn`: a lenient reader accepts it everywhere, so each operation gets every third
 * form; `own`: it resembles another form, and goes only to the operation's own path.
 */
type Sent = '' | 'own' | 'own turn'

/** Values that do not have the form of a key (§5.2). */
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
  // There, the other scheme has a base64 key: a reader that accepts any scheme finds no key in it.
  const isOnlyScheme = kind === 'six-letter scheme' && turn % 4 === 3
  return at === -1 || allFormsOn.includes(id) || at % 3 === turn % 3 || isOnlyScheme
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
const alike: readonly (readonly OtherPlace[])[] = [
  ['.json', 'percent-encoded', 'query'],
  ['forwarded', 'no user agent', 'multipart'],
]

function isSentTo(id: OperationId, place: OtherPlace, turn: number): boolean {
  if (allFormsOn.includes(id) || (place === 'query' && shownQuery(id))) return true
  // Only POST can carry a form.
  const isPost = operation(id).method === 'POST'
  const all = alike
    .find((group) => group.includes(place))
    ?.filter((one) => one !== 'multipart' || isPost)
  return all === undefined || all[turn % all.length] === place
}

export function shownQuery(id: OperationId): Parameter | undefined {
  return operation(id).parameters?.find((one) => one.in === 'query')
}

/**
 * Members that select another documented form of the body, which a server may handle separately: other allowed values,
 * and members that a valid request has only for a requirement about them.
 */
export function otherBodyMembers(id: OperationId): readonly Member[] {
  return operation(id).members.filter(
    ({ at, allowed, isExtra, example, kinds }) =>
      at.lastIndexOf('/') === 0 && (allowed ?? (isExtra && (example ?? kinds.includes('boolean')))),
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
  const { method, params = {}, ...documented } = operation(id)
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
  'cut before its end', 'bracket too many', 'comma too many', 'text after its end', 'second document', 'comment', '# comment',
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
