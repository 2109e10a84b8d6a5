import { type OfTarget, extraRoles, withoutRoles, bodyOf } from './valid-request.ts'
import {
  type OperationId,
  type Member,
  operation as operationOf,
  placeOf,
  type JsonKind,
} from '../../catalogue/operations.ts'
import {
  getAt,
  setAt,
  tokensOf,
  escapeToken,
  hasParent,
  member as memberOf,
  isObject,
} from '../../schemas/json.ts'
import { type Probe, jsonOf } from '../../harness/journal/index.ts'
import { withBody } from './case.ts'
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

export type PickItem = (items: readonly unknown[], member: Member) => number

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
  const { members, settingsWith } = operationOf(operation)
  const fields = known.target.operations[operation]?.fields ?? {}
  const examples = examplesFor(known, operation, body)
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
    const left = extraRoles(operation).filter((role) => !settingsWith?.includes(role))
    return withoutRoles(known, operation, bodyOf(known, operation), left)
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

/** Provides missing parents: an llm tool, parts of a content, the record's example. */
function examplesFor(known: OfTarget, operation: OperationId, body: unknown) {
  return (member: Member, above: unknown): unknown => {
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
}

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

export function undescribedMembers(body: unknown, shown: readonly Placed[]): Placed[] {
  const known = new Set(shown.map((one) => one.pointer))
  return membersIn(body, '', deepest)
    .filter((pointer) => !known.has(pointer))
    .slice(0, furtherMembers)
    .map((pointer): Placed => {
      const like: unknown = getAt(body, pointer)
      return { member: { at: pointer, kinds: [kindOf(like)], section: '4.4' }, pointer, body, like }
    })
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
