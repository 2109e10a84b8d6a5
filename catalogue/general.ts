import { type OperationId, operations } from './operations.ts'
import { requirements, scenario } from './requirement.ts'

/** A labelled request to each operation that neither generates nor creates anything. */
const oneOfEachCheap: Readonly<Partial<Record<OperationId, number>>> = Object.fromEntries(
  operations.flatMap(({ id, body, effect }) => (body === 'json' && effect === 'none' ? [[id, 1]] : [])),
)

/** A large request to each operation that takes a body. */
const oneEach: Readonly<Partial<Record<OperationId, number>>> = Object.fromEntries(
  operations.flatMap(({ id, body }) => (body === 'none' ? [] : [[id, 1]])),
)

// oxfmt-ignore
export const envelope = requirements('envelope', [
  { id: 'shape', level: 'must', section: '2.6',
    statement: 'Every error response is a JSON envelope with tpe, errors and extras of the types shown.',
    maxRequests: 0 },
  { id: 'status-tpe-pair', level: 'must', section: '7.2, 7.3, 7.4',
    statement: 'The tpe of every error response is one that its status may carry.',
    maxRequests: 0 },
  { id: 'content-type', level: 'should', section: '4',
    statement: 'Error responses, and the success responses whose body the spec shows, are labelled as JSON.',
    maxRequests: 0 },
  { id: 'message-keys', level: 'should', section: '7.1',
    statement: 'A message key that the spec shows stands with the tpe that it is shown with, or another of the same status.',
    maxRequests: 0 },
  { id: 'unknown-path', level: 'should', section: '7.1', expects: [['4xx'], [401]],
    statement: 'A path under /v1 that the interface does not have is answered by a 4xx with an error envelope.',
    maxRequests: 2 },
  { id: 'unsupported-method', level: 'should', section: '7.1', expects: [['4xx'], [401]],
    statement: 'A method that the interface does not have at a path is answered by a 4xx with an error envelope.',
    maxRequests: 9 },
  { id: 'bad-input-no-5xx', level: 'should', section: '7.2',
    statement: 'Bad input is never answered by a 5xx.',
    maxRequests: 0 },
  { id: 'large-body', level: 'must', section: '7.1, 7.2', expects: [['4xx'], [401]],
    statement: 'A large request is answered: a body with 256 KiB of white space after its JSON by a 4xx in an envelope, an upload of 2 MiB by a 2xx or such a 4xx.',
    maxRequests: 1, alsoSends: oneEach },
  { id: 'charset-parameter', level: 'should', section: '4', expects: '2xx',
    statement: 'A request that is granted as application/json is granted as application/json; charset=utf-8.',
    maxRequests: 1, alsoSends: oneOfEachCheap },
])

// oxfmt-ignore
export const guardrails = requirements('guardrails', [
  { id: '400-blocked', level: 'must', section: '7.1, 7.3', needs: [scenario], expects: [[400, 'GuardrailBlockedError', 'BadRequest']],
    statement: 'Input or output that a guardrail blocks is answered 400 GuardrailBlockedError or BadRequest; a message with key fail.guardrail.blocked names guardrail_name and entity_type.' },
  { id: '400-blocked-by-provider', level: 'must', section: '7.1, 7.3', needs: [scenario], expects: [[400, 'BadRequest']],
    statement: "Content that a provider's guardrail blocks is answered 400 BadRequest; a message with key fail.guardrail.blocked names guardrail_name and entity_type." },
  { id: '401-provider-credentials', level: 'must', section: '5, 7.3', needs: [scenario], expects: [[401, 'BadCredentials']],
    statement: 'Invalid credentials of a guardrail provider are answered 401 BadCredentials.' },
  { id: '403-provider-permissions', level: 'must', section: '7.3', needs: [scenario], expects: [[403, 'InsufficientAccessRights']],
    statement: 'Missing permissions at a guardrail provider are answered 403 InsufficientAccessRights.' },
  { id: '404-unknown-guardrail', level: 'must', section: '7.3', needs: [scenario], expects: [[404, 'ResourceNotFound']],
    statement: 'An invalid guardrail id, version or provider address is answered 404 ResourceNotFound.' },
  { id: '500-provider-error', level: 'must', section: '7.3', needs: [scenario], expects: [[500, 'InternalError']],
    statement: 'A communication error of a guardrail provider is answered 500 InternalError.' },
  { id: '503-provider-down', level: 'must', section: '7.3', needs: [scenario], expects: [[503, 'InternalError']],
    statement: 'While a guardrail provider is down, a request is answered 503 InternalError.' },
])

// oxfmt-ignore
export const general = requirements('general', [
  { id: '409-conflict', level: 'must', section: '7.2', needs: [scenario], expects: [[409, 'Conflict']],
    statement: 'A duplicate resource, version conflict or state conflict is answered 409 with a code name of that status, or a type that the operation lists with it.',
    alsoListed: true },
  { id: '410-gone', level: 'must', section: '7.2', needs: [scenario], expects: [[410, 'Gone']],
    statement: 'A resource that was deleted or has expired is answered 410 with a code name of that status, or a type that the operation lists with it.',
    alsoListed: true },
  { id: '413-payload-too-large', level: 'must', section: '7.2', needs: [scenario], expects: [[413, 'PayloadTooLarge', 'BadRequest', 'InvalidInputParameters']],
    statement: 'A request body over the size limits is answered 413 with a code name of that status, BadRequest or InvalidInputParameters, or a type that the operation lists with it.',
    alsoListed: true },
  { id: '422-unprocessable', level: 'must', section: '7.2', needs: [scenario], expects: [[422, 'UnprocessableEntity']],
    statement: 'A semantically invalid request is answered 422 with a code name of that status, or a type that the operation lists with it.',
    alsoListed: true },
  { id: '500-internal-error', level: 'must', section: '7.2', needs: [scenario], expects: [[500, 'InternalServerError', 'InternalError']],
    statement: 'A processing issue of the server is answered 500 with a code name of that status, or a type that the operation lists with it.',
    alsoListed: true },
  { id: '503-unavailable', level: 'must', section: '7.2', needs: [scenario], expects: [[503, 'ServiceUnavailable']],
    statement: 'Maintenance or high load is answered 503 with a code name of that status, or a type that the operation lists with it.',
    alsoListed: true },
  { id: '507-insufficient-storage', level: 'must', section: '7.2', needs: [scenario], expects: [[507, 'InsufficientStorage']],
    statement: 'An exhausted storage quota is answered 507 with a code name of that status, or a type that the operation lists with it.',
    alsoListed: true },
])
