import { type JsonKind, type Member, otherKinds, placeOf } from '../../catalogue/operation.ts'
import {
  getAt,
  isObject,
  setAt,
  tokensOf,
  escapeToken,
  member as memberOf,
} from '../../schemas/json.ts'
import { jsonOf, type Probe, withJson, NotExercised } from '../../harness/journal/index.ts'
import type { Case } from './case.ts'
import {
  byIndex,
  falsy,
  inPlaceOf,
  type Known,
  nameOfKind,
  randomOf,
  sample,
  seedFor,
  unknownId,
  kindOf,
  type OfTarget,
} from './values.ts'
import { furtherMembers } from '../../catalogue/faults.ts'
import { operation as operationOf, type OperationId } from '../../catalogue/operations.ts'
import { bodyOf, extraRoles, withoutRoles } from './valid-request.ts'

export function pointerOf(run: OfTarget, operation: OperationId, role: string): string | undefined {
  return run.target.operations[operation]?.fields[role]
}

export function valueAt(
  run: OfTarget,
  operation: OperationId,
  role: string,
  body: unknown,
): unknown {
  return getAt(body, pointerOf(run, operation, role) ?? `/${role}`)
}

/** The valid body with another value at the role; adds the member if absent, removes it for `undefined`. */
export function atRole(run: OfTarget, probe: Probe, role: string, value: unknown): Probe {
  const pointer = probe.operation === null ? undefined : pointerOf(run, probe.operation, role)
  if (pointer === undefined)
    throw new NotExercised(`declare operations.${probe.operation}.fields.${role}`)
  return { ...withJson(probe, setAt(jsonOf(probe), pointer, value)), effect: 'none' }
}

/** The place of a member in a body, and a body with all its parents. */
export interface Placed {
  /** The record's member, with its valid types; for a member found only in the declared body, from its value. */
  readonly member: Member
  readonly pointer: string
  readonly body: unknown
  readonly like: unknown
}

type Examples = (member: Member, above: unknown) => unknown

export type PickItem = (items: readonly unknown[], member: Member) => number

const ofItsType: PickItem = (items, one) =>
  one.ofType === undefined
    ? 0
    : Math.max(
        0,
        items.findIndex((item) => getAt(item, '/type') === one.ofType),
      )

function placed(
  members: readonly Member[],
  member: Member,
  place: string,
  {
    body,
    examples,
    pick,
  }: { readonly body: unknown; readonly examples: Examples; readonly pick: PickItem },
): Placed | undefined {
  let framed = body
  let pointer = ''
  let pattern = ''
  const tokens = tokensOf(place)
  for (const [index, token] of tokens.entries()) {
    const above = getAt(framed, pointer)
    if (token === '*' && !Array.isArray(above)) {
      const items = examples(member, above)
      if (!Array.isArray(items)) return undefined
      framed = setAt(framed, pointer, items)
    }
    const items = getAt(framed, pointer)
    pointer += `/${token === '*' ? pick(items as readonly unknown[], member) : escapeToken(token)}`
    pattern += `/${token}`
    if (index === tokens.length - 1 || getAt(framed, pointer) !== undefined) continue
    const example = members.find(
      (one) =>
        one.at === pattern ||
        (one.at === '{query_config}' &&
          place.startsWith(`${pattern}/`) &&
          member.at.startsWith(one.at)),
    )
    const made = example && examples(example, undefined)
    if (made === undefined) return undefined
    framed = setAt(framed, pointer, made)
  }
  const own: unknown = getAt(framed, pointer)
  const ofItems = own === undefined ? member : { ...member, at: `${member.at}/*` }
  const array =
    member.kinds.includes('array') && !Array.isArray(own) ? examples(ofItems, own) : undefined
  return {
    member: typed(member, own),
    pointer,
    body: framed,
    like: array ?? own ?? member.inside?.[0],
  }
}

/** A parameter has the type of its declared value; for a text or array, a server may accept one or several. */
function typed(member: Member, own: unknown): Member {
  if (member.kinds.length > 0 || member.isId || own === undefined || own === null) return member
  const kind = kindOf(own)
  const texts = ['string', 'array'] as const
  return { ...member, kinds: [kind], tolerates: kind === 'string' || kind === 'array' ? texts : [] }
}

export function placesIn(
  run: OfTarget,
  operation: OperationId,
  body: unknown,
  pick = ofItsType,
): Placed[] {
  const { members, settingsWith } = operationOf(operation)
  const fields = run.target.operations[operation]?.fields ?? {}
  const examples = examplesFor(run, operation, body)
  // If a query_config needs more than a plain request, a request with that is used.
  const bodyFor = (member: Member): unknown =>
    settingsWith && isSetting(member) ? withExtra(run, operation, settingsWith) : body
  return members.flatMap((member: Member) => {
    const place = placeOf(members, member, fields)
    if (place === undefined) return []
    return placed(members, member, place, { body: bodyFor(member), examples, pick }) ?? []
  })
}

/** §2.7. */
export const isSetting = (one: Member): boolean => one.at.startsWith('{query_config}')

function withExtra(run: OfTarget, operation: OperationId, kept: readonly string[]): unknown {
  const left = extraRoles(operation).filter((role) => !kept.includes(role))
  return withoutRoles(run, operation, bodyOf(run, operation), left)
}

const deepest = 3

export function undescribedMembers(body: unknown, shown: readonly Placed[]): Placed[] {
  const known = new Set(shown.map((one) => one.pointer))
  return membersIn(body, '', deepest)
    .filter((pointer) => !known.has(pointer))
    .slice(0, furtherMembers)
    .map((pointer): Placed => {
      const like: unknown = getAt(body, pointer)
      const kinds: readonly JsonKind[] = [kindOf(like)]
      return { member: { at: pointer, kinds, section: '4.4' }, pointer, body, like }
    })
}

function membersIn(value: unknown, pointer: string, levels: number): string[] {
  if (levels === 0) return []
  if (Array.isArray(value))
    return isObject(value[0]) ? membersIn(value[0], `${pointer}/0`, levels) : []
  if (!isObject(value)) return []
  const own = Object.keys(value).map(
    (name) => [`${pointer}/${escapeToken(name)}`, value[name]] as const,
  )
  return [
    ...own.map(([at]) => at),
    ...own.flatMap(([at, inner]) => membersIn(inner, at, levels - 1)),
  ]
}

export function arraysAbove({ body, pointer, member }: Placed): string[] {
  if (!member.at.includes('*')) return []
  const tokens = tokensOf(pointer)
  const above = tokens.map((_, index) =>
    tokens
      .slice(0, index)
      .map((token) => `/${escapeToken(token)}`)
      .join(''),
  )
  return above.filter((at) => Array.isArray(getAt(body, at)))
}

function llmFunction(
  run: OfTarget,
  operation: OperationId,
  body: unknown,
): Readonly<Record<string, unknown>> {
  const { body: declared, fields = {} } = run.target.operations[operation] ?? {}
  const tools = getAt(declared, fields['tools'] ?? '/tools')
  const tool = Array.isArray(tools)
    ? (tools as unknown[]).find((one) => memberOf(one, 'type') === 'llm')
    : undefined
  const own = memberOf(tool, 'function')
  if (isObject(own) && typeof own['model'] === 'string')
    return { description: 'Answers questions', ...own }
  return { description: 'Answers questions', model: getAt(body, fields['model'] ?? '/model') }
}

const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=='

/** Provides missing parents: an llm tool, parts of a content, the record's example. */
function examplesFor(run: OfTarget, operation: OperationId, body: unknown): Examples {
  return (member, above) => {
    if (member.at === '/tools')
      return [{ type: 'llm', function: llmFunction(run, operation, body) }]
    if (member.at === '{query_config}') return {}
    if (above === undefined) return getAt(member.example, member.at)
    if (typeof above !== 'string' || !member.at.startsWith('/messages/*/content/*'))
      return undefined
    return member.ofType === 'image_url'
      ? [{ type: 'image_url', image_url: { url: pixel } }]
      : [{ type: 'text', text: above }]
  }
}

export interface Change {
  readonly place: Placed
  /** For example `messages.0.role`, `a number`. */
  readonly name: string
  readonly called: string
  /** Names in the fault matrix; several if one value has several faults. */
  readonly faults: readonly string[]
  /** @param own the value in the valid request; returns undefined to leave it out */
  value(own: unknown): unknown
  readonly sound?: unknown
  /** A weaker change, sent if this one was refused. */
  readonly milder?: Change
}

export function change(
  place: Placed,
  kind: string,
  called: string,
  value: Change['value'],
): Change {
  const { pointer, member } = place
  const name = pointer === '' ? 'the body' : pointer.slice(1).replaceAll('/', '.')
  const fault = pointer === '' ? `body: ${kind}` : `${kind} @ ${member.at}`
  return { place, name, called, faults: [fault], value }
}

export const described = (one: Change): string => `${one.name} is ${one.called}`

export const isOf = (one: Change, kind: string): boolean =>
  one.faults.some((fault) => fault.startsWith(`${kind} @ `))

export const absent = (place: Placed): Change[] =>
  getAt(place.body, place.pointer) === undefined
    ? []
    : [change(place, 'absent', 'left out', () => undefined)]

/** The member with an unknown id, shared by all requirements and so sent once. */
export function unknownIdAt(known: Known, place: Placed): Change {
  const random = () => randomOf(seedFor(known.options.seed, `unknown ${place.member.at}`))
  return change(place, 'unknown', 'unknown', (own) => {
    const id = unknownId(String(place.like ?? own), random(), known.target.ids)
    return typeof own === 'number' ? Number(id) : id
  })
}

export function deletedIdAt(known: Known, place: Placed): Change[] {
  const { deletedFile: id } = known.target.resources
  return id === undefined ? [] : [change(place, 'deleted', 'that of a deleted file', () => id)]
}

export const ofKinds = (
  place: Placed,
  kinds: readonly JsonKind[],
  values: Partial<Record<JsonKind, unknown>> = {},
): Change[] =>
  kinds.map((kind) =>
    change(place, kind, nameOfKind(kind), () =>
      inPlaceOf(place.like, values[kind] ?? sample[kind]),
    ),
  )

/**
 * Falsy values, which `if (!value)` mistakes for an absent member: `false` for members that a server may skip, 0 for
 * members that may be booleans.
 */
function falsyFor({ isExtra, tolerates = [], role }: Member): Partial<Record<JsonKind, unknown>> {
  const mayBeSkipped = isExtra || tolerates.includes('array') || role === 'name'
  return {
    ...(mayBeSkipped ? { boolean: falsy.boolean } : {}),
    ...(tolerates.includes('boolean') ? { number: falsy.number } : {}),
  }
}

/**
 * The member with a value of each excluded type; instead of an array of objects also an object with indices as names.
 */
export function ofOtherTypes(place: Placed): Change[] {
  const { like, member } = place
  const isIndexed = Array.isArray(like) && isObject(like[0])
  const indexed = (): unknown => inPlaceOf(like, byIndex)
  return [
    ...ofKinds(place, otherKinds(member), falsyFor(member)),
    ...(isIndexed ? [change(place, 'object', 'an object of its items', indexed)] : []),
  ]
}

/** The other boolean, and 0: `if (value && ...)` checks only one of them. A server may read 0 as false. */
export function otherFormsOf(place: Placed): Change[] {
  const { member } = place
  const sent: Partial<Record<JsonKind, unknown>> = { ...sample, ...falsyFor(member) }
  return otherKinds(member).flatMap((kind) => {
    const isFalsy = sent[kind] === falsy[kind as keyof typeof falsy]
    if (kind === 'boolean') return [change(place, kind, String(isFalsy), () => isFalsy)]
    const hasZero = kind === 'number' && !isFalsy && !member.kinds.includes('boolean')
    return hasZero ? [change(place, kind, '0', () => falsy.number)] : []
  })
}

const hasName = (item: unknown): boolean =>
  isObject(item) && Object.keys(item).some((name) => /^(?:name|id|.*_id)$/.test(name))

/** Puts the case into a separate item after or before the valid ones: a server may check only one. */
export function inOtherItem(one: Change, array: string, where: 'first' | 'last'): Change[] {
  const { place } = one
  const found: unknown = getAt(place.body, array)
  const [token, ...below] = tokensOf(place.pointer.slice(array.length))
  const faulty: unknown = getAt(changedBody([one]), `${array}/${token}`)
  if (!Array.isArray(found) || (faulty === undefined && below.length === 0)) return []
  const sound = found as unknown[]
  const own = sound[Number(token)]
  const isLast = where === 'last'
  const items = isLast ? [...sound, faulty] : [faulty, ...sound]
  return [
    {
      place: { ...place, pointer: array },
      name: [...tokensOf(array), isLast ? sound.length : 0, ...below].join('.'),
      called: `${one.called} (the ${where} of ${items.length})`,
      faults: isLast ? one.faults.map((fault) => `${fault}, later`) : one.faults,
      value: () => items,
      ...(!hasName(own) && { sound: [...sound, own] }),
    },
  ]
}

/** The request with the additions of a change but without its fault; undefined without additions. */
export function withoutFault(one: Change, body: unknown): unknown {
  const { place, sound } = one
  if (sound === undefined && hasAbove(body, place)) return undefined
  return changedBody([{ ...one, value: (own) => sound ?? own }], body)
}

export const topOf = (place: Placed): string =>
  place.pointer === '' ? '' : `/${place.pointer.split('/', 2)[1]}`

export function hasAbove(body: unknown, place: Placed): boolean {
  if (place.pointer === '') return true
  const above = getAt(body, place.pointer.slice(0, place.pointer.lastIndexOf('/')))
  return typeof above === 'object' && above !== null
}

export function changedBody(changes: readonly Change[], valid?: unknown): unknown {
  const framed = changes.reduce<unknown>((body, one) => {
    const top = topOf(one.place)
    return hasAbove(body, one.place) ? body : setAt(body, top, getAt(one.place.body, top))
  }, valid ?? changes[0]?.place.body)
  return changes.reduce((body, one) => {
    const own = getAt(valid, one.place.pointer) ?? getAt(one.place.body, one.place.pointer)
    return setAt(body, one.place.pointer, one.value(own))
  }, framed)
}

export const caseOf = (one: Change): Case => ({
  what: `with a valid body, but ${described(one)}`,
  fault: one.faults.join(' + ') || undefined,
  change: (valid: Probe): Probe => withJson(valid, changedBody([one], jsonOf(valid))),
})
