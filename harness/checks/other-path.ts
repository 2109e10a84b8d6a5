import { operation as operationOf, type OperationId } from '../../catalogue/operations.ts'
import type { Target } from '../target-file/index.ts'
import { isGranted, oncePerRun, type Probe, type Run } from '../engine/index.ts'
import { ask } from '../engine/index.ts'
import { validRequest } from './valid-request.ts'
import { type Known, randomOf, seedFor } from './values.ts'

/** The path that §4.4 names for the operation beside the one that requests are sent to; undefined if there is none. */
export function otherPathOf(
  { operations }: Pick<Target, 'operations'>,
  id: OperationId,
): string | undefined {
  const { path, otherPaths } = operationOf(id)
  const own = operations[id]?.path ?? path
  return otherPaths.length === 0 ? undefined : [path, ...otherPaths].find((one) => one !== own)
}

export function isAtOtherPath(
  { target }: Pick<Run, 'target'>,
  { operation, path }: Probe,
): boolean {
  return operation !== null && otherPathOf(target, operation) === path
}

/** Whether the valid request is granted at the other path: then it is the same operation there. Asked once a run. */
export function grantsAtOtherPath(run: Run, id: OperationId): Promise<boolean> {
  const path = otherPathOf(run.target, id)
  if (path === undefined || run.options.readOnly) return Promise.resolve(false)
  return oncePerRun(run, `other path of ${id}`, async () => {
    const make = async (): Promise<Probe> => ({ ...(await validRequest(run, id)), path })
    const purpose = { requirement: null, role: 'control', skipJudging: 'at all' } as const
    const { response } = await ask(run, make, purpose)
    return response !== undefined && isGranted(response)
  })
}

/** A value of another type, or none: a server may look at the types there and at nothing else. */
const isOfType = ({ fault = '' }: { readonly fault?: string | undefined }): boolean =>
  /^(?:absent|null|boolean|number|string|array|object) @ /.test(fault)

/**
 * Cases to go to the other path as well, drawn by the seed: one about a type, and one about a value, as far as there are such. None
 * in a quick run.
 */
export function drawnForOtherPath<T extends { readonly fault?: string | undefined }>(
  { target, options }: Known,
  { id, operation }: { readonly id: string; readonly operation: OperationId },
  cases: readonly T[],
): readonly { readonly one: T; readonly path: string }[] {
  const path = otherPathOf(target, operation)
  if (path === undefined || options.depth === 'quick') return []
  const random = randomOf(seedFor(options.seed, `other path of ${id}`))
  const groups = [cases.filter(isOfType), cases.filter((one) => !isOfType(one))]
  return groups
    .flatMap((group) => group[Math.floor(random() * group.length)] ?? [])
    .map((one) => ({ one, path }))
}
