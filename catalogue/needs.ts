import type { Operation } from './operation.ts'
import { isOperationId, type OperationId, operations } from './operations.ts'
import type { Need, Requirement } from './requirement.ts'

/** What the target file must declare, as JSON Pointers into it. */
export const fullKey = '/keys/full'

function body(operation: OperationId): string {
  return `/operations/${operation}/body`
}

export function field(operation: OperationId, role: string): string {
  return `/operations/${operation}/fields/${role}`
}

/** What each operation's granted requirement needs: a valid request. */
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

/** What every target has: a requirement that needs no more than this can be reached. */
const common = ['/keys/full', '/resources/application', '/resources/pdfFile', '/resources/file', '/resources/graph']

function isCommon(need: Need, operation: string): boolean {
  const valid = isOperationId(operation) ? validRequest[operation] : []
  return valid.some((one) => String(one) === String(need)) || [need].flat().some((pointer) => common.includes(pointer))
}

/** True for a requirement that may be declared unreachable: it needs a scenario, another key, another object or a role. */
export function mayBeUnreachable({ needs, operation }: Pick<Requirement, 'needs' | 'operation'>): boolean {
  return needs.some((need) => !isCommon(need, operation))
}
