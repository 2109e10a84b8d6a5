import type { OperationId } from './operations.ts'
import { listedTypes } from './errors.ts'

/**
 * A status and its possible `tpe` values; without any, only the status counts. `any`: an error of any status. `4xx`: an
 * envelope with any 4xx except 401 and 429; `4xx-body`: also not 403 or 404; `4xx-id`: 400, 403, 404, 410 or 422.
 * `no-5xx`: neither throttling nor a 5xx, except transient ones: 507, model errors.
 */
export type Pair = readonly [
  status: number | 'any' | '4xx' | '4xx-body' | '4xx-id' | 'no-5xx',
  ...tpe: string[],
]
export type Pairs = readonly Pair[]

type Success = '2xx' | 200 | 202

export type Expected = Success | Pairs

/** 400 with any code name of its row of §7.2: the spec shows what is required, but names no error. */
export const anyBadRequest = [
  [400, 'BadRequest', 'InvalidInputParameters', 'InvalidContentType'],
] as const

/** Over a limit: §7.3 names the parameter, §7.2 the size of the body, and §8 either status for all. */
export const oversized = [
  [400, 'InvalidInputParameters'],
  [413, 'BadRequest', 'PayloadTooLarge', 'InvalidInputParameters'],
] as const

/** An unknown model, if nothing else in the request could be unsupported: also an unknown resource (§7.2). */
export const unknownModel = [404, 'ResourceNotFound', 'NotFound'] as const

interface Answerable {
  readonly expects?: Expected
  readonly expectsByScenario?: Pairs
  readonly alsoListed?: true
}

export function isRefusal(expects: Expected | undefined): expects is Pairs {
  return typeof expects === 'object'
}

export function pairsByScenario(requirement: Answerable, operation: OperationId): Pairs {
  return requirement.expectsByScenario ?? pairsOf(requirement, operation)
}

/** The pairs accepted for a requirement's request; for a general requirement, those of the scenario's operation. */
export function pairsOf(requirement: Answerable, operation: OperationId): Pairs {
  if (!isRefusal(requirement.expects)) throw new Error('nothing is refused')
  if (!requirement.alsoListed) return requirement.expects
  return requirement.expects.map(([status, ...names]) =>
    typeof status === 'number'
      ? [status, ...new Set([...names, ...listedTypes(operation, status)])]
      : [status, ...names],
  )
}
