import { isOperationId, type OperationId } from '../../catalogue/operations.ts'
import { getAt } from '../../schemas/pointer.ts'
import { hookRequestProblems } from './check-hook-requests.ts'
import { tokensOf } from '../../schemas/pointer.ts'
import { headerProblems } from './headers.ts'
import type { OperationValue, TargetFile } from './target-file.ts'

/** What is wrong with the declared requests beyond their form. */
export function operationProblems({ operations = {} }: TargetFile): string[] {
  return Object.entries(operations).flatMap(([id, value]) =>
    isOperationId(id) && typeof value === 'object' ? problemsOf(id, value) : [],
  )
}

function problemsOf(id: OperationId, value: OperationValue): string[] {
  return [
    ...headerProblems(value.headers, 'give the key as keys.full').map(
      ([name, problem]) => `operations.${id}.headers.${name} ${problem}`,
    ),
    ...hookRequestProblems(`operations.${id}.cleanup`, value.cleanup),
    ...Object.entries(value.fields ?? {})
      .filter(([role]) => role !== 'id')
      .flatMap(([role, pointer]) => pointerProblem(`operations.${id}`, role, pointer, value.body)),
  ]
}

/** A role points to a member that is there, or that a probe can add to an object or array that is there. */
function pointerProblem(path: string, role: string, pointer: string, body: unknown): string[] {
  const at = `${path}.fields.${role}`
  if (body === undefined) return [`${at} points into ${path}.body, but there is no body`]
  const parent = pointer.slice(0, pointer.lastIndexOf('/'))
  const holder = getAt(body, parent)
  const last = tokensOf(pointer).at(-1) ?? ''
  if (Array.isArray(holder) && !/^(0|[1-9]\d*)$/.test(last))
    return [`${at} points to ${pointer}, but ${where(parent, path)} is an array`]
  if (Array.isArray(holder) && Number(last) > holder.length)
    return [`${at} points to ${pointer}, past the end of the array`]
  if (typeof holder === 'object' && holder !== null) return []
  return [`${at} points to ${pointer}, but ${where(parent, path)} is ${holder === undefined ? 'absent' : 'no object'}`]
}

function where(parent: string, path: string): string {
  return parent === '' ? `${path}.body` : `${parent} of ${path}.body`
}
