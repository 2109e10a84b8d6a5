import { type JsonOperationId, type OperationId, operations } from '../operations.ts'
import { fullKey, validRequest } from './needs.ts'
import { must, staged } from './row.ts'

const ids: readonly OperationId[] = operations.map(({ id }) => id)
const jsonIds = operations.filter(({ body }) => body === 'json').map(({ id }) => id) as JsonOperationId[]

/** Operations that list InternalError 500 in §7.3; PDF parsing under its row of the error reference. */
export const failing = [
  'jobs.create',
  'pdf.parse',
  'files.upload',
  'graphs.create',
  'graphs.query',
  'applications.create',
  'ai-detect.run',
  'web-search.run',
  'translate.run',
  'vision.analyze',
] as const satisfies readonly OperationId[]

const throttled = (id: OperationId): string =>
  ['jobs.retrieve', 'files.list', 'medical.comprehend'].includes(id)
    ? 'QuotaExceeded or TooManyRequests'
    : 'QuotaExceeded'

// prettier-ignore
export const everyOperation = [
  ...ids.map((id) => must(`${id}/401-missing-credentials`, '5, 7.3', 'A request without an Authorization header is answered 401 BadCredentials.')),
  ...ids.map((id) => must(`${id}/401-malformed-key`, '5', 'A request whose key is malformed (no scheme, another scheme, no key, no JWT) is answered 401 BadCredentials.')),
  ...ids.map((id) => must(`${id}/401-invalid-key`, '5, 7.1', 'A request whose key was never issued (cut, lengthened, in another letter case, with another signature) is answered 401 BadCredentials or BadToken.', [fullKey])),
  ...ids.map((id) => must(`${id}/401-expired-key`, '5', 'A request with an expired key is answered 401 BadToken.', ['/keys/expired'])),
  ...ids.map((id) => must(`${id}/403-insufficient-rights`, '5, 7.3', 'A request with a valid key that lacks the permission is answered 403 InsufficientAccessRights.', ['/keys/restricted'])),
  ...ids.map((id) => staged(`${id}/429-quota-exceeded`, '7.2, 7.3', `A request over a rate limit or quota is answered 429 ${throttled(id)}.`)),
  ...jsonIds.map((id) => must(`${id}/400-malformed-json`, '7.2, 7.3', 'A body that is not JSON is answered 400 InvalidContentType or BadRequest.', validRequest[id])),
  ...jsonIds.map((id) => must(`${id}/400-wrong-content-type`, '7.2, 7.3', 'A body that is labelled as something other than JSON is answered 400 InvalidContentType or BadRequest.', validRequest[id])),
  ...failing.map((id) => staged(`${id}/500-internal-error`, '7.3', 'A processing error of the server is answered 500 InternalError.')),
]
