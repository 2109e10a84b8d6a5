import { simulations, type Pair } from '../declared/scenarios.ts'
import { rows } from './table.ts'

/** A pair that stands in the spec, or is allowed by it, beside the one that the reference usually answers. */
interface Alternative {
  /** Name of the variant: `<id>=<pair>`. */
  readonly name: string
  /** Requirement id; `@...` names the one kind of its faults that may be answered so, `*` stands for any operation. */
  readonly id: string
  readonly pair: Pair
}

/** By requirement; `*` stands for any operation. */
const pairs = rows<Pair>(`
  */401-invalid-key                              401-BadCredentials
  */400-malformed-json                           400-BadRequest
  */400-wrong-content-type                       400-BadRequest
  */4xx-malformed-body                           422-UnprocessableEntity 400-InvalidContentType 415-UnsupportedMediaType
  */4xx-missing-member                           422-UnprocessableEntity 400-InvalidInputParameters 400-InvalidContentType
  files.upload/4xx-unknown-graph                 404-NotFound 400-BadRequest 403-InsufficientAccessRights 422-UnprocessableEntity
  graphs.add-file,vision.analyze/4xx-unknown-file 404-NotFound 400-BadRequest 403-InsufficientAccessRights 422-UnprocessableEntity
  files.list/429-quota-exceeded                  429-TooManyRequests
  jobs.create,pdf.parse/400-missing-body         400-InvalidInputParameters 400-InvalidContentType
  jobs.create/400-missing-inputs                 400-BadRequest
  jobs.create/400-malformed-inputs               400-InvalidInputParameters
  jobs.retrieve/4xx-unknown-job                  404-NotFound 410-Gone 400-BadRequest 403-InsufficientAccessRights
  jobs.retrieve/4xx-unknown-job                  422-UnprocessableEntity
  jobs.retrieve/4xx-foreign-job                  404-ResourceNotFound 404-NotFound
  jobs.retrieve/4xx-malformed-id                 404-ResourceNotFound 404-NotFound 400-InvalidInputParameters
  jobs.retrieve/4xx-malformed-id                 422-UnprocessableEntity
  pdf.parse/400-missing-format                   400-InvalidInputParameters 400-InvalidContentType
  pdf.parse/400-unsupported-format               400-BadRequest 400-InvalidContentType
  pdf.parse/400-malformed-format                 400-InvalidInputParameters 400-InvalidContentType
  pdf.parse/400-oversized-pdf                    413-BadRequest 413-PayloadTooLarge 413-InvalidInputParameters
  pdf.parse/4xx-unknown-file                     404-NotFound 410-Gone 410-ResourceNotFound 400-BadRequest
  pdf.parse/4xx-unknown-file                     400-InvalidInputParameters 403-InsufficientAccessRights
  completion.create/400-unsupported-model        404-ResourceNotFound 404-NotFound
  completion.create/400-malformed-request@prompt 400-InvalidInputParameters 400-InvalidContentType
  completion.create/400-bad-encoding             400-BadRequest 400-InvalidContentType
  chat.create,graphs.query/400-query-config      400-BadRequest 400-InvalidContentType
  chat.create/400-unsupported-model              404-ResourceNotFound 404-NotFound
  chat.create/400-malformed-response-format      400-InvalidInputParameters 400-InvalidContentType
  files.upload/400-oversized                     413-BadRequest 413-PayloadTooLarge 413-InvalidInputParameters
  files.upload/413-body-too-large                413-PayloadTooLarge 413-InvalidInputParameters
  files.upload/413-body-too-large                400-InvalidInputParameters
  graphs.query/400-too-complex                   413-BadRequest 413-PayloadTooLarge 413-InvalidInputParameters
  ai-detect.run/400-text-too-long                413-BadRequest 413-PayloadTooLarge 413-InvalidInputParameters
  web-search.run/400-query-too-long              413-BadRequest 413-PayloadTooLarge 413-InvalidInputParameters
  medical.comprehend/400-malformed-request       400-InvalidInputParameters 400-InvalidContentType
  translate.run/400-malformed-text               400-BadRequest
  translate.run/400-text-too-long                413-BadRequest 413-PayloadTooLarge 413-InvalidInputParameters
  vision.analyze/400-malformed-request           400-InvalidInputParameters 400-InvalidContentType
  vision.analyze/400-oversized-image             413-BadRequest 413-PayloadTooLarge 413-InvalidInputParameters
  guardrails/400-blocked                         400-BadRequest
  general/410-gone                               410-ResourceNotFound
  general/413-payload-too-large                  413-BadRequest 413-InvalidInputParameters`)

/** The variants that answer another pair: those above, and what scenarios say that conforms as well. */
export const alternatives: readonly Alternative[] = [
  ...pairs,
  ...[...simulations].map(([id, { others }]) => [id, others] as const),
].flatMap(([id, others]) => others.map((pair) => ({ name: `${id}=${pair}`, id, pair })))

/** §7.2, and §7.3 if it adds a name for more than one operation. */
const names: Readonly<Record<string, readonly string[]>> = {
  400: ['BadRequest', 'InvalidInputParameters', 'InvalidContentType'],
  401: ['BadCredentials', 'BadToken', 'Unauthorized'],
  403: ['InsufficientAccessRights', 'Forbidden'],
  404: ['ResourceNotFound', 'NotFound'],
  409: ['Conflict', 'BadRequest'],
  410: ['Gone', 'ResourceNotFound'],
  413: ['PayloadTooLarge', 'BadRequest'],
  422: ['UnprocessableEntity'],
  429: ['TooManyRequests', 'QuotaExceeded', 'CompletionModelQuotaError'],
  500: ['InternalServerError', 'InternalError'],
  503: ['ServiceUnavailable', 'InternalError'],
  507: ['InsufficientStorage', 'QuotaExceeded'],
}

/** The id, and how a row is called that is about the same condition of any operation. */
export function idsOf(id: string): readonly string[] {
  return [id, `*/${id.slice(id.indexOf('/') + 1)}`]
}

function isAccepted(id: string, pair: string): boolean {
  return alternatives.some((other) => idsOf(id).includes(other.id) && other.pair === pair)
}

/** A code name of the same status that requirement `id` does not accept. */
export function otherName(id: string, usual: Pair): Pair {
  const status = usual.slice(0, 3)
  const others = (names[status] ?? []).map((name) => `${status}-${name}` as Pair)
  return (
    others.find((pair) => pair !== usual && !isAccepted(id, pair)) ??
    `${Number(status)}-InternalServerError`
  )
}

/** Whether the requirement accepts every code name of its status, so that none of them breaks it. */
export function allowsAnyName(id: string): boolean {
  if (id.startsWith('general/')) return true
  if (id.includes('/4xx-')) return id !== 'jobs.retrieve/4xx-foreign-job'
  const status = (simulations.get(id)?.usual ?? id.slice(id.indexOf('/') + 1)).slice(0, 3)
  const accepted = alternatives.filter(
    (other) => idsOf(id).includes(other.id) && other.pair.startsWith(status),
  )
  return accepted.length + 1 >= (names[status]?.length ?? Infinity)
}

const statuses: Readonly<Record<string, Pair>> = {
  400: '422-UnprocessableEntity',
  401: '403-InsufficientAccessRights',
  403: '404-ResourceNotFound',
  410: '404-ResourceNotFound',
  413: '422-UnprocessableEntity',
  503: '500-InternalError',
  507: '413-PayloadTooLarge',
}

/** A refusal with another status, by a pair that the spec allows in itself. */
export function otherStatus(id: string, usual: Pair): Pair {
  if (id.endsWith('/403-insufficient-rights')) return '401-BadCredentials'
  if (id === 'jobs.retrieve/4xx-foreign-job') return '400-BadRequest'
  if (id === 'pdf.parse/4xx-unknown-file') return '422-UnprocessableEntity'
  if (id === 'jobs.retrieve/4xx-unknown-job') return '409-Conflict'
  return statuses[usual.slice(0, 3)] ?? '400-BadRequest'
}

/** Whether the requirement accepts more statuses than a `#status` could stay clear of. */
export function allowsAnyStatus(id: string): boolean {
  if (id === 'pdf.parse/4xx-unknown-file') return false
  return /\/(?:model-|4xx-malformed-|4xx-missing-|4xx-unknown-(?:file|graph)$|4xx-removed$)/.test(
    id,
  )
}
