import { operation as operationOf, type OperationId } from '../../catalogue/operations.ts'
import type { Target } from '../target-file/index.ts'
import { isGranted, oncePerRun, type Probe, type Run } from '../engine/index.ts'
import { sendThroughGate } from '../engine/index.ts'
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
    const { response } = await sendThroughGate(run, make, purpose)
    return response !== undefined && isGranted(response)
  })
}

/** One of the cases, drawn by the seed, to go to the other path as well; undefined if there is none, and in a quick run. */
export function drawnForOtherPath<T>(
  { target, options }: Known,
  { id, operation }: { readonly id: string; readonly operation: OperationId },
  cases: readonly T[],
): { readonly one: T; readonly path: string } | undefined {
  const path = otherPathOf(target, operation)
  if (path === undefined || options.depth === 'quick') return undefined
  const at = Math.floor(randomOf(seedFor(options.seed, `other path of ${id}`))() * cases.length)
  const one = cases[at]
  return one && { one, path }
}
