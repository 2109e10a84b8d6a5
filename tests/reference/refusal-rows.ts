import { play, routes, send, target, type Change, type Reply } from './client.ts'

/** A requirement on a refusal: the change that brings it about, and the pairs `status tpe` that it accepts. */
type Row = readonly [id: string, change: Change | 'scenario', ...pairs: string[]]

const { keys, resources } = target
const unknown = '11111111-2222-4333-8444-555555555555'
const full = keys.full

const names = ['400 BadRequest', '400 InvalidInputParameters', '400 InvalidContentType']
const bad = '400 BadRequest'
const invalid = '400 InvalidInputParameters'
const content = '400 InvalidContentType'
const rights = '403 InsufficientAccessRights'
const size = [invalid, '413 BadRequest', '413 PayloadTooLarge']
const outOfBounds = { merge: { tools: [{ type: 'graph', function: { query_config: { search_weight: 101 } } }] } }
const message = (member: object) => ({ merge: { messages: [{ role: 'user', content: 'Hello', ...member }] } })

function everywhere(operation: string): readonly Row[] {
  const tooMany = ['jobs.retrieve', 'files.list', 'medical.comprehend'].includes(operation)
  const withJson = routes[operation]?.[0] === 'POST' && operation !== 'files.upload'
  const json = (text: string, contentType = 'application/json') => ({ raw: { text, contentType } })
  return [
    [`${operation}/401-missing-credentials`, { headers: { authorization: undefined } }, '401 BadCredentials'],
    [`${operation}/401-malformed-key`, { key: 'no-jwt' }, '401 BadCredentials'],
    [`${operation}/401-malformed-key`, { headers: { authorization: full } }, '401 BadCredentials'],
    [`${operation}/401-malformed-key`, { headers: { authorization: `Basic ${full}` } }, '401 BadCredentials'],
    [`${operation}/401-malformed-key`, { headers: { authorization: 'Bearer' } }, '401 BadCredentials'],
    [`${operation}/401-invalid-key`, { key: full.slice(0, -4) }, '401 BadCredentials', '401 BadToken'],
    [`${operation}/401-invalid-key`, { key: full.slice(0, -100) }, '401 BadCredentials', '401 BadToken'],
    [`${operation}/401-invalid-key`, { key: `${full}abcd` }, '401 BadCredentials', '401 BadToken'],
    [`${operation}/401-invalid-key`, { key: full.toUpperCase() }, '401 BadCredentials', '401 BadToken'],
    [`${operation}/401-expired-key`, { key: keys.expired }, '401 BadToken'],
    [`${operation}/403-insufficient-rights`, { key: keys.restricted }, rights],
    [`${operation}/429-quota-exceeded`, 'scenario', '429 QuotaExceeded', ...(tooMany ? ['429 TooManyRequests'] : [])],
    ...(withJson
      ? ([
          [`${operation}/400-malformed-json`, json('{"a": [1}'), content, bad],
          [`${operation}/400-malformed-json`, json('{} {}'), content, bad],
          [`${operation}/400-wrong-content-type`, json('{}', 'text/plain'), content, bad],
          [`${operation}/400-wrong-content-type`, json('{}', 'application/x-www-form-urlencoded'), content, bad],
        ] as const)
      : []),
    ...(target.scenarios[`${operation}/500-internal-error`]
      ? ([[`${operation}/500-internal-error`, 'scenario', '500 InternalError']] as const)
      : []),
  ]
}

const item = { id: 'topic', value: ['tea'] }

const own: readonly Row[] = [
  ['jobs.create/400-missing-body', { raw: { text: '', contentType: 'application/json' } }, ...names],
  ['jobs.create/400-missing-inputs', { body: {} }, invalid, bad],
  ['jobs.create/400-missing-required-inputs', { body: { inputs: [{ id: 'tone', value: ['calm'] }] } }, invalid],
  ['jobs.create/400-malformed-inputs', { body: { inputs: 'tea' } }, bad],
  ['jobs.create/400-malformed-inputs', { body: { inputs: { topic: ['tea'] } } }, bad],
  ['jobs.create/400-malformed-inputs', { body: { inputs: null } }, bad, invalid],
  ['jobs.create/400-malformed-inputs', { body: [item] }, bad, invalid],
  ['jobs.create/400-malformed-inputs', { body: { inputs: [item, null] } }, bad, invalid],
  ['jobs.create/400-malformed-inputs', { body: { inputs: [{ ...item, value: 'tea' }] } }, bad, invalid],
  ['jobs.create/400-malformed-inputs', { body: { inputs: [{ ...item, value: [17] }] } }, bad, invalid],
  ['jobs.create/400-malformed-inputs', { body: { inputs: [{ ...item, id: 17 }] } }, bad, invalid],
  ['jobs.create/403-application-access', 'scenario', rights],
  ['jobs.create/404-unknown-application', { params: { application_id: unknown } }, '404 ResourceNotFound'],
  ['jobs.retrieve/4xx-unknown-job', { params: { job_id: unknown } }, '404 ResourceNotFound'],
  ['jobs.retrieve/4xx-malformed-id', { params: { job_id: 'job-17' } }, bad],
  ['pdf.parse/400-missing-body', { raw: { text: '', contentType: 'application/json' } }, ...names],
  ['pdf.parse/400-missing-format', { body: {} }, ...names],
  ['pdf.parse/400-unsupported-format', { body: { format: 'Text' } }, ...names],
  ['pdf.parse/400-unsupported-format', { body: { format: 'constructor' } }, ...names],
  ['pdf.parse/400-malformed-format', { body: { format: null } }, ...names],
  ['pdf.parse/400-malformed-format', { body: { format: ['text'] } }, ...names],
  ['pdf.parse/400-corrupted-pdf', { params: { file_id: resources.corruptedPdfFile } }, bad],
  ['pdf.parse/400-encrypted-pdf', { params: { file_id: resources.encryptedPdfFile } }, bad],
  ['pdf.parse/400-oversized-pdf', { params: { file_id: resources.oversizedPdfFile } }, ...size],
  ['pdf.parse/403-file-access', 'scenario', rights],
  [
    'pdf.parse/4xx-unknown-file',
    { params: { file_id: unknown } },
    '404 ResourceNotFound',
    '404 NotFound',
    '410 Gone',
    '410 ResourceNotFound',
    bad,
    invalid,
    rights,
  ],
  ['completion.create/400-unsupported-model', { merge: { model: 'm-none' } }, bad],
  ['completion.create/400-malformed-request', { merge: { model: 17 } }, bad],
  ['completion.create/400-malformed-request', { merge: { prompt: 17 } }, ...names],
  ['completion.create/400-empty-prompt', { merge: { prompt: '' } }, invalid],
  [
    'completion.create/400-bad-encoding',
    {
      raw: {
        base64: Buffer.from('7b226d6f64656c223a226d2d31222c2270726f6d7074223a22c328227d', 'hex').toString('base64'),
        contentType: 'application/json',
      },
    },
    ...names,
  ],
  ['completion.create/400-invalid-temperature', { merge: { temperature: 'warm' } }, content],
  ['completion.create/400-invalid-max-tokens', { merge: { max_tokens: [50] } }, content],
  ['completion.create/400-invalid-max-tokens', { merge: { max_tokens: -1 } }, content, invalid],
  ['completion.create/400-invalid-parameter', { merge: { top_p: true } }, content],
  ['chat.create/400-malformed-messages', { merge: { messages: 'Hello' } }, bad],
  ['chat.create/400-malformed-messages', { merge: { messages: [17] } }, bad],
  ['chat.create/400-malformed-messages', message({ content: 17 }), bad],
  ['chat.create/400-invalid-role', message({ role: 'qwertzuiopas' }), bad],
  ['chat.create/400-invalid-role', message({ role: 17 }), bad],
  ['chat.create/400-unsupported-model', { merge: { model: 'm-none' } }, invalid],
  ['chat.create/400-malformed-tools', { merge: { tools: 'graph' } }, content],
  ['chat.create/400-malformed-tools', { merge: { tools: [17] } }, content],
  ['chat.create/400-malformed-tools', { merge: { tools: [{ type: 'llm' }] } }, content],
  ['chat.create/400-malformed-tool-choice', { merge: { tool_choice: 17 } }, content],
  ['chat.create/400-malformed-tool-choice', { merge: { tool_choice: ['auto'] } }, content],
  ['chat.create/400-invalid-stream', { merge: { stream: 'yes' } }, bad],
  ['chat.create/400-invalid-stream-options', { merge: { stream: true, stream_options: 'usage' } }, bad],
  ['chat.create/400-malformed-response-format', { merge: { response_format: 'json' } }, ...names],
  ['graphs.create/400-malformed-parameters', { merge: { name: 17 } }, bad],
  ['graphs.create/400-malformed-parameters', { body: { description: 'No name' } }, bad],
  ['graphs.create/400-duplicate-name', { merge: { name: 'Tea' } }, bad],
  ['graphs.add-file/404-unknown-graph', { params: { graph_id: unknown } }, '404 ResourceNotFound'],
  ['graphs.query/404-unknown-graph', { params: { graph_id: unknown } }, '404 ResourceNotFound'],
  ['graphs.query/400-query-config', { merge: { query_config: { max_snippets: 4 } } }, ...names],
  ['chat.create/400-query-config', outOfBounds, ...names],
  ['graphs.query/400-malformed-parameters', { merge: { query: 17 } }, bad],
  ['applications.create/400-malformed-parameters', { merge: { name: [17] } }, bad],
  ['applications.create/400-duplicate-name', { merge: { name: 'Writer' } }, bad],
  ['files.retrieve/404-unknown-file', { params: { file_id: unknown } }, '404 ResourceNotFound'],
  ['files.retrieve/410-deleted-file', { params: { file_id: resources.deletedFile } }, '410 ResourceNotFound'],
  ['ai-detect.run/400-empty-text', { merge: { input: '' } }, bad],
  ['ai-detect.run/400-malformed-text', { merge: { input: 17 } }, bad],
  ['web-search.run/400-empty-query', { merge: { query: '' } }, bad],
  ['web-search.run/400-malformed-query', { merge: { query: { text: 'tea' } } }, bad],
  ['medical.comprehend/400-malformed-request', { merge: { content: 17 } }, ...names],
  ['translate.run/400-unsupported-language', { merge: { source: 'xx' } }, bad],
  ['translate.run/400-unsupported-language', { merge: { target: 'xx' } }, bad],
  ['translate.run/400-empty-text', { merge: { text: '' } }, invalid],
  ['translate.run/400-malformed-text', { merge: { text: 17 } }, invalid, bad],
  ['vision.analyze/400-malformed-request', { merge: { prompt: 17 } }, ...names],
  ['vision.analyze/400-malformed-request', { merge: { variables: 'image' } }, ...names],
]

/** What the scenarios of the target file accept. */
const scenarioPairs: Readonly<Record<string, readonly string[]>> = {
  'completion.create/403-model-access': [rights],
  'completion.create/429-model-quota': ['429 CompletionModelQuotaError'],
  'completion.create/500-model-unavailable': ['500 CompletionModelUnavailableError'],
  'completion.create/500-model-overload': ['500 CompletionModelInternalError'],
  'completion.create/model-unauthorized': ['* CompletionModelUnauthorizedError'],
  'completion.create/model-underlying-request': ['* CompletionModelUnderlyingRequestError'],
  'completion.create/model-unsafe-request': ['* CompletionModelUnsafeRequestError'],
  'completion.create/model-no-prediction': ['* CompletionModelNoPredictionError'],
  'chat.create/400-unsafe-request': ['400 CompletionModelUnsafeRequestError'],
  'chat.create/403-model-access': [rights],
  'chat.create/429-model-quota': ['429 CompletionModelQuotaError'],
  'chat.create/500-model-internal-error': ['500 CompletionModelInternalError'],
  'chat.create/503-model-unavailable': ['503 CompletionModelUnavailableError'],
  'chat.create/model-unauthorized': ['* CompletionModelUnauthorizedError'],
  'chat.create/model-underlying-request': ['* CompletionModelUnderlyingRequestError'],
  'chat.create/model-no-prediction': ['* CompletionModelNoPredictionError'],
  'files.upload/400-unsupported-type': [bad],
  'files.upload/400-oversized': size,
  'files.upload/400-corrupted': [content],
  'files.upload/413-body-too-large': ['413 BadRequest', '413 PayloadTooLarge', invalid],
  'files.upload/507-storage-full': ['507 QuotaExceeded'],
  'files.retrieve/403-file-access': [rights],
  'graphs.create/400-invalid-name': [invalid],
  'graphs.add-file/400-unsupported-type': [bad],
  'graphs.add-file/400-unparsable': [invalid],
  'graphs.add-file/403-graph-access': [rights],
  'graphs.query/400-too-complex': size,
  'graphs.query/403-graph-access': [rights],
  'applications.create/400-invalid-blueprint': [invalid],
  'ai-detect.run/400-text-too-long': size,
  'web-search.run/400-query-too-long': size,
  'web-search.run/503-search-down': ['503 InternalError'],
  'translate.run/400-text-too-long': size,
  'translate.run/503-unavailable': ['503 InternalError'],
  'vision.analyze/400-unsupported-image': [bad],
  'vision.analyze/400-oversized-image': size,
  'vision.analyze/400-corrupted-image': [content],
  'vision.analyze/503-unavailable': ['503 InternalError'],
  'guardrails/400-blocked': ['400 GuardrailBlockedError', bad],
  'guardrails/400-blocked-by-provider': [bad],
  'guardrails/401-provider-credentials': ['401 BadCredentials'],
  'guardrails/403-provider-permissions': [rights],
  'guardrails/404-unknown-guardrail': ['404 ResourceNotFound'],
  'guardrails/500-provider-error': ['500 InternalError'],
  'guardrails/503-provider-down': ['503 InternalError'],
  'general/409-conflict': ['409 Conflict'],
  'general/410-gone': ['410 Gone', '410 ResourceNotFound'],
  'general/413-payload-too-large': ['413 PayloadTooLarge'],
  'general/422-unprocessable': ['422 UnprocessableEntity'],
  'general/500-internal-error': ['500 InternalServerError', '500 InternalError'],
  'general/503-unavailable': ['503 ServiceUnavailable', '503 InternalError'],
  'general/507-insufficient-storage': ['507 InsufficientStorage'],
}

/** Every requirement on a refusal, but those that are a story of several requests. */
export const refusalRows: readonly Row[] = [
  ...Object.keys(routes).flatMap(everywhere),
  ...own,
  ...Object.entries(scenarioPairs).map(([id, pairs]): Row => [id, 'scenario', ...pairs]),
]

/** Whether an answer is one of the pairs, and an envelope. */
export function isRefused(answer: Reply, pairs: readonly string[]): boolean {
  const { json } = answer
  const whole = typeof json?.tpe === 'string' && Array.isArray(json.errors) && typeof json.extras === 'object'
  return whole && pairs.some((pair) => [`${answer.status} ${json.tpe}`, `* ${json.tpe}`].includes(pair))
}

/** Sends what the row is about. */
export function provoke(url: string, [id, change]: Row): Promise<Reply> {
  return change === 'scenario' ? play(url, id) : send(url, id.slice(0, id.indexOf('/')), change)
}

export type { Row }
