import type { Operation } from './operation.ts'
import { isOperationId, type OperationId, operations } from './operations.ts'
import { type Need, type Requirement, type RequirementFrom, requirements, type RequirementText } from './requirement.ts'

/** Members that the target file must declare, as JSON Pointers into it. */
export const fullKey = '/keys/full'

function body(operation: OperationId): string {
  return `/operations/${operation}/body`
}

function field(operation: OperationId, role: string): string {
  return `/operations/${operation}/fields/${role}`
}

/** The needs of each operation's granted requirement: a valid request. */
export const validRequest = Object.fromEntries(
  operations.map((one: Operation & { readonly id: OperationId }) => [one.id, needsOf(one)]),
) as unknown as Readonly<Record<OperationId, readonly Need[]>>

function needsOf({ id, body: kind, isWhole, creates, params = {} }: Operation & { readonly id: OperationId }): Need[] {
  const declared = kind === 'json' && !isWhole ? [body(id)] : []
  const name = creates?.name && 'role' in creates.name ? [field(id, creates.name.role)] : []
  const objects = Object.values(params).map(({ declaredAt, needs = [declaredAt] }) =>
    needs.length === 1 ? (needs[0] as string) : needs,
  )
  return [...declared, ...(kind === 'raw' ? [`/operations/${id}/content`] : []), ...name, ...objects]
}

/** The needs of an operation's requirements: its valid request, and a role of its body by name. */
interface OwnNeeds {
  readonly valid: readonly Need[]
  readonly role: (name: string) => string
}

/** The requirements of one operation. */
export function requirementsOf<const A extends OperationId, const T extends readonly RequirementText[]>(
  id: A,
  texts: (own: OwnNeeds) => T,
): RequirementFrom<A, T[number]>[] {
  return requirements(id, texts({ valid: validRequest[id], role: (name) => field(id, name) }))
}

/** The needs that every target meets: a requirement that needs no more than this can be reached. */
const common = ['/keys/full', '/resources/application', '/resources/pdfFile', '/resources/file', '/resources/graph']

function isCommon(need: Need, operation: string): boolean {
  const valid = isOperationId(operation) ? validRequest[operation] : []
  return valid.some((one) => String(one) === String(need)) || [need].flat().some((pointer) => common.includes(pointer))
}

/** True for a requirement that may be declared unreachable: it needs a scenario, another key, another object or a role. */
export function mayBeUnreachable({ needs, operation }: Pick<Requirement, 'needs' | 'operation'>): boolean {
  return needs.some((need) => !isCommon(need, operation))
}
