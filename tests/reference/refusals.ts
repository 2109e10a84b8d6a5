import { isRefusal, pairsByScenario, pairsOf } from '../../catalogue/expected.ts'
import { catalogue } from '../../catalogue/catalogue.ts'
import type { OperationId } from '../../catalogue/operations.ts'
import { type Change, play, type Reply, routes, send, type Server, target } from './client.ts'

const { resources, keys } = target
const unknown = '11111111-2222-4333-8444-555555555555'

const path = (name: string, id: string): Change => ({ params: { [name]: id } })
const member = (name: string, value: unknown): Change => ({ merge: { [name]: value } })
const raw = (text: string | Buffer, contentType = 'application/json'): Change => ({
  raw: { base64: Buffer.from(text).toString('base64'), contentType },
})
const unknownFile = member('variables', [{ name: 'image', file_id: unknown }])

/** One change to the valid request of an operation by which it is refused, by requirement. */
const own: Readonly<Record<string, Change>> = {
  'jobs.create/400-missing-body': raw(''),
  'jobs.create/400-missing-inputs': { body: {} },
  'jobs.create/400-missing-required-inputs': { body: { inputs: [] } },
  'jobs.create/400-malformed-inputs': { body: { inputs: [17] } },
  'jobs.create/404-unknown-application': path('application_id', unknown),
  'jobs.retrieve/4xx-unknown-job': path('job_id', unknown),
  'jobs.retrieve/4xx-malformed-id': path('job_id', 'job-17'),
  'pdf.parse/400-missing-body': raw(''),
  'pdf.parse/400-missing-format': { body: {} },
  'pdf.parse/400-malformed-format': { body: { format: 17 } },
  'pdf.parse/400-unsupported-format': { body: { format: 'mark' } },
  'pdf.parse/400-corrupted-pdf': path('file_id', resources.corruptedPdfFile),
  'pdf.parse/400-encrypted-pdf': path('file_id', resources.encryptedPdfFile),
  'pdf.parse/400-oversized-pdf': path('file_id', resources.oversizedPdfFile),
  'pdf.parse/4xx-unknown-file': path('file_id', unknown),
  'completion.create/400-unsupported-model': member('model', 'm-none'),
  'completion.create/400-malformed-request': member('model', 17),
  'completion.create/400-empty-prompt': member('prompt', ''),
  'completion.create/400-bad-encoding': raw(Buffer.from('7b2261223a2280227d', 'hex')),
  'completion.create/400-invalid-temperature': member('temperature', 'warm'),
  'completion.create/400-invalid-max-tokens': member('max_tokens', 'many'),
  'completion.create/400-invalid-parameter': member('top_p', true),
  'chat.create/400-malformed-messages': member('messages', 'Hello'),
  'chat.create/400-invalid-role': member('messages', [{ role: 'username', content: 'Hello' }]),
  'chat.create/400-unsupported-model': member('model', 'm-none'),
  'chat.create/400-malformed-tools': member('tools', [17]),
  'chat.create/400-malformed-tool-choice': member('tool_choice', 17),
  'chat.create/400-invalid-stream': member('stream', 'yes'),
  'chat.create/400-invalid-stream-options': member('stream_options', 'usage'),
  'chat.create/400-malformed-response-format': member('response_format', 'json'),
  'chat.create/400-query-config': member('tools', [
    { type: 'graph', function: { query_config: { search_weight: 101 } } },
  ]),
  'files.retrieve/404-unknown-file': path('file_id', unknown),
  'files.retrieve/410-deleted-file': path('file_id', resources.deletedFile),
  'files.upload/4xx-unknown-graph': { query: { graphId: unknown } },
  'graphs.create/400-malformed-parameters': member('name', 17),
  'graphs.create/400-duplicate-name': member('name', 'Tea'),
  'graphs.add-file/404-unknown-graph': path('graph_id', unknown),
  'graphs.add-file/4xx-unknown-file': member('file_id', unknown),
  'graphs.query/404-unknown-graph': path('graph_id', unknown),
  'graphs.query/400-query-config': member('query_config', { max_tokens: 99 }),
  'graphs.query/400-malformed-parameters': member('query', 17),
  'applications.create/400-malformed-parameters': member('name', [17]),
  'applications.create/400-duplicate-name': member('name', 'Writer'),
  'ai-detect.run/400-empty-text': member('input', ''),
  'ai-detect.run/400-malformed-text': member('input', 17),
  'web-search.run/400-empty-query': member('query', ''),
  'web-search.run/400-malformed-query': member('query', 17),
  'medical.comprehend/400-malformed-request': member('content', 17),
  'translate.run/400-unsupported-language': member('target', 'xx'),
  'translate.run/400-empty-text': member('text', ''),
  'translate.run/400-malformed-text': member('text', 17),
  'vision.analyze/400-malformed-request': member('prompt', 17),
  'vision.analyze/4xx-unknown-file': unknownFile,
}

/** The member without which a request of the operation means nothing. */
const essential: Readonly<Record<string, string>> = {
  'completion.create': 'prompt',
  'chat.create': 'messages',
  'graphs.add-file': 'file_id',
  'graphs.query': 'query',
  'ai-detect.run': 'input',
  'web-search.run': 'query',
  'medical.comprehend': 'content',
  'translate.run': 'text',
  'vision.analyze': 'prompt',
}

/** Changes by which every operation refuses its valid request, by the last part of the requirement. */
function everywhere(operation: string): Readonly<Record<string, Change>> {
  const needed = essential[operation]
  const hasJson = routes[operation]?.[0] === 'POST' && operation !== 'files.upload'
  return {
    '401-missing-credentials': { headers: { authorization: undefined } },
    '401-malformed-key': { headers: { authorization: `Basic ${keys.full}` } },
    '401-invalid-key': { key: keys.full.slice(0, -4) },
    '401-expired-key': { key: keys.expired },
    '403-insufficient-rights': { key: keys.restricted },
    ...(hasJson && {
      '400-malformed-json': raw('{"a": 1,}'),
      '400-wrong-content-type': raw('{}', 'text/plain'),
    }),
    ...(hasJson && operation !== 'jobs.create' && { '4xx-malformed-body': { body: 17 } }),
    ...(needed !== undefined && { '4xx-missing-member': member(needed, undefined) }),
  }
}

/** Every requirement on a refusal, but those that need several requests, and how to cause it. */
export const refusals: ReadonlyMap<string, (server: Server) => Promise<Reply>> = new Map([
  ...Object.entries(own).map(
    ([id, change]) => [id, (server: Server) => send(server, operationOf(id), change)] as const,
  ),
  ...Object.keys(routes).flatMap((operation) =>
    Object.entries(everywhere(operation)).map(
      ([row, change]) =>
        [`${operation}/${row}`, (server: Server) => send(server, operation, change)] as const,
    ),
  ),
  ...catalogue
    .filter(({ id, expects }) => isRefusal(expects) && target.scenarios[id] !== undefined)
    .map(({ id }) => [id as string, (server: Server) => play(server, id)] as const),
])

function operationOf(id: string): string {
  return id.slice(0, id.indexOf('/'))
}

/** Whether an answer is one of the pairs `status tpe`, and an envelope. */
export function isRefused({ json, status }: Reply, pairs: readonly string[]): boolean {
  const isWhole =
    typeof json?.tpe === 'string' && Array.isArray(json.errors) && typeof json.extras === 'object'
  return isWhole && [`${status} ${json.tpe}`, `${status} *`].some((one) => pairs.includes(one))
}

/** The pairs that answer a refusal by the catalogue; `tests/spec/requirements.txt` guards them. */
export function pairsFor(id: string): string[] {
  const row = catalogue.find((each) => each.id === id)!
  const scenario = target.scenarios[id]
  const operation = (scenario?.operation ?? row.operation) as OperationId
  const pairs = (scenario ? pairsByScenario : pairsOf)(row, operation)
  return pairs.flatMap(([status, ...names]) => {
    // Of a range of statuses those that the reference has.
    const statuses = typeof status === 'number' ? [status] : [400, 404, 409, 410, 422, 500]
    return statuses.flatMap((each) =>
      (names.length > 0 ? names : ['*']).map((name) => `${each} ${name}`),
    )
  })
}
