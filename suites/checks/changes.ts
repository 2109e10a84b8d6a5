import { type Fault, inMember, type Case, withBody } from './case.ts'
import {
  getAt,
  isObject,
  tokensOf,
  hasParent,
  setAt,
  escapeToken,
  member as memberOf,
} from '../../schemas/json.ts'
import { type Basis, type OfTarget, withoutRoles } from './valid-request.ts'
import { randomFor, unknownId } from './random.ts'
import {
  type JsonKind,
  type Member,
  otherKinds,
  type OperationId,
  operationOf,
  placeOf,
} from '../../catalogue/operations.ts'
import { type Probe, withJson, jsonOf } from '../../harness/journal/index.ts'
import fc from 'fast-check'
import { furtherMembers } from '../../catalogue/faults.ts'

export function pointerOf(known: OfTarget, operation: OperationId, role: string) {
  return known.target.operations[operation]?.fields[role]
}

export const valueAt = (
  known: OfTarget,
  operation: OperationId,
  role: string,
  body: unknown,
): unknown => getAt(body, pointerOf(known, operation, role) ?? `/${role}`)

/** The valid body with another value at the role; adds the member if absent, removes it for `undefined`. */
export function atRole(known: OfTarget, probe: Probe, role: string, value: unknown): Probe {
  const pointer = probe.operation === null ? undefined : pointerOf(known, probe.operation, role)
  return withBody(probe, setAt(jsonOf(probe), pointer ?? `/${role}`, value))
}

/** The place of a member in a body, and a body with all its parents. */
export interface Placed {
  /** The record's member, with its valid types; for a member found only in the declared body, from its value. */
  readonly member: Member
  readonly pointer: string
  readonly body: unknown
  readonly like: unknown
}

type PickItem = (items: readonly unknown[], member: Member) => number

const ofItsType: PickItem = (items, { ofType }) =>
  ofType === undefined
    ? 0
    : Math.max(
        0,
        items.findIndex((item) => getAt(item, '/type') === ofType),
      )

/** §2.7. */
export const isSetting = (one: Member): boolean => one.at.startsWith('{query_config}')

/** The members of the operation's record that can be in its body; `pick` chooses among the items of an array. */
export function placesIn(
  known: OfTarget,
  operation: OperationId,
  body: unknown,
  pick = ofItsType,
): Placed[] {
  const { members, settingsWith, extraRoles } = operationOf(operation)
  const fields = known.target.operations[operation]?.fields ?? {}
  /** Provides missing parents: an llm tool, parts of a content, the record's example. */
  const examples = (member: Member, above: unknown): unknown => {
    if (member.at === '/tools')
      return [{ type: 'llm', function: llmFunction(known, operation, body) }]
    if (member.at === '{query_config}') return {}
    if (above === undefined) return getAt(member.example, member.at)
    if (typeof above !== 'string' || !member.at.startsWith('/messages/*/content/*'))
      return undefined
    return member.ofType === 'image_url'
      ? [{ type: 'image_url', image_url: { url: pixel } }]
      : [{ type: 'text', text: above }]
  }
  /** The body with the parents of a member; undefined if it has others, or nobody knows an example of one. */
  const framed = (member: Member, place: string, body: unknown) => {
    let whole = body
    let pointer = ''
    let pattern = ''
    for (const token of tokensOf(place)) {
      let above = getAt(whole, pointer)
      if (pattern !== '' && above === undefined) {
        const isAbove = (one: Member): boolean =>
          one.at === pattern ||
          (one.at === '{query_config}' && place.startsWith(`${pattern}/`) && isSetting(member))
        const parent = members.find(isAbove)
        above = parent && examples(parent, undefined)
        if (above === undefined) return undefined
        whole = setAt(whole, pointer, above)
      }
      if (token === '*' && !Array.isArray(above)) {
        above = examples(member, above)
        if (!Array.isArray(above)) return undefined
        whole = setAt(whole, pointer, above)
      }
      pointer += `/${token === '*' ? pick(above as readonly unknown[], member) : escapeToken(token)}`
      pattern += `/${token}`
      if (!hasParent(whole, pointer)) return undefined
    }
    return { body: whole, pointer }
  }
  const withExtra = (): unknown => {
    const left = extraRoles.filter((role) => !settingsWith?.includes(role))
    return withoutRoles(known, operation, known.target.operations[operation]?.body, left)
  }
  return members.flatMap((member: Member): Placed[] => {
    const place = placeOf(members, member, fields)
    if (place === undefined) return []
    // If a query_config needs more than a plain request, a request with that is used.
    const frame = framed(member, place, settingsWith && isSetting(member) ? withExtra() : body)
    if (!frame) return []
    const own: unknown = getAt(frame.body, frame.pointer)
    const ofItems = own === undefined ? member : { ...member, at: `${member.at}/*` }
    const isToFill = member.kinds.includes('array') && !Array.isArray(own)
    const like = (isToFill ? examples(ofItems, own) : undefined) ?? own ?? member.inside?.[0]
    if (member.kinds.length > 0 || member.isId || own === undefined || own === null)
      return [{ ...frame, member, like }]
    // A parameter has the type of its declared value; for a text or array, a server may accept one or several.
    const kind = kindOf(own)
    const isText = kind === 'string' || kind === 'array'
    const typed = { ...member, kinds: [kind], tolerates: isText ? texts : [] }
    return [{ ...frame, member: typed, like }]
  })
}

const texts = ['string', 'array'] as const

const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=='

function llmFunction(known: OfTarget, operation: OperationId, body: unknown): unknown {
  const declared = known.target.operations[operation]?.body
  const tools = [valueAt(known, operation, 'tools', declared)].flat()
  const own = memberOf(
    tools.find((one) => memberOf(one, 'type') === 'llm'),
    'function',
  )
  const isWhole = isObject(own) && typeof own['model'] === 'string'
  const plain = { model: valueAt(known, operation, 'model', body) }
  return { description: 'Answers questions', ...(isWhole ? own : plain) }
}

const deepest = 3

/** Members that are not shown, also where §2 shows one for items of another type, such as `function` of an llm tool. */
export function undescribedMembers(body: unknown, shown: readonly Placed[]): Placed[] {
  const known = new Set(shown.filter((one) => isOfItsType(one, body)).map((one) => one.pointer))
  return membersIn(body, '', deepest)
    .filter((pointer) => !known.has(pointer))
    .slice(0, furtherMembers)
    .map((pointer): Placed => {
      const like: unknown = getAt(body, pointer)
      return { member: { at: pointer, kinds: [kindOf(like)], section: '4.4' }, pointer, body, like }
    })
}

/** False for a member shown for items of one type, in an item of another. */
export function isOfItsType({ member, pointer }: Placed, body: unknown): boolean {
  if (member.ofType === undefined) return true
  const items = tokensOf(member.at).lastIndexOf('*') + 1
  const item = tokensOf(pointer).slice(0, items)
  return getAt(body, `/${item.join('/')}/type`) === member.ofType
}

function membersIn(value: unknown, pointer: string, levels: number): string[] {
  if (levels === 0) return []
  if (Array.isArray(value))
    return isObject(value[0]) ? membersIn(value[0], `${pointer}/0`, levels) : []
  if (!isObject(value)) return []
  const own = Object.keys(value).map((name) => `${pointer}/${escapeToken(name)}`)
  return [
    ...own,
    ...Object.values(value).flatMap((inner, at) => membersIn(inner, own[at]!, levels - 1)),
  ]
}

/** The arrays that the place is in, the outermost first. */
export function arraysAbove({ body, pointer, member }: Placed): string[] {
  if (!member.at.includes('*')) return []
  return [...pointer.matchAll(/\//g)]
    .map((slash) => pointer.slice(0, slash.index))
    .filter((at) => Array.isArray(getAt(body, at)))
}

export const topOf = (place: Placed): string => place.pointer.split('/', 2).join('/')

export const parentOf = (place: Placed): string =>
  place.pointer.slice(0, place.pointer.lastIndexOf('/'))

export function kindOf(value: unknown): JsonKind {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value as JsonKind
}

/** Another value for a member, in place of the valid one. */
export interface Change {
  readonly place: Placed
  /** For example `messages.0.role`, `a number`. */
  readonly name: string
  readonly called: string
  /** Several if one value has several. */
  readonly faults: readonly Fault[]
  /** @param own the value in the valid request; returns undefined to leave it out */
  value(own: unknown): unknown
  readonly sound?: unknown
  readonly isUnknownId?: boolean | undefined
}

export function change(
  place: Placed,
  kind: string,
  called: string,
  value: Change['value'],
): Change {
  const { pointer, member } = place
  const name = pointer === '' ? 'the body' : pointer.slice(1).replaceAll('/', '.')
  const fault: Fault = pointer === '' ? { part: 'body', kind } : inMember(kind, member.at)
  return { place, name, called, faults: [fault], value }
}

export const isOf = (one: Change, kind: string): boolean =>
  one.faults.some((fault) => fault.part === 'member' && fault.kind === kind)

export const absent = (place: Placed): Change[] =>
  getAt(place.body, place.pointer) === undefined
    ? []
    : [change(place, 'absent', 'left out', () => undefined)]

const ofType = (own: unknown, id: string): unknown => (typeof own === 'number' ? Number(id) : id)

/** The member with an unknown id, shared by all requirements and so sent once. */
export const unknownIdAt = (known: Basis, place: Placed): Change => ({
  ...change(place, 'unknown', 'unknown', (own) => {
    const random = randomFor(known, `unknown ${place.member.at}`)
    return ofType(own, unknownId(String(place.like ?? own), random, known.target.ids))
  }),
  isUnknownId: true,
})

export function deletedIdAt(known: Basis, place: Placed): Change[] {
  const { deletedFile: id } = known.target.resources
  return id === undefined ? [] : [change(place, 'deleted', 'that of a deleted file', () => id)]
}

export const ofKinds = (
  place: Placed,
  kinds: readonly JsonKind[],
  values: Samples = sample,
): Change[] =>
  kinds.map((kind) => {
    const called = kind === 'null' ? kind : `${/^[ao]/.test(kind) ? 'an' : 'a'} ${kind}`
    return change(place, kind, called, () => inPlaceOf(place.like, values[kind]))
  })

/**
 * Falsy values, which `if (!value)` mistakes for an absent member: `false` for members that a server may skip, 0 for
 * members that may be booleans.
 */
function samplesFor({ isExtra, tolerates = [], role }: Member): Samples {
  const mayBeSkipped = isExtra || tolerates.includes('array') || role === 'name'
  return {
    ...sample,
    boolean: !mayBeSkipped,
    number: tolerates.includes('boolean') ? 0 : sample.number,
  }
}

/**
 * The member with a value of each excluded type; instead of an array of objects also an object with indices as names.
 */
export function ofOtherTypes(place: Placed): Change[] {
  const { like, member } = place
  const isIndexed = Array.isArray(like) && isObject(like[0])
  const indexed = (): unknown => ({ ...(like as readonly unknown[]) })
  return [
    ...ofKinds(place, otherKinds(member), samplesFor(member)),
    ...(isIndexed ? [change(place, 'object', 'an object of its items', indexed)] : []),
  ]
}

/** The other boolean, and 0: `if (value && ...)` checks only one of them. A server may read 0 as false. */
export function otherFormsOf(place: Placed): Change[] {
  const { boolean, number } = samplesFor(place.member)
  return otherKinds(place.member).flatMap((kind) => {
    if (kind === 'boolean') return [change(place, kind, String(!boolean), () => !boolean)]
    const hasZero = kind === 'number' && number !== 0 && !place.member.kinds.includes('boolean')
    return hasZero ? [change(place, kind, '0', () => 0)] : []
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
  const sound: readonly unknown[] = found
  const own = sound[Number(token)]
  const isLast = where === 'last'
  const items = isLast ? [...sound, faulty] : [faulty, ...sound]
  return [
    {
      ...one,
      place: { ...place, pointer: array },
      name: [...tokensOf(array), isLast ? sound.length : 0, ...below].join('.'),
      called: `${one.called} (the ${where} of ${items.length})`,
      faults: isLast ? one.faults.map((fault) => ({ ...fault, isLater: true })) : one.faults,
      value: () => items,
      ...(!hasName(own) && { sound: [...sound, own] }),
    },
  ]
}

/** The request with the additions of a change but without its fault; undefined without additions. */
export function withoutFault(one: Change, body: unknown): unknown {
  const { place, sound } = one
  if (sound === undefined && hasParent(body, place.pointer)) return undefined
  return changedBody([{ ...one, value: (own) => sound ?? own }], body)
}

export function changedBody(changes: readonly Change[], valid?: unknown): unknown {
  let body = valid ?? changes[0]?.place.body
  for (const { place } of changes) {
    if (hasParent(body, place.pointer)) continue
    const top = topOf(place)
    body = setAt(body, top, getAt(place.body, top))
  }
  for (const { place, value } of changes) {
    const own = getAt(valid, place.pointer) ?? getAt(place.body, place.pointer)
    body = setAt(body, place.pointer, value(own))
  }
  return body
}

/** @param adapted changes the valid request first */
export const caseOf = (one: Change, adapted = (valid: Probe): Probe => valid): Case => ({
  what: `with a valid body, but ${one.name} is ${one.called}`,
  faults: one.faults,
  isUnknownId: one.isUnknownId,
  change(valid) {
    const whole = adapted(valid)
    return withJson(whole, changedBody([one], jsonOf(whole)))
  },
})

type Samples = Readonly<Record<JsonKind, unknown>>

export const sample: Samples = {
  null: null,
  boolean: true,
  number: 42,
  string: 'text',
  array: ['text'],
  object: { key: 'text' },
}

/**
 * The sample to replace `own`, keeping the member's content as a lenient server would read it: in an array; as an
 * object of an array's items; as an object with a text under common names. One item in place of its array is never
 * used: a server may accept it.
 */
export function inPlaceOf(own: unknown, value: unknown): unknown {
  if (own === undefined || own === null || value !== sample[kindOf(value)]) return value
  if (Array.isArray(own)) {
    const isOfItems = value === sample.object && own.length > 0 && !isObject(own[0])
    return isOfItems ? { ...(own as readonly unknown[]) } : value
  }
  if (typeof own === 'string' && value === sample.object)
    return { text: own, value: own, id: own, name: own }
  return value === sample.array ? [own] : value
}

/** Ranges of standalone characters: Latin, Greek, Cyrillic, Hebrew, Chinese, emoji. */
const scripts = [' ~', '¡ſ', 'ΑΡ', 'Ая', 'את', '一龥', '😀🙏'] as const
const character = fc
  .oneof(
    ...scripts.map((ends) => {
      const [min, max] = [...ends].map((end) => end.codePointAt(0)!)
      return fc.integer({ min, max })
    }),
  )
  .map((code) => String.fromCodePoint(code))

/** Texts of many scripts; fast-check's own graphemes load a table of some MB. */
export const anyText = (maxLength: number): fc.Arbitrary<string> =>
  fc.string({ unit: character, minLength: 1, maxLength })

const word = fc.stringMatching(/^[a-z]{1,12}$/)
const item = fc.oneof(word, fc.integer({ min: 0, max: 99 }))

/** Small values of each kind that shrink in a few steps; never empty. */
const ofKind: Readonly<Record<JsonKind, fc.Arbitrary<unknown>>> = {
  null: fc.constant(null),
  boolean: fc.boolean(),
  number: fc.oneof(
    fc.integer({ min: -1000, max: 1000 }),
    fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e6, max: 1e6 }),
  ),
  string: word,
  array: fc.array(item, { minLength: 1, maxLength: 3 }),
  object: fc.dictionary(word, item, { minKeys: 1, maxKeys: 2 }),
}

export const ofKindsAny = (...kinds: JsonKind[]): fc.Arbitrary<unknown> =>
  fc.oneof(...kinds.map((kind) => ofKind[kind]))
