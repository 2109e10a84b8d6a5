import { type JsonKind, type Member, otherKinds, placeOf } from '../../catalogue/operation.ts'
import { furtherMembers } from '../../catalogue/faults.ts'
import { operation, type OperationId } from '../../catalogue/operations.ts'
import { escapeToken, getAt, isObject, member as memberOf, setAt, tokensOf } from '../../schemas/json.ts'
import { byIndex, falsy, inPlaceOf, kindOf, nameOfKind, sample } from './values.ts'
import type { Run } from '../engine/index.ts'

/** A place in a body where a member stands, or would stand, and a body that has all that is above it. */
export interface Placed {
  /** The member as the record of the operation has it; of one that the declared body alone has, its pointer. */
  readonly at: string
  readonly pointer: string
  readonly body: unknown
  /** The types that are right there; none: nobody knows. */
  readonly kinds: readonly JsonKind[]
  readonly member?: Member
  /** Value at that place; an array, if one may stand there and the body has none. */
  readonly like: unknown
}

/** Single fault of a member, or of a later item of the array that it stands in. */
export interface MemberCase {
  readonly what: string
  /** Name in the fault matrix. */
  readonly fault: string
  readonly body: unknown
  /** Array in which an item stood that is left out. */
  readonly array?: string
}

/** Gives what is put where a body lacks what is above a member. */
type Examples = (member: Member, above: unknown) => unknown

/** The member in a body; undefined if something above it is neither in the body nor among the examples. */
function placed(
  id: OperationId,
  member: Member,
  place: string,
  { body, examples }: { readonly body: unknown; readonly examples: Examples },
): Placed | undefined {
  const { members } = operation(id)
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
    pointer += `/${token === '*' ? itemOf(member, getAt(framed, pointer)) : escapeToken(token)}`
    pattern += `/${token}`
    if (index === tokens.length - 1 || getAt(framed, pointer) !== undefined) continue
    const example = members.find(
      (one) =>
        one.at === pattern ||
        (one.at === '{query_config}' && place.startsWith(`${pattern}/`) && member.at.startsWith(one.at)),
    )
    const made = example && examples(example, undefined)
    if (made === undefined) return undefined
    framed = setAt(framed, pointer, made)
  }
  const own: unknown = getAt(framed, pointer)
  const ofItems = own === undefined ? member : { ...member, at: `${member.at}/*` }
  const like = (member.kinds.includes('array') && !Array.isArray(own) ? examples(ofItems, own) : undefined) ?? own
  return { at: member.at, pointer, body: framed, kinds: member.kinds, member, like }
}

/** The item that a member of one type belongs to; the first, if there is none. */
function itemOf({ ofType }: Member, items: unknown): number {
  const found = Array.isArray(items) ? items.findIndex((item) => getAt(item, '/type') === ofType) : 0
  return ofType === undefined ? 0 : Math.max(0, found)
}

/** Every member that the record of the operation shows, where the target file has it. */
export function shownMembers(
  id: OperationId,
  body: unknown,
  fields: Readonly<Record<string, string>>,
  examples: Examples,
): Placed[] {
  const { members } = operation(id)
  return members.flatMap((member) => {
    const place = placeOf(members, member, fields)
    return place === undefined ? [] : (placed(id, member, place, { body, examples }) ?? [])
  })
}

const deepest = 3

/** The members of a declared body that no record shows. */
export function undescribedMembers(body: unknown, shown: readonly Placed[]): Placed[] {
  const known = new Set(shown.map(({ pointer }) => pointer))
  return membersIn(body, '', deepest)
    .filter((pointer) => !known.has(pointer))
    .slice(0, furtherMembers)
    .map((pointer): Placed => {
      const like: unknown = getAt(body, pointer)
      return { at: pointer, pointer, body, kinds: [kindOf(like)], like }
    })
}

function membersIn(value: unknown, pointer: string, levels: number): string[] {
  if (levels === 0) return []
  if (Array.isArray(value)) return isObject(value[0]) ? membersIn(value[0], `${pointer}/0`, levels) : []
  if (!isObject(value)) return []
  const own = Object.keys(value).map((name) => [`${pointer}/${escapeToken(name)}`, value[name]] as const)
  return [...own.map(([at]) => at), ...own.flatMap(([at, inner]) => membersIn(inner, at, levels - 1))]
}

export const nameOf = ({ pointer }: Placed): string => pointer.slice(1).replaceAll('/', '.')

export function absent(place: Placed): MemberCase[] {
  if (getAt(place.body, place.pointer) === undefined) return []
  const body = setAt(place.body, place.pointer, undefined)
  const above = place.pointer.slice(0, place.pointer.lastIndexOf('/'))
  const array = Array.isArray(getAt(place.body, above)) ? { array: above } : {}
  return [
    { what: `with a valid body, but ${nameOf(place)} is left out`, fault: `absent @ ${place.at}`, body, ...array },
  ]
}

export function having(place: Placed, value: unknown, called: string, kind: string): MemberCase {
  const body = setAt(place.body, place.pointer, value)
  return { what: `with a valid body, but ${nameOf(place)} is ${called}`, fault: `${kind} @ ${place.at}`, body }
}

/** The member with a value of each of these types. */
export function faultsOfKinds(place: Placed, kinds: readonly JsonKind[]): MemberCase[] {
  const isExtra = place.member?.isExtra === true
  const valueOf = (kind: JsonKind): unknown => (isExtra && kind === 'boolean' ? falsy.boolean : sample[kind])
  return kinds.map((kind) => having(place, inPlaceOf(place.like, valueOf(kind)), nameOfKind(kind), kind))
}

/** The member with a value of each type that its record excludes; in place of an array of objects also an object of them by their indices. */
export function faultsOfType(place: Placed): MemberCase[] {
  const { like, member } = place
  const isIndexed = Array.isArray(like) && isObject(like[0])
  return [
    ...faultsOfKinds(place, member ? otherKinds(member) : []),
    ...(isIndexed ? [having(place, inPlaceOf(like, byIndex), 'an object of its items', 'object')] : []),
  ]
}

/** The case in an item of its own, after those of an array that are sound or before them: a server may look at one of them alone. */
export function inOtherItem(place: Placed, one: MemberCase, array: string, where: 'first' | 'last'): MemberCase[] {
  const sound: unknown = getAt(place.body, array)
  const [token] = tokensOf(place.pointer.slice(array.length))
  const faulty: unknown = getAt(one.body, `${array}/${token}`)
  if (!Array.isArray(sound) || token === undefined) return []
  const whole = tokensOf(place.pointer).length === tokensOf(array).length + 1
  if (faulty === undefined && whole) return []
  const items = where === 'last' ? [...(sound as unknown[]), faulty] : [faulty, ...(sound as unknown[])]
  return [
    {
      what: `${one.what} (in the ${where} of ${items.length})`,
      fault: where === 'last' ? `${one.fault}, later` : one.fault,
      body: setAt(place.body, array, items),
    },
  ]
}

/** The arrays in which a place stands, the innermost last. */
export function arraysAbove({ body, pointer }: Placed): string[] {
  const tokens = tokensOf(pointer)
  const above = tokens.map((_, index) =>
    tokens
      .slice(0, index)
      .map((token) => `/${escapeToken(token)}`)
      .join(''),
  )
  return above.filter((at) => Array.isArray(getAt(body, at)))
}

/** The function of the declared llm tool, if there is one; else one that delegates to the model of the body. */
function llmFunction(run: Run, operation: OperationId, body: unknown): Readonly<Record<string, unknown>> {
  const { body: declared, fields = {} } = run.target.operations[operation] ?? {}
  const tools = getAt(declared, fields['tools'] ?? '/tools')
  const tool = Array.isArray(tools) ? (tools as unknown[]).find((one) => memberOf(one, 'type') === 'llm') : undefined
  const own = memberOf(tool, 'function')
  if (isObject(own) && typeof own['model'] === 'string') return { description: 'Answers questions', ...own }
  return { description: 'Answers questions', model: getAt(body, fields['model'] ?? '/model') }
}

const pixel =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=='

/** Gives what stands where a body lacks something that is above a member of the record: an llm tool, parts of a content, the record's example. */
export function examplesFor(run: Run, operation: OperationId, body: unknown): Examples {
  return (member, above) => {
    if (member.at === '/tools') return [{ type: 'llm', function: llmFunction(run, operation, body) }]
    if (member.at === '{query_config}') return {}
    if (above === undefined) return getAt(member.example, member.at)
    if (typeof above !== 'string' || !member.at.startsWith('/messages/*/content/*')) return undefined
    return member.ofType === 'image_url'
      ? [{ type: 'image_url', image_url: { url: pixel } }]
      : [{ type: 'text', text: above }]
  }
}
