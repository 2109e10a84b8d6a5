import { type OperationId, operation as operationOf } from '../../catalogue/operations.ts'
import { type Member, roleOf } from '../../catalogue/operation.ts'
import type { OperationValue } from './model.ts'

/** The member of the body that has that role; undefined if the operation has no such role. */
export function memberOf(id: OperationId, role: string): Member | undefined {
  return operationOf(id).members.find((member) => roleOf(member) === role)
}

/** The roles that `fields` may have for an operation: members of the body, and the id in the response. */
export function rolesOf(id: OperationId): string[] {
  const { members, creates } = operationOf(id)
  const roles = members.map(roleOf).filter((role) => role !== undefined)
  return creates?.idMayMove ? [...roles, 'id'] : roles
}

/** The pointer of a role that need not be declared; undefined if it must. */
export function defaultPointer(id: OperationId, role: string): string | undefined {
  const { creates } = operationOf(id)
  if (role === 'id') return creates?.idMayMove ? creates.idAt : undefined
  const at = memberOf(id, role)?.at
  return at?.startsWith('/') ? at : undefined
}

/** True for a member without which no body would be granted: the text that the operation works on, or the file that it takes. */
export function isNeeded(id: OperationId, role: string): boolean {
  const isText = memberOf(id, role)?.tolerates?.includes('array') ?? false
  return isText || operationOf(id).freshFileAt === role
}

/** All roles that have a pointer: declared, or by default. */
export function fieldsOf(id: OperationId, value: OperationValue): Record<string, string> {
  const pointers = rolesOf(id).map(
    (role) => [role, value.fields?.[role] ?? defaultPointer(id, role)] as const,
  )
  return Object.fromEntries(
    pointers.filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}
