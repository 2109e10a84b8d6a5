import { type JsonKind, type Member, otherKinds } from '../../catalogue/operation.ts'
import { operation as operationOf, type OperationId } from '../../catalogue/operations.ts'
import { kindOf } from '../../harness/checks/index.ts'
import { escapeToken, getAt, isObject, pointersAt, tokensOf } from '../../schemas/json.ts'

/** A fault of a member of a body, or of the body itself (`at` is empty). */
export interface MemberFault {
  readonly rule: 'member'
  /** JSON Pointer into the body. */
  readonly at: string
  readonly section: string
  /** Undefined: the member is absent. */
  readonly received: { readonly kind: JsonKind; readonly value: unknown } | undefined
  readonly expected: Expected
}

export type Expected =
  | { readonly kinds: readonly JsonKind[] }
  | { readonly values: readonly string[] }
  | { readonly from: number; readonly to: number }
  | 'url'

/** Every member whose shape the spec shows, and whose value is none of that; what it leaves open is nobody's fault. */
export function memberFaults(id: OperationId, body: unknown): MemberFault[] {
  const { members, request, section } = operationOf(id)
  if (!isObject(body)) {
    // Without members that the spec shows no more is sure than that it is no scalar.
    const isNoBody = request !== undefined || ['string', 'number', 'boolean'].includes(kindOf(body))
    return isNoBody ? [wrong('', section, body, { kinds: ['object'] })] : []
  }
  const configs = configsIn(body)
  return members.flatMap((member) => {
    const { at } = member
    if (at.startsWith('/')) return faultsAt(at, member, body)
    // The spec shows no place for the others, and only a configuration is known by its name (§2.7).
    const below = at.startsWith(config) ? at.slice(config.length) : undefined
    return below === undefined
      ? []
      : configs.flatMap((place) => faultsAt(place + below, member, body))
  })
}

const config = '{query_config}'

function wrong(at: string, section: string, value: unknown, expected: Expected): MemberFault {
  const received = value === undefined ? undefined : { kind: kindOf(value), value }
  return { rule: 'member', at, section, received, expected }
}

/** @param pattern where the member stands, `*` for each item */
function faultsAt(pattern: string, member: Member, body: unknown): MemberFault[] {
  const { ofType, section } = member
  const [above, name] = [
    pattern.slice(0, pattern.lastIndexOf('/')),
    pattern.slice(pattern.lastIndexOf('/')),
  ]
  // Also where the member is absent from an object that is there.
  const parents = above === '' ? [''] : pointersAt(body, above)
  const places = parents
    .filter((parent) => isObject(getAt(body, parent)))
    .map((parent) => parent + name)
  return (name === '/*' ? pointersAt(body, pattern) : places).flatMap((pointer) => {
    if (ofType !== undefined && typeOfItem(body, pointer) !== ofType) return []
    const value = getAt(body, pointer)
    const expected = expectedOf(member, value)
    return expected === undefined ? [] : [wrong(pointer, section, value, expected)]
  })
}

/** Finds what the spec shows in place of that value; undefined if it shows the like of it, or nothing. */
function expectedOf(member: Member, value: unknown): Expected | undefined {
  const { allowed, at, inside = [], judgedBy, kinds, outside = [], required } = member
  if (value === undefined) return required ? { kinds } : undefined
  // null may stand for an absent member, but where a requirement says that it does not.
  if (value === null) return judgedBy?.null === undefined ? undefined : { kinds }
  // That a server may make a text of `["x"]`, or `true` of 1, is nothing to count on.
  const others = otherKinds({ ...member, tolerates: [] })
  if (others.includes(kindOf(value))) return { kinds }
  if (allowed && judgedBy?.value !== undefined && !allowed.includes(value as string))
    return { values: allowed }
  if (outside.length > 0) {
    const [from, to] = [Math.min(...inside.map(Number)), Math.max(...inside.map(Number))]
    return (value as number) < from || (value as number) > to ? { from, to } : undefined
  }
  // §2.8: a web address or a data URL, and not the bytes in base64.
  return at.endsWith('/image_url/url') && !URL.canParse(value as string) ? 'url' : undefined
}

function typeOfItem(body: unknown, pointer: string): unknown {
  const above = tokensOf(pointer).map((_, at, tokens) => `/${tokens.slice(0, at).join('/')}`)
  for (const place of above.reverse()) {
    const item = getAt(body, place)
    if (isObject(item) && typeof item['type'] === 'string') return item['type']
  }
  return undefined
}

/** The pointers of all query configurations: the spec shows no place for them, and only their name tells them (§2.7). */
export function configsIn(body: unknown): string[] {
  return [...named('query_config', body, '')]
}

/** Deeper than this nobody writes a configuration. */
const deepest = 8

function* named(name: string, value: unknown, at: string, depth = 0): Generator<string> {
  if (typeof value !== 'object' || value === null || depth > deepest) return
  for (const [key, below] of Object.entries(value)) {
    const pointer = `${at}/${escapeToken(key)}`
    if (key === name) yield pointer
    else yield* named(name, below, pointer, depth + 1)
  }
}
