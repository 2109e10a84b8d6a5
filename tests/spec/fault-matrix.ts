import { type RequirementId, isRequirementId } from '../../catalogue/catalogue.ts'
import {
  emptyOf,
  isListed,
  oddBodies,
  oddNumbers,
  oddTexts,
  type OddValue,
  oddValuesOf,
  mayBeAnyText,
  mayBeUnknown,
  mayStandAlone,
  twinOf,
} from '../../catalogue/odd-values.ts'
import {
  bodiesOf,
  invalidKeys,
  everyTurn,
  isInTurn,
  isSamePath,
  isSpelling,
  looseBodies,
  malformedJson,
  malformedKeys,
  mediaTypes,
  otherBodies,
  type OtherPlace,
  otherPlaces,
  isSentToOtherPaths,
  pathAt,
} from '../../catalogue/faults.ts'
import target from '../../fixtures/reference.target.json' with { type: 'json' }
import { getAt } from '../../schemas/json.ts'
import {
  type JsonKind,
  type Member,
  type MemberFault,
  missingMember,
  type Operation,
  otherKinds,
} from '../../catalogue/operation.ts'
import { type OperationId, operation, operations } from '../../catalogue/operations.ts'

/** Every kind of fault at every place: a case of a requirement, or the reason why it is never sent. None is forgotten. */

/** A case, as the probe that is sent calls it, or a reason. */
export type Cell =
  | {
      readonly operation: OperationId
      readonly fault: string
      readonly requirement: RequirementId
      /** A run sends it to some operations only, and with another seed to others. */
      readonly isInTurn?: boolean
    }
  | { readonly operation: OperationId; readonly fault: string; readonly never: string }

function cell(id: OperationId, fault: string, condition: string): Cell {
  const requirement = `${id}/${condition}`
  if (!isRequirementId(requirement)) throw new Error(`no requirement ${requirement}`)
  return { operation: id, fault, requirement }
}

const never = (id: OperationId, fault: string, reason: string): Cell => ({
  operation: id,
  fault,
  never: reason,
})

/** The requirement of each credential that is wrong. */
const keyRequirements: readonly (readonly [kind: string, condition: string])[] = [
  ['no credential', '401-missing-credentials'],
  ...malformedKeys.map((kind) => [kind, '401-malformed-key'] as const),
  ...invalidKeys.map((kind) => [kind, '401-invalid-key'] as const),
  ['expired key', '401-expired-key'],
  ['restricted key', '403-insufficient-rights'],
]

/** Keys that have one form are sent to every place that the server takes; of the many forms of the others one in turn tells enough. */
const everywhere = ['no credential', 'expired key', 'restricted key']

const nowhere: Partial<Record<OtherPlace, string>> = {
  'no body': 'a GET has no body',
  'other body': 'the spec shows no other body that is worked on alike',
  'uuid in the other letter case': 'no uuid stands in its path',
  multipart: 'a GET has no body',
}

/** Whether there is such a place for the operation, with some seed. */
function hasPlace(id: OperationId, place: OtherPlace): boolean {
  const turns = Array.from({ length: everyTurn }, (_, turn) => turn)
  return turns.some((turn) => pathAt(id, operation(id).path, place, turn) !== undefined)
}

function keyCells(id: OperationId): Cell[] {
  return keyRequirements.flatMap(([kind, condition]) => [
    { ...cell(id, kind, condition), isInTurn: isInTurn(id, kind) },
    ...otherPlaces.map((place) => {
      const fault = `${kind} @ ${place}`
      if (!hasPlace(id, place))
        return never(id, fault, nowhere[place] ?? 'the spec names no other path')
      if (isSamePath(place, id) && kind !== 'no credential')
        return never(id, fault, 'to whoever looks at a key it is the same path')
      if (place === 'other path' && !isSentToOtherPaths(kind))
        return never(id, fault, 'a form that is like another one, which is sent there')
      if (place === 'other path' || everywhere.includes(kind))
        return { ...cell(id, fault, condition), isInTurn: isInTurn(id, kind, place) }
      if (place === 'uuid in the other letter case')
        return never(id, fault, 'of the forms of a key one is sent with it')
      if (!isSpelling(place) && place !== 'other body')
        return never(id, fault, 'whoever looks at a key looks at its form')
      return never(id, fault, 'of the forms of a key one is sent in one such spelling in turn')
    }),
  ])
}

function bodyCells(id: OperationId): Cell[] {
  const { body } = operation(id)
  const kinds = [
    ...malformedJson,
    ...mediaTypes,
    ...new Set([...otherBodies, ...looseBodies, ...oddBodies].map((kind) => `body: ${kind}`)),
  ]
  if (body !== 'json')
    return kinds.map((kind) =>
      never(id, kind, body === 'raw' ? 'the body is a file' : 'a GET has no body'),
    )
  const own: readonly string[] = bodiesOf(id)
  return [
    ...malformedJson.map((kind) => cell(id, kind, '400-malformed-json')),
    ...mediaTypes.map((kind) => cell(id, kind, '400-wrong-content-type')),
    ...otherBodies.map((kind) => otherBody(id, kind, own.includes(kind))),
    ...[...looseBodies.filter((kind) => kind !== 'null' && kind !== '[]'), ...oddBodies].map(
      (kind) => {
        if (kind === '{}' && !hasSeveralMembers(id))
          return never(id, `body: ${kind}`, 'it is the body without its only member')
        const isMissing = kind === 'length 0' && isRequirementId(`${id}/${missingMember}`)
        return cell(id, `body: ${kind}`, isMissing ? missingMember : 'bad-input-no-5xx')
      },
    ),
  ]
}

/** Whether the body that is declared of the reference has more than one member. */
function hasSeveralMembers(id: OperationId): boolean {
  return Object.keys(getAt(target, `/operations/${id}/body`) ?? {}).length > 1
}

function otherBody(id: OperationId, kind: string, isNamed: boolean): Cell {
  const fault = `body: ${kind}`
  const isLoose = (looseBodies as readonly string[]).includes(kind)
  // Of the body of a job that is another row (§4.2).
  if (id === 'jobs.create')
    return isLoose
      ? cell(id, fault, 'bad-input-no-5xx')
      : never(id, fault, 'each type of its body is in 400-malformed-inputs')
  if (isNamed) return cell(id, fault, '4xx-malformed-body')
  return isLoose
    ? cell(id, fault, 'bad-input-no-5xx')
    : never(id, fault, 'a server may read what its object can be made of')
}

const kinds: readonly JsonKind[] = ['boolean', 'number', 'string', 'array', 'object']

/** A member without a type has that of its value in the declared body: here, in the example. */
function ownKinds({ kinds, isId, exampleAt, example }: Member): readonly JsonKind[] {
  if (kinds.length > 0 || isId || exampleAt === undefined) return kinds
  return typeof getAt(example, exampleAt) === 'number' ? ['number'] : kinds
}

/** The cells of a member: left out, null, of each type, empty, another value, and in a later item. */
function memberCells(id: OperationId, member: Member): Cell[] {
  const { at, judgedBy = {} } = member
  const own = ownKinds(member)
  const tag = (kind: string): string => `${kind} @ ${at}`
  const named = (fault: MemberFault): string => judgedBy[fault] ?? 'bad-input-no-5xx'
  const wrong = otherKinds(member)
  return [
    cell(id, tag('absent'), named('absent')),
    cell(id, tag('null'), named('null')),
    ...kinds.map((kind) => {
      if (own.includes(kind)) return never(id, tag(kind), 'its own type')
      return cell(id, tag(kind), wrong.includes(kind) ? named('type') : 'bad-input-no-5xx')
    }),
    emptyCell(id, member),
    ...(own.includes('array') ? [cell(id, tag('one item'), 'bad-input-no-5xx')] : []),
    ...oddKindsOf(id, member).map((kind) => oddCell(id, member, kind)),
    valueCell(id, member),
    lengthenedCell(id, member),
    ...objectMemberCell(id, member),
    againCell(id, member),
    laterCell(id, member),
  ]
}

function valueCell(id: OperationId, { at, judgedBy }: Member): Cell {
  const condition = judgedBy?.value
  return condition === undefined
    ? never(id, `value @ ${at}`, 'the spec excludes no value of its type')
    : cell(id, `value @ ${at}`, condition)
}

function emptyCell(id: OperationId, member: Member): Cell {
  const condition = member.judgedBy?.empty
  if (condition !== undefined) return cell(id, `empty @ ${member.at}`, condition)
  const isSent = oddValuesOf(member, operation(id).members).includes('empty')
  if (isSent) return cell(id, `empty @ ${member.at}`, 'bad-input-no-5xx')
  return never(
    id,
    `empty @ ${member.at}`,
    emptyOf(member.kinds).length > 0
      ? 'it is valid, or lacks members that are left out one by one'
      : 'it cannot be empty',
  )
}

/** Odd values that are of its types. */
function oddKindsOf(id: OperationId, member: Member): readonly OddValue[] {
  if (member.isId) return ['unknown', ...(member.isFile ? (['deleted'] as const) : [])]
  const kinds = ownKinds(member)
  return [
    ...(kinds.includes('string') ? [...oddTexts, 'blank' as const] : []),
    ...(kinds.includes('string') && !isLookedUp(member) ? ['object member' as const] : []),
    ...(kinds.includes('number') ? oddNumbers : []),
    ...(twinOf(member, operation(id).members) ? ['equal' as const] : []),
    ...(kinds.includes('array') ? (['repeated'] as const) : []),
    ...(mayBeUnknown(member) ? (['unknown'] as const) : []),
    ...(mayStandAlone(member) ? (['alone'] as const) : []),
  ]
}

function oddCell(id: OperationId, member: Member, kind: OddValue): Cell {
  const fault = `${kind} @ ${member.at}`
  // The id of a file that nobody has is bad input as well: one request shows both.
  const ofNothing = kind === 'unknown' || kind === 'deleted' ? member.judgedBy?.unknown : undefined
  if (ofNothing !== undefined) return cell(id, fault, ofNothing)
  if (oddValuesOf({ ...member, kinds: ownKinds(member) }, operation(id).members).includes(kind))
    return cell(id, fault, 'bad-input-no-5xx')
  if (mayBeAnyText(member)) return never(id, fault, '202-any-text sends such texts')
  if (kind === 'repeated')
    return never(id, fault, 'it holds no objects, or a valid request is without it')
  if (kind === 'object member' && !isListed(member))
    return never(id, fault, 'the name would be that of another run')
  if (kind === 'blank' && !isListed(member))
    return never(id, fault, 'no row wants it refused if it is empty')
  return never(
    id,
    fault,
    isListed(member) ? 'it is looked up in a list before it is used' : 'its bounds have a row',
  )
}

/** Whether a requirement wants an unknown word refused. */
const isLookedUp = ({ isChosen, judgedBy }: Member): boolean =>
  isChosen === true && judgedBy?.value !== undefined

function objectMemberCell(id: OperationId, member: Member): Cell[] {
  return isLookedUp(member)
    ? [cell(id, `object member @ ${member.at}`, member.judgedBy!.value!)]
    : []
}

function lengthenedCell(id: OperationId, { at, judgedBy, isChosen }: Member): Cell {
  const condition = isChosen && judgedBy?.value
  return condition
    ? cell(id, `lengthened @ ${at}`, condition)
    : never(id, `lengthened @ ${at}`, 'its value is chosen among none')
}

function againCell(id: OperationId, { at, judgedBy, isChosen }: Member): Cell {
  const fault = `again @ ${at}`
  const condition = isChosen && judgedBy?.value
  if (!condition) return never(id, fault, 'its value is chosen among none')
  return condition === '400-invalid-role'
    ? never(id, fault, 'the unknown word is given in two messages')
    : cell(id, fault, condition)
}

/** Rows whose cases are sent in a later item of an array as well. */
const inLaterItems = [
  '400-malformed-messages',
  '400-malformed-tools',
  '400-malformed-inputs',
  '400-malformed-request',
]

function laterCell(id: OperationId, { at, kinds, tolerates = [], judgedBy }: Member): Cell {
  const condition = judgedBy?.type ?? 'bad-input-no-5xx'
  const isRead = condition === 'bad-input-no-5xx' && kinds.includes('object')
  const kind = tolerates.includes('number') ? 'boolean' : 'number'
  const fault = `${isRead ? 'null' : kind} @ ${at}, later`
  if (!at.includes('*')) return never(id, fault, 'it stands in no array')
  return [...inLaterItems, 'bad-input-no-5xx'].includes(condition)
    ? cell(id, fault, condition)
    : never(id, fault, 'the row that names what is wrong with it looks at the first')
}

/** How an id is unknown, and the requirements of the operations that have one in their path. */
const idRequirements: Readonly<Partial<Record<OperationId, Readonly<Record<string, string>>>>> = {
  'pdf.parse': of(
    '4xx-unknown-file',
    'unknown',
    'asked twice',
    'cut',
    'lengthened',
    'of another kind',
    'deleted',
  ),
  'jobs.create': of(
    '404-unknown-application',
    'unknown',
    'asked twice',
    'cut',
    'lengthened',
    'of another kind',
  ),
  'jobs.retrieve': {
    ...of('4xx-unknown-job', 'unknown', 'asked twice', 'of another kind', 'like another'),
    ...of('4xx-malformed-id', 'cut', 'lengthened', 'wildcard', 'another form'),
  },
  'files.retrieve': {
    ...of('404-unknown-file', 'unknown', 'asked twice', 'cut', 'lengthened', 'of another kind'),
    ...of('410-deleted-file', 'deleted'),
  },
  'graphs.add-file': of(
    '404-unknown-graph',
    'unknown',
    'asked twice',
    'cut',
    'lengthened',
    'of another kind',
  ),
  'graphs.query': of(
    '404-unknown-graph',
    'unknown',
    'asked twice',
    'cut',
    'lengthened',
    'of another kind',
  ),
}

function of(condition: string, ...ways: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(ways.map((way) => [way, condition]))
}

const idWays = [
  'unknown',
  'asked twice',
  'cut',
  'lengthened',
  'of another kind',
  'like another',
  'wildcard',
  'another form',
  'deleted',
]

/** Why an id is not sent in a way that another operation has. */
const idReasons: Readonly<Record<string, string>> = {
  cut: 'a file is cut for files.retrieve',
  'like another': 'ids of any form: one that is like another may exist',
  wildcard: 'ids of any form may hold it',
  'another form': 'ids have any form',
  deleted: 'nothing says what was deleted',
}

function idCells(id: OperationId): Cell[] {
  const own = idRequirements[id] ?? {}
  const has = /\{/.test(operation(id).path)
  return idWays.map((way) => {
    const condition = own[way]
    if (condition !== undefined) return cell(id, `id: ${way}`, condition)
    return never(id, `id: ${way}`, has ? (idReasons[way] ?? 'never') : 'its path has no id')
  })
}

/** The parts of the matrix. */
export type Part = 'keys' | 'bodies' | 'members' | 'ids'

/** All cells of an operation. */
export function cellsOf(id: OperationId): Readonly<Record<Part, readonly Cell[]>> {
  const { members, body }: Operation = operation(id)
  return {
    keys: keyCells(id),
    bodies: bodyCells(id),
    members: body === 'json' ? members.flatMap((member) => memberCells(id, member)) : [],
    ids: idCells(id),
  }
}

export const matrix: readonly Cell[] = operations.flatMap(({ id }) =>
  Object.values(cellsOf(id)).flat(),
)
