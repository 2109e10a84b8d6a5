import { type ErrorTable, operationOf, type OperationId } from './operations.ts'

/** §7.2 */
export const codeNames: Readonly<Partial<Record<number, readonly string[]>>> = {
  400: ['BadRequest', 'InvalidInputParameters', 'InvalidContentType'],
  401: ['Unauthorized', 'BadCredentials', 'BadToken'],
  403: ['Forbidden', 'InsufficientAccessRights'],
  404: ['NotFound', 'ResourceNotFound'],
  409: ['Conflict'],
  410: ['Gone'],
  413: ['PayloadTooLarge'],
  422: ['UnprocessableEntity'],
  429: ['TooManyRequests', 'QuotaExceeded', 'CompletionModelQuotaError'],
  500: ['InternalServerError', 'InternalError'],
  503: ['ServiceUnavailable'],
  507: ['InsufficientStorage'],
}

/** §7.4: errors of the model behind an operation, with any status. */
export const modelErrors = [
  'CompletionModelUnavailableError',
  'CompletionModelInternalError',
  'CompletionModelQuotaError',
  'CompletionModelUnauthorizedError',
  'CompletionModelUnderlyingRequestError',
  'CompletionModelUnsafeRequestError',
  'CompletionModelNoPredictionError',
] as const

/** §7.3, lead sentence: every operation. */
const everyOperation: ErrorTable = [
  [401, 'BadCredentials', 'BadToken'],
  [403, 'InsufficientAccessRights'],
  [429, 'QuotaExceeded'],
]

/** §7.3, last row: guardrails, on any operation. */
const guardrails: ErrorTable = [
  [400, 'GuardrailBlockedError', 'BadRequest'],
  [401, 'BadCredentials'],
  [403, 'InsufficientAccessRights'],
  [404, 'ResourceNotFound'],
  [500, 'InternalError'],
  [503, 'InternalError'],
]

/** §7.2: the statuses of category Validation. */
const validation = [400, 404, 409, 410, 413, 422]

/** Statuses that match the meaning of a key, besides that of its documented type. */
const ofKind: readonly (readonly [beginning: string, statuses: readonly number[]])[] = [
  ['fail.badRequest.', validation],
  ['fail.guardrail.', validation],
  ['fail.notFound.', [404, 410]],
  ['fail.tooManyRequests.', [429, 507]],
  ['fail.model.quotaExceeded', [429, 507]],
]

/** §7.1: the documented message keys, and the status of the type that each is shown with. */
const messageKeys: Readonly<Record<string, number>> = {
  'fail.unauthorized.badToken': 401,
  'fail.forbidden.insufficientAccessRights': 403,
  'fail.badRequest.invalidParameters': 400,
  'fail.notFound.resource': 404,
  'fail.tooManyRequests.quotaExceeded': 429,
  'fail.internalServerError.generic': 500,
  'fail.serviceUnavailable.temporary': 503,
  'fail.model.quotaExceeded': 429,
  'fail.guardrail.blocked': 400,
}

/** The types that §7.3 gives for the operation and status: its own row, the guardrails' and the lead sentence. */
export function listedTypes(operation: OperationId | null, status: number): readonly string[] {
  const own = operation === null ? [] : (operationOf(operation).errors ?? [])
  return [...own, ...guardrails, ...everyOperation].flatMap(([of, ...names]) =>
    of === status ? names : [],
  )
}

export function isModelError(tpe: string | undefined): boolean {
  return tpe !== undefined && (modelErrors as readonly string[]).includes(tpe)
}

/**
 * Whether a status may carry that `tpe` (§7.2, §7.3, §7.4). A status without a row of §7.2 may carry any. `null`: not an
 * operation of the interface.
 */
export function mayCarry(operation: OperationId | null, status: number, tpe: string): boolean {
  const own = codeNames[status]
  if (own === undefined) return true
  return own.includes(tpe) || isModelError(tpe) || listedTypes(operation, status).includes(tpe)
}

/**
 * Whether a message key of §7.1 fits: its documented type is allowed for the status, or the status matches its meaning.
 * A status without a row of §7.2 may have any key. Undefined for a key that §7.1 does not show.
 */
export function keyFits(
  key: string,
  operation: OperationId | null,
  options: { readonly status: number; readonly tpe: string },
): boolean | undefined {
  const own = Object.hasOwn(messageKeys, key) ? messageKeys[key] : undefined
  if (own === undefined) return undefined
  const isOfKind = ofKind.some(
    ([beginning, statuses]) => key.startsWith(beginning) && statuses.includes(options.status),
  )
  return (
    isOfKind || codeNames[options.status] === undefined || mayCarry(operation, own, options.tpe)
  )
}

/** §7.1, §7.3. */
export const guardrail = { tpe: 'GuardrailBlockedError', key: 'fail.guardrail.blocked' } as const

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

type Success = '2xx' | 200 | 201 | 202 | 204

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
  readonly alsoListed?: true
}

export function isRefusal(expects: Expected | undefined): expects is Pairs {
  return typeof expects === 'object'
}

/** Whether one of the pairs has one of these statuses. */
export function haveStatus(pairs: Pairs = [], ...statuses: readonly Pair[0][]): boolean {
  return pairs.some((pair) => statuses.includes(pair[0]))
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
