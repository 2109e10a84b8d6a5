import { catalogue, type RequirementId } from '../../catalogue/catalogue.ts'
import {
  bodiesOf,
  everyTurn,
  invalidKeys,
  isSamePath,
  isSentToOtherPaths,
  looseBodies,
  malformedJson,
  malformedKeys,
  mediaTypes,
  otherBodies,
  type OtherPlace,
  otherPlaces,
  pathAt,
  emptyValues,
  isListed,
  mayBeAnyText,
  mayBeUnknown,
  mayStandAlone,
  oddBodies,
  oddNumbers,
  oddTexts,
  type OddValue,
  oddValuesOf,
  twinOf,
} from '../../catalogue/faults.ts'
import {
  type JsonKind,
  type Member,
  type MemberFault,
  type Operation,
  placeOf,
  type OperationId,
  operationOf,
  operations,
} from '../../catalogue/operations.ts'
import { type Case, nameOfFaults } from '../../suites/checks/case.ts'
import { runOptionsOf } from '../../harness/client/state.ts'
import { loadTargetFile } from '../../harness/target/load.ts'
import { resolveTarget } from '../../harness/target/resolve.ts'
import { getAt } from '../../schemas/json.ts'
import { pointersAt } from './pointers.ts'
import { referenceTargetFile } from '../../schemas/validate.ts'
import { plannedCases, casesOf } from '../../suites/plan.ts'

/**
 * Every kind of fault at every place: the requirement for which a run sends it to the reference, or the reason why none does. One
 * that is neither sent nor has a reason is forgotten.
 */

/** A case, as the probe calls it, or a reason; empty for neither. */
export type Cell =
  | (Sent & { readonly operation: OperationId; readonly fault: string })
  | { readonly operation: OperationId; readonly fault: string; readonly never: string }

interface Sent {
  readonly requirement: RequirementId
  /** A run sends it to some operations only, and with another seed to others. */
  readonly isInTurn?: boolean
}

const { file, dir } = await loadTargetFile(referenceTargetFile)
const { target } = await resolveTarget(file, { dir, env: {}, baseUrl: 'http://reference.example' })

const faultsIn = (cases: readonly Case[]): string[] =>
  cases.flatMap(({ faults = [], parts = [] }) => [
    ...faults.flatMap((fault) => nameOfFaults([fault]) ?? []),
    ...faultsIn(parts),
  ])

/** What a run sends, by operation and fault; of two requirements the one that names what is wrong. */
export const sent = new Map<string, Sent>()
for (const requirement of catalogue.filter(({ id }) => casesOf(id))) {
  const { id, operation: of, fault: where } = requirement
  // What goes to some operations only goes to others with another seed.
  const seeds = where === 'credentials' ? Array.from({ length: everyTurn }, (_, at) => at) : [1]
  const times = new Map<string, number>()
  for (const seed of seeds) {
    const planned = plannedCases(requirement, target, runOptionsOf({ seed }, 'conform'))
    for (const fault of new Set(faultsIn(planned?.cases ?? [])))
      times.set(fault, (times.get(fault) ?? 0) + 1)
  }
  for (const [fault, count] of times) {
    const name = `${of}: ${fault}`
    if (!sent.has(name) || !id.endsWith('/bad-input-no-5xx'))
      sent.set(name, { requirement: id, ...(count < seeds.length && { isInTurn: true }) })
  }
}

function cell(id: OperationId, fault: string, never = ''): Cell {
  const found = sent.get(`${id}: ${fault}`)
  return { operation: id, fault, ...(found ?? { never }) }
}

/** Keys that have one form are sent to every place that the server takes; of the many forms of the others one in turn tells enough. */
const everywhere = ['no credential', 'expired key', 'restricted key']

/** Whether there is such a place for the operation, with some seed. */
function hasPlace(id: OperationId, place: OtherPlace): boolean {
  const turns = Array.from({ length: everyTurn }, (_, turn) => turn)
  return turns.some((turn) => pathAt(id, operationOf(id).path, place, turn) !== undefined)
}

/** Why no key of that kind is sent to that place. */
function whyNotAt(id: OperationId, kind: string, place: OtherPlace): string | undefined {
  if (!hasPlace(id, place)) return 'the operation has no such place'
  if (isSamePath(place, id) && kind !== 'no credential')
    return 'to anyone who looks at a key it is the same path'
  const isSent = place === 'other path' ? isSentToOtherPaths(kind) : everywhere.includes(kind)
  return isSent ? undefined : 'a form that is like another one, which is sent there'
}

function keyCells(id: OperationId): Cell[] {
  return [...everywhere, ...malformedKeys, ...invalidKeys].flatMap((kind) => [
    cell(id, kind),
    ...otherPlaces.map((place) => cell(id, `${kind} @ ${place}`, whyNotAt(id, kind, place))),
  ])
}

/** Whether the body that is declared of the reference has more than one member. */
function hasSeveralMembers(id: OperationId): boolean {
  return Object.keys(target.operations[id]?.body ?? {}).length > 1
}

function whyNotBody(id: OperationId, kind: string): string | undefined {
  const { body } = operationOf(id)
  if (body !== 'json') return body === 'raw' ? 'the body is a file' : 'its request has no body'
  if (kind === '{}' && !hasSeveralMembers(id)) return 'it is the body without its only member'
  const isOther = (otherBodies as readonly string[]).includes(kind)
  if (!isOther || (looseBodies as readonly string[]).includes(kind)) return undefined
  // Of the body of a job that is another row (§4.2).
  if (id === 'jobs.create') return 'each type of its body is in 400-malformed-inputs'
  const own: readonly string[] = bodiesOf(id)
  return own.includes(kind) ? undefined : 'a server may read what its object can be made of'
}

function bodyCells(id: OperationId): Cell[] {
  const forms = new Set([...otherBodies, ...looseBodies, ...oddBodies])
  return [
    ...[...malformedJson, ...mediaTypes].map((kind) => cell(id, kind, whyNotBody(id, kind))),
    ...[...forms].map((kind) => cell(id, `body: ${kind}`, whyNotBody(id, kind))),
  ]
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
  const of = (kind: string, why?: string): Cell => cell(id, `${kind} @ ${at}`, why)
  /** Of a fault that is caused by a scenario, or by states of the target, nobody knows the case. */
  const named = (fault: MemberFault, why?: string): Cell => {
    const requirement = `${id}/${judgedBy[fault] ?? ''}` as RequirementId
    const isKnown = judgedBy[fault] === undefined || casesOf(requirement) !== undefined
    return isKnown ? of(fault, why) : { operation: id, fault: `${fault} @ ${at}`, requirement }
  }
  const isChosen = isLookedUp(member)
  const ofNone = isChosen ? undefined : 'its value is chosen among none'
  const isRole = judgedBy.value === '400-invalid-role'
  return [
    of('absent', whyNotAbsent(id, member)),
    of('null'),
    ...kinds.map((kind) => of(kind, own.includes(kind) ? 'its own type' : undefined)),
    named('empty', whyNotEmpty(id, member)),
    ...(own.includes('array') ? [of('one item')] : []),
    ...oddKindsOf(id, member).map((kind) => of(kind, whyNotOdd(id, member, kind))),
    named('value', judgedBy.value ? undefined : 'the spec excludes no value of its type'),
    of('lengthened', ofNone),
    ...(isChosen ? [of('object member')] : []),
    of('again', isRole ? 'the unknown word is given in two messages' : ofNone),
    laterCell(id, member),
  ]
}

function whyNotAbsent(id: OperationId, member: Member): string | undefined {
  if (member.at.endsWith('*')) return 'an item is no member'
  const { body, fields = {} } = target.operations[id] ?? {}
  const place = placeOf(operationOf(id).members, member, fields)
  const isHeld = place !== undefined && pointersAt(body, place).length > 0
  return isHeld && !member.isExtra ? undefined : 'a valid request is without it'
}

function whyNotEmpty(id: OperationId, member: Member): string | undefined {
  if (member.judgedBy?.empty || oddValuesOf(member, operationOf(id).members).includes('empty'))
    return undefined
  return member.kinds.some((kind) => kind in emptyValues)
    ? 'it is valid, or lacks members that are left out one by one'
    : 'it cannot be empty'
}

/** Odd values that are of its types. */
function oddKindsOf(id: OperationId, member: Member): readonly OddValue[] {
  if (member.isId) return ['unknown', ...(member.isFile ? (['deleted'] as const) : [])]
  const kinds = ownKinds(member)
  return [
    ...(kinds.includes('string') ? [...oddTexts, 'blank' as const] : []),
    ...(kinds.includes('string') && !isLookedUp(member) ? ['object member' as const] : []),
    ...(kinds.includes('number') ? oddNumbers : []),
    ...(twinOf(member, operationOf(id).members) ? ['equal' as const] : []),
    ...(kinds.includes('array') ? (['repeated'] as const) : []),
    ...(mayBeUnknown(member) ? (['unknown'] as const) : []),
    ...(mayStandAlone(member) ? (['alone'] as const) : []),
  ]
}

function whyNotOdd(id: OperationId, member: Member, kind: OddValue): string | undefined {
  // The id of a file that nobody has is bad input as well: one request shows both.
  if ((kind === 'unknown' || kind === 'deleted') && member.judgedBy?.unknown) return undefined
  const sent = oddValuesOf({ ...member, kinds: ownKinds(member) }, operationOf(id).members)
  if (sent.includes(kind)) return undefined
  if (mayBeAnyText(member)) return '202-any-text sends such texts'
  if (kind === 'repeated') return 'it holds no objects, or a valid request is without it'
  if (isListed(member)) return 'it is looked up in a list before it is used'
  return kind === 'object member'
    ? 'the name would be that of another run'
    : 'its bounds have a row'
}

/** Whether a requirement wants an unknown word refused. */
const isLookedUp = ({ isChosen, judgedBy }: Member): boolean =>
  isChosen === true && judgedBy?.value !== undefined

/** Rows whose cases are sent in a later item of an array as well. */
const inLaterItems = [
  ...['400-malformed-messages', '400-malformed-tools', '400-malformed-inputs'],
  ...['400-malformed-request', 'bad-input-no-5xx'],
]

function laterCell(id: OperationId, { at, kinds, tolerates = [], judgedBy }: Member): Cell {
  const condition = judgedBy?.type ?? 'bad-input-no-5xx'
  const isRead = condition === 'bad-input-no-5xx' && kinds.includes('object')
  const kind = tolerates.includes('number') ? 'boolean' : 'number'
  const fault = `${isRead ? 'null' : kind} @ ${at}, later`
  if (!at.includes('*')) return cell(id, fault, 'it is in no array')
  const isSent = inLaterItems.includes(condition)
  return cell(
    id,
    fault,
    isSent ? '' : 'the row that names what is wrong with it looks at the first',
  )
}

const idWays = [
  ...['unknown', 'asked twice', 'cut', 'lengthened', 'of another kind'],
  ...['like another', 'wildcard', 'another form', 'deleted'],
]

/** Why no id is sent in a way that an id of another form has. */
const ofAnyForm: Readonly<Record<string, string>> = {
  'like another': 'ids of any form: one that is like another may exist',
  wildcard: 'ids of any form may hold it',
  'another form': 'ids have any form',
}

function whyNotId(id: OperationId, way: string): string | undefined {
  const [param] = Object.entries(operationOf(id).params ?? {})
  if (!param) return 'its path has no id'
  const [name, { format }] = param
  if (operationOf(id).effect === 'destroys' && !['unknown', 'asked twice'].includes(way))
    return 'nothing that is declared is named to what destroys'
  if (way === 'deleted') return name === 'file_id' ? undefined : 'nothing says what was deleted'
  return format === undefined ? ofAnyForm[way] : undefined
}

function cellsOf(id: OperationId): Cell[] {
  const { members, body }: Operation = operationOf(id)
  return [
    ...keyCells(id),
    ...bodyCells(id),
    ...(body === 'json' ? members.flatMap((member) => memberCells(id, member)) : []),
    ...idWays.map((way) => cell(id, `id: ${way}`, whyNotId(id, way))),
  ]
}

export const matrix: readonly Cell[] = operations.flatMap(({ id }) => cellsOf(id))
