import {
  type EssentialId,
  type FailingId,
  type JsonOperationId,
  operationOf,
  type OperationId,
  idsWhere,
  missingMember,
} from './operations.ts'
import {
  type RequirementFrom,
  type RequirementText,
  byScenario,
  requirement,
  requirements,
  scenario,
  valid,
  fullKey,
} from './requirement.ts'

const all = idsWhere(() => true)
const withJson = idsWhere((one) => one.body === 'json') as JsonOperationId[]

/** Those without another requirement about a body of another type. */
const withObject = withJson.filter((id) => id !== 'jobs.create')

const withEssential = idsWhere((one) => one.essential !== undefined) as EssentialId[]

const failing = idsWhere((one) =>
  (one.errors ?? []).some(([status, tpe]) => status === 500 && tpe === 'InternalError'),
) as FailingId[]

/** Generated malformed keys go to one operation only: the first of these that is served. */
export const generatedKeysOn = ['jobs.retrieve', 'pdf.parse', 'jobs.create', 'files.list'] as const

function onEach<O extends OperationId, const T extends RequirementText>(
  ids: readonly O[],
  text: T,
  own?: (id: O) => Partial<RequirementText>,
): RequirementFrom<O, T>[] {
  return ids.map(
    (id) => requirement(id, { ...text, ...own?.(id) }) as unknown as RequirementFrom<O, T>,
  )
}

// oxfmt-ignore
export const everyOperation = [
  ...onEach(all, { id: '401-missing-credentials', section: '4, 5, 7.3', needs: [], expects: [[401, 'BadCredentials']],
    refused: 'A request without an Authorization header',
    fault: 'credentials', keyless: true }),
  ...onEach(all, { id: '401-malformed-key', section: '5', needs: [], expects: [[401, 'BadCredentials']],
    refused: 'A request whose key is malformed (no scheme, another scheme, no key, not a JWT)',
    fault: 'credentials', keyless: true }),
  ...onEach(all, { id: '401-invalid-key', section: '5, 7.1', needs: [fullKey], expects: [[401, 'BadCredentials', 'BadToken']],
    refused: 'A request whose key was never issued (cut, lengthened, in another letter case, forged)',
    fault: 'credentials' }),
  ...onEach(all, { id: '401-expired-key', section: '5', needs: ['/keys/expired'], expects: [[401, 'BadToken']],
    refused: 'A request with an expired key', fault: 'credentials' }),
  ...onEach(all, { id: '403-insufficient-rights', section: '5, 7.3', needs: ['/keys/restricted'], expects: [[403, 'InsufficientAccessRights']],
    refused: 'A request with a valid key that lacks the permission',
    fault: 'credentials' }),
  ...onEach(all, { id: '429-quota-exceeded', section: '7.2, 7.3', needs: [scenario], expects: [[429, 'QuotaExceeded']],
    refused: 'A request over a rate limit or quota' }, (id) => operationOf(id).errors ? {} : {
    // §7.3 has no row for it; §7.2 applies.
    expects: [[429, 'QuotaExceeded', 'TooManyRequests']] }),
  ...onEach(withJson, { id: '400-malformed-json', section: '7.2, 7.3', expects: [[400, 'InvalidContentType', 'BadRequest']],
    refused: 'A body that is not JSON' }),
  ...onEach(withJson, { id: '400-wrong-content-type', section: '7.2, 7.3', expects: [[400, 'InvalidContentType', 'BadRequest']],
    refused: 'A body with another content type than JSON' }),
  ...onEach(withObject, { id: '4xx-malformed-body', section: '2.1, 2.8, 7.2, 7.3', expects: [['4xx-body']],
    refused: 'A JSON body of another type than the operation takes' }),
  ...onEach(withEssential, { id: missingMember, level: 'should', section: '7.2', expects: [['4xx-body']] }, (id) => {
    const { role } = operationOf(id).essential!
    return { refused: `A body without ${role}, or an empty body,`, needs: [valid, `{${role}}`] }
  }),
  ...onEach(withJson, { id: 'bad-input-no-5xx', section: '7.2', expects: [['no-5xx']],
    statement: 'A missing, malformed or odd body never causes a 5xx.' }),
  ...onEach(failing, { id: '500-internal-error', needs: [scenario], expects: [[500, 'InternalError']],
    statement: 'An internal processing error returns 500 InternalError.' }),
]

/** One labelled request to each operation that generates nothing. */
const oneOfEachCheap = Object.fromEntries(
  idsWhere((one) => one.body === 'json' && one.effect !== 'generates').map((id) => [id, 1]),
)

/** One large request to each operation with a body. */
const oneEach = Object.fromEntries(idsWhere((one) => one.body !== 'none').map((id) => [id, 1]))

// oxfmt-ignore
export const envelope = requirements('envelope', [
  { id: 'shape', section: '2.6, 7.1',
    statement: 'Every error response is a JSON envelope with tpe, errors and extras of the types shown.' },
  { id: 'status-tpe-pair', section: '7.2, 7.3, 7.4',
    statement: "Every error's tpe is allowed for its status." },
  { id: 'content-type', level: 'should', section: '4',
    statement: 'Error responses, and the success responses whose body the spec shows, are labelled as JSON.' },
  { id: 'message-keys', level: 'should', section: '7.1',
    statement: 'Documented message keys are used only with a matching tpe or status.' },
  { id: 'unknown-path', level: 'should', section: '7.1', expects: [['4xx'], [401]],
    statement: 'An unknown path under /v1, or one with a broken escape, gets a 4xx with an error envelope.' },
  { id: 'unsupported-method', level: 'should', section: '7.1', expects: [['4xx'], [401]],
    statement: 'A method that a path does not have gets a 4xx with an error envelope.' },
  { id: 'bad-input-no-5xx', level: 'should', section: '7.2',
    statement: 'Bad input, odd text and odd queries never cause a 5xx.' },
  { id: 'large-body', section: '7.1, 7.2', expects: [['4xx'], [401]],
    statement: 'A refused request with 256 KiB of white space after its JSON, and an upload of 2 MiB, get a 2xx, or a 4xx with an error envelope.',
    atMost: { requests: 1, also: oneEach } },
  { id: 'charset-parameter', level: 'should', section: '4', expects: '2xx',
    statement: 'A request that is granted as application/json is granted as application/json; charset=utf-8.', atMost: { requests: 0, also: oneOfEachCheap } },
])

// oxfmt-ignore
export const guardrails = requirements('guardrails', [
  { id: '400-blocked', section: '7.1, 7.3', needs: [scenario], expects: [[400, 'GuardrailBlockedError', 'BadRequest']],
    statement: 'Input or output that a guardrail blocks gets 400 GuardrailBlockedError or BadRequest; a message with key fail.guardrail.blocked names guardrail_name and entity_type.' },
  { id: '400-blocked-by-provider', section: '7.1, 7.3', needs: [scenario], expects: [[400, 'BadRequest']],
    statement: "Content that a provider's guardrail blocks gets 400 BadRequest; a message with key fail.guardrail.blocked names guardrail_name and entity_type." },
  { id: '401-provider-credentials', section: '5, 7.3', needs: [scenario], expects: [[401, 'BadCredentials']],
    statement: 'Invalid credentials of a guardrail provider give 401 BadCredentials.' },
  { id: '403-provider-permissions', needs: [scenario], expects: [[403, 'InsufficientAccessRights']],
    statement: 'Missing permissions at a guardrail provider give 403 InsufficientAccessRights.' },
  byScenario('404-unknown-guardrail', [[404, 'ResourceNotFound']], 'An invalid guardrail id, version or provider address'),
  byScenario('500-provider-error', [[500, 'InternalError']], 'A communication error of a guardrail provider'),
  byScenario('503-provider-down', [[503, 'InternalError']], 'While a guardrail provider is down, a request'),
])

/** Answers with that status: a code name of its row of §7.2, or a type that §7.3 lists. */
const ofStatus = <const Id extends string, const Names extends readonly [number, ...string[]]>(
  id: Id,
  what: string,
  pair: Names,
  names = 'a code name of that status,',
) => {
  const statement = `${what} gets ${pair[0]} with ${names} or a type that the operation lists with it.`
  return {
    id,
    section: '7.2',
    needs: [scenario],
    expects: [pair],
    statement,
    alsoListed: true,
  } as const
}

// oxfmt-ignore
export const general = requirements('general', [
  ofStatus('409-conflict', 'A duplicate resource, version conflict or state conflict', [409, 'Conflict']),
  ofStatus('410-gone', 'A resource that was deleted or has expired', [410, 'Gone', 'ResourceNotFound'], 'a code name of that status, ResourceNotFound,'),
  ofStatus('413-payload-too-large', 'A request body over the size limits', [413, 'PayloadTooLarge', 'BadRequest', 'InvalidInputParameters'],
    'a code name of that status, BadRequest or InvalidInputParameters,'),
  ofStatus('422-unprocessable', 'A semantically invalid request', [422, 'UnprocessableEntity']),
  ofStatus('500-internal-error', 'An internal processing error', [500, 'InternalServerError', 'InternalError']),
  ofStatus('503-unavailable', 'Maintenance or high load', [503, 'ServiceUnavailable']),
  ofStatus('507-insufficient-storage', 'An exhausted storage quota', [507, 'InsufficientStorage']),
])
