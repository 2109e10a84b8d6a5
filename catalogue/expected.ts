import type { OperationId } from './operations.ts'
import { listedTypes } from './errors.ts'

/**
 * A status and the `tpe` values that it may have; without any, the status alone decides.
 * `any`: an error of any status. `4xx`: any 4xx but 401 and 429, whose body is an error envelope; `4xx-body`: neither 403
 * nor 404 either; `4xx-id`: one of 400, 403, 404, 410 and 422. `no-5xx`: anything that is neither throttling nor a 5xx, but for those that come and go: 507, model errors.
 */
export type Pair = readonly [
  status: number | 'any' | '4xx' | '4xx-body' | '4xx-id' | 'no-5xx',
  ...tpe: string[],
]
export type Pairs = readonly Pair[]

/** A success: that status, or any 2xx. Its body is not an error envelope. */
type Success = '2xx' | 200 | 202

/** The expected response to a requirement's request: a success, or one of the pairs of a refusal. */
export type Expected = Success | Pairs

/** 400 with any code name of its row of §7.2: the spec shows what is required, and names no error. */
export const anyBadRequest = [
  [400, 'BadRequest', 'InvalidInputParameters', 'InvalidContentType'],
] as const

/** Something over a limit: §7.3 names the parameter, §7.2 the size of the body, and §8 either status for all of them. */
export const oversized = [
  [400, 'InvalidInputParameters'],
  [413, 'BadRequest', 'PayloadTooLarge', 'InvalidInputParameters'],
] as const

/** A model that does not exist, if a request brings nothing else that could be unsupported: also an unknown resource (§7.2). */
export const unknownModel = [404, 'ResourceNotFound', 'NotFound'] as const

interface Answerable {
  readonly expects?: Expected
  readonly expectsByScenario?: Pairs
  readonly alsoListed?: true
}

export function isRefusal(expects: Expected | undefined): expects is Pairs {
  return typeof expects === 'object'
}

/** The pairs that answer a scenario's request. */
export function pairsByScenario(requirement: Answerable, operation: OperationId): Pairs {
  return requirement.expectsByScenario ?? pairsOf(requirement, operation)
}

/** The pairs that answer a requirement's request; of a general requirement, those of the operation that its scenario names. */
export function pairsOf(requirement: Answerable, operation: OperationId): Pairs {
  if (!isRefusal(requirement.expects)) throw new Error('nothing is refused')
  if (!requirement.alsoListed) return requirement.expects
  return requirement.expects.map(([status, ...names]) =>
    typeof status === 'number'
      ? [status, ...new Set([...names, ...listedTypes(operation, status)])]
      : [status, ...names],
  )
}
