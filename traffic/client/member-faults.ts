import { type JsonKind, type Member, otherKinds } from '../../catalogue/operation.ts'
import { operation as operationOf, type OperationId } from '../../catalogue/operations.ts'
import { queryConfigMembers } from '../../catalogue/query-config.ts'
import { kindOf } from '../../harness/checks/values.ts'
import { isObject } from '../../schemas/json-object.ts'
import { getAt, pointersAt, tokensOf } from '../../schemas/pointer.ts'

/** What is wrong with a member of a body, or with the body itself (`at` is empty). */
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

/** Every member whose place and shape the spec shows, and whose value is none of those; what it leaves open is nobody's fault. */
export function memberFaults(id: OperationId, body: unknown): MemberFault[] {
  const { members, section } = operationOf(id)
  if (!isObject(body)) return isNoBody(id, body) ? [wrong('', section, body, { kinds: ['object'] })] : []
  // Where the spec names a member but shows no place, nobody can say where it has to stand.
  const placed = members.filter(({ at }) => at.startsWith('/') && !at.includes('{'))
  return [...placed.flatMap((member) => faultsOf(member, body)), ...queryConfigFaults(id, body)]
}

/** Of some operations members are shown, so that it has to be an object; of the others no more is sure than that it is no scalar. */
function isNoBody(id: OperationId, body: unknown): boolean {
  return operationOf(id).request !== undefined || ['string', 'number', 'boolean'].includes(kindOf(body))
}

function wrong(at: string, section: string, value: unknown, expected: Expected): MemberFault {
  const received = value === undefined ? undefined : { kind: kindOf(value), value }
  return { rule: 'member', at, section, received, expected }
}

function faultsOf(member: Member, body: unknown): MemberFault[] {
  const { at, ofType, section } = member
  const [above, name] = [at.slice(0, at.lastIndexOf('/')), at.slice(at.lastIndexOf('/'))]
  // Also where the member is absent from an object that is there.
  const parents = above === '' ? [''] : pointersAt(body, above)
  const places = parents.filter((parent) => isObject(getAt(body, parent))).map((parent) => parent + name)
  return (name === '/*' ? pointersAt(body, at) : places).flatMap((pointer) => {
    if (ofType !== undefined && typeOfItem(body, pointer) !== ofType) return []
    const value = getAt(body, pointer)
    const expected = expectedOf(member, value)
    return expected === undefined ? [] : [wrong(pointer, section, value, expected)]
  })
}

/** What the spec shows in place of that value; undefined if it shows the like of it, or nothing. */
function expectedOf(member: Member, value: unknown): Expected | undefined {
  const { allowed, at, judgedBy, kinds, required } = member
  if (value === undefined) return required ? { kinds } : undefined
  // null may stand for an absent member, but where a row says that it does not.
  if (value === null) return judgedBy?.null === undefined ? undefined : { kinds }
  if (otherKinds(member).some((kind) => kind === kindOf(value))) return { kinds }
  if (allowed && judgedBy?.value !== undefined && !allowed.includes(value as string)) return { values: allowed }
  // §2.8: a web address or a data URL, and not the bytes in base64.
  return at.endsWith('/image_url/url') && !URL.canParse(value as string) ? 'url' : undefined
}

/** The member `type` of the nearest item above. */
function typeOfItem(body: unknown, pointer: string): unknown {
  const above = tokensOf(pointer).map((_, at, tokens) => `/${tokens.slice(0, at).join('/')}`)
  for (const place of above.reverse()) {
    const item = getAt(body, place)
    if (isObject(item) && typeof item['type'] === 'string') return item['type']
  }
  return undefined
}

/** §2.7: wherever in the request of such an operation a configuration stands. */
function queryConfigFaults(id: OperationId, body: unknown): MemberFault[] {
  if (!operationOf(id).members.some(({ at }) => at === '{query_config}')) return []
  return [...named('query_config', body, '')].flatMap(([pointer, config]) => {
    if (config === null) return []
    if (!isObject(config)) return [wrong(pointer, '2.7', config, { kinds: ['object'] })]
    return queryConfigMembers.flatMap(({ inside, kind, name, outside }) => {
      const value = config[name]
      if (value === undefined || value === null) return []
      const at = `${pointer}/${name}`
      const shown = kind === 'boolean' ? 'boolean' : 'number'
      if (kindOf(value) !== shown) return [wrong(at, '2.7', value, { kinds: [shown] })]
      if (outside.length === 0) return []
      const [from, to] = [Math.min(...inside.map(Number)), Math.max(...inside.map(Number))]
      return (value as number) < from || (value as number) > to ? [wrong(at, '2.7', value, { from, to })] : []
    })
  })
}

/** Deeper than this nobody writes a configuration. */
const deepest = 8

function* named(name: string, value: unknown, at: string, depth = 0): Generator<[pointer: string, value: unknown]> {
  if (typeof value !== 'object' || value === null || depth > deepest) return
  for (const [key, below] of Object.entries(value)) {
    const pointer = `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
    if (key === name) yield [pointer, below]
    else yield* named(name, below, pointer, depth + 1)
  }
}
