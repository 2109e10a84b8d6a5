import type { Pair } from './switches.ts'

/** Requirements whose scenario repeats a request until it is refused: granted every time, they would not be judged. */
export const neverGranted: ReadonlySet<string> = new Set(['files.list/429-quota-exceeded'])

/** The other name of a status that the spec's row for the operation does not list. */
const names: Readonly<Record<string, string>> = {
  '400 BadRequest': 'InvalidInputParameters',
  '400 InvalidInputParameters': 'BadRequest',
  '400 InvalidContentType': 'BadRequest',
  '400 CompletionModelUnsafeRequestError': 'BadRequest',
  '401 BadCredentials': 'BadToken',
  '401 BadToken': 'BadCredentials',
  '403 InsufficientAccessRights': 'Forbidden',
  '404 ResourceNotFound': 'NotFound',
  '409 BadRequest': 'Conflict',
  '410 ResourceNotFound': 'Gone',
  '429 QuotaExceeded': 'TooManyRequests',
  '429 CompletionModelQuotaError': 'QuotaExceeded',
  '503 InternalError': 'ServiceUnavailable',
  '503 CompletionModelUnavailableError': 'ServiceUnavailable',
  '507 QuotaExceeded': 'InsufficientStorage',
}

/** Another wrong name, for requirements that accept the usual one too. */
const exceptions: Readonly<Record<string, string>> = {
  'jobs.create/400-missing-inputs': 'InvalidContentType',
  'jobs.create/400-malformed-inputs': 'InvalidContentType',
  'translate.run/400-malformed-text': 'InvalidContentType',
  'jobs.retrieve/429-quota-exceeded': 'CompletionModelQuotaError',
  'files.list/429-quota-exceeded': 'CompletionModelQuotaError',
  'medical.comprehend/429-quota-exceeded': 'CompletionModelQuotaError',
  'guardrails/400-blocked': 'InvalidInputParameters',
  '401-invalid-key': 'Unauthorized',
  '400-malformed-json': 'InvalidInputParameters',
  '400-wrong-content-type': 'InvalidInputParameters',
}

/** A code name of the same status row of §7.2 that requirement `id` does not accept. */
export function otherName(id: string, { status, tpe }: Pair): string {
  const exception = exceptions[id] ?? exceptions[id.slice(id.indexOf('/') + 1)]
  return exception ?? names[`${status} ${tpe}`] ?? 'InternalServerError'
}

const statuses: Readonly<Record<number, Pair>> = {
  400: { status: 422, tpe: 'UnprocessableEntity' },
  401: { status: 403, tpe: 'InsufficientAccessRights' },
  403: { status: 404, tpe: 'ResourceNotFound' },
  404: { status: 400, tpe: 'BadRequest' },
  409: { status: 400, tpe: 'BadRequest' },
  410: { status: 404, tpe: 'ResourceNotFound' },
  413: { status: 422, tpe: 'UnprocessableEntity' },
  422: { status: 400, tpe: 'BadRequest' },
  429: { status: 400, tpe: 'BadRequest' },
  500: { status: 400, tpe: 'BadRequest' },
  503: { status: 500, tpe: 'InternalError' },
  507: { status: 413, tpe: 'PayloadTooLarge' },
}

/** A refusal with another status, by a pair that the spec allows in itself. */
export function otherStatus(id: string, { status }: Pair): Pair {
  if (id.endsWith('/403-insufficient-rights')) return { status: 401, tpe: 'BadCredentials' }
  if (id === 'jobs.retrieve/4xx-foreign-job') return { status: 400, tpe: 'BadRequest' }
  if (id === 'pdf.parse/4xx-unknown-file') return { status: 422, tpe: 'UnprocessableEntity' }
  return statuses[status] ?? { status: 400, tpe: 'BadRequest' }
}
