import { isRefusal, pairsByScenario } from '../../catalogue/requirement.ts'
import { catalogue } from '../../catalogue/catalogue.ts'
import type { OperationId } from '../../catalogue/operations.ts'
import { play, routes, send, target, type Reply, type Server } from './client.ts'
import { rowsEverywhere } from './rows-everywhere.ts'
import { bad, content, each, invalid, names, rights, size, unsupportedModel, type Row, twice } from './rows.ts'

const { resources } = target
const unknown = '11111111-2222-4333-8444-555555555555'
const withConfig = (query_config: unknown) => ({ merge: { tools: [{ type: 'graph', function: { query_config } }] } })
const hello = { role: 'user', content: 'Hello' }
const message = (member: object) => ({ merge: { messages: [{ ...hello, ...member }] } })
const earlier = (item: unknown) => ({ merge: { messages: [item, hello] } })

/** Values of every other JSON type. */
const others: Readonly<Record<string, readonly unknown[]>> = {
  format: [null, 17, true, ['text'], {}],
  inputs: ['tea', 17, true, {}, null],
  number: ['warm', true, [50], {}],
  choice: [17, true, ['auto']],
  stream: ['yes', 17, [true], {}],
  options: ['usage', 17, true, []],
  responseFormat: ['json', 17, []],
  content: [17, true, {}],
}

const bounds: Readonly<Record<string, readonly [number, number]>> = {
  search_weight: [-1, 101],
  max_subquestions: [0, 11],
  grounding_level: [-0.5, 1.5],
  max_snippets: [4, 31],
  max_tokens: [99, 8001],
  keyword_threshold: [-0.5, 1.5],
  semantic_threshold: [-0.5, 1.5],
}
const configs = [
  ...[
    { search_weight: 70_000 },
    { grounding_level: 1.01 },
    { keyword_threshold: 2 ** 31 },
    { max_tokens: 2 ** 32 + 4000 },
    'many',
    17,
    [1],
  ],
  ...Object.entries(bounds).flatMap(([name, ends]) => [...ends, 'many', [1], {}].map((value) => ({ [name]: value }))),
  { inline_citations: 'yes' },
]

const item = { id: 'topic', value: ['tea'] }
const types = [null, true, 17, 'tea', ['tea'], {}]

const { application, job, file, graph, pdfFile } = resources

/** Ids that are like one that exists. */
const likeJob = [`${job.slice(0, -1)}9`, `9${job.slice(1)}`, `${job.slice(0, 9)}0000-4000-8000-000000000000`]
const near = (id: string) => [id.slice(0, -1), `${id}1`]

const text = { type: 'text', text: 'Hello' }
const image = { type: 'image_url', image_url: { url: 'https://example.com/tea.png' } }
const parts = [
  ...[{ text: 'Hello' }, { type: 'text' }, { type: 'text', text: 17 }, { type: 'image_url' }],
  ...[
    { ...image, image_url: 'tea.png' },
    { ...image, image_url: {} },
  ],
]

const own: readonly Row[] = [
  ...each(
    'jobs.retrieve/4xx-malformed-id',
    [...near(job), `${job.slice(0, -1)}_`],
    (id) => ({ params: { job_id: String(id) } }),
    bad,
  ),
  ...each(
    'jobs.retrieve/4xx-unknown-job',
    [...likeJob, unknown, unknown, application.id],
    (id) => ({ params: { job_id: String(id) } }),
    '404 ResourceNotFound',
  ),
  ...each(
    'files.retrieve/404-unknown-file',
    [...near(file), unknown, unknown, graph],
    (id) => ({ params: { file_id: String(id) } }),
    '404 ResourceNotFound',
  ),
  ...each(
    'jobs.create/404-unknown-application',
    [...near(application.id), unknown, unknown, graph],
    (id) => ({ params: { application_id: String(id) } }),
    '404 ResourceNotFound',
  ),
  ...each(
    'graphs.query/404-unknown-graph',
    [...near(graph), unknown, unknown, pdfFile],
    (id) => ({ params: { graph_id: String(id) } }),
    '404 ResourceNotFound',
  ),
  ...each(
    'graphs.add-file/404-unknown-graph',
    [...near(graph), unknown, unknown, pdfFile],
    (id) => ({ params: { graph_id: String(id) } }),
    '404 ResourceNotFound',
  ),
  ...each(
    'pdf.parse/4xx-unknown-file',
    [...near(pdfFile), unknown, unknown, graph],
    (id) => ({ params: { file_id: String(id) } }),
    '404 ResourceNotFound',
  ),
  ['pdf.parse/400-corrupted-pdf', { params: { file_id: resources.corruptedPdfFile } }, bad],
  ['jobs.create/400-missing-required-inputs', { body: { inputs: [] } }, invalid],
  ...each(
    'jobs.create/400-malformed-inputs',
    [{ value: ['tea'] }, { id: 'topic' }],
    (one) => ({ body: { inputs: [one] } }),
    bad,
    invalid,
  ),
  ...each('chat.create/400-malformed-messages', parts, (part) => message({ content: [part] }), bad),
  ['chat.create/400-malformed-messages', message({ content: [text, 17] }), bad],
  ...each(
    'chat.create/400-malformed-tools',
    [{ function: {} }, { type: 17 }, { type: 'llm', function: {} }],
    (tool) => ({ merge: { tools: [tool] } }),
    content,
  ),
  ['chat.create/400-malformed-tools', { merge: { tools: [{ type: 'llm', function: { model: 'm-1' } }, 17] } }, content],
  ['chat.create/400-unsupported-model', { merge: { model: 17 } }, invalid, bad],
  ['translate.run/400-unsupported-language', { merge: { target: 17 } }, bad],
  ['translate.run/400-unsupported-language', { merge: { target: 'denglish' } }, bad],
  ['completion.create/400-unsupported-model', { merge: { model: 'm-1none' } }, bad, ...unsupportedModel],
  ['chat.create/400-unsupported-model', { merge: { model: 'm-1none' } }, invalid, ...unsupportedModel],
  ['chat.create/400-invalid-role', message({ role: 'username' }), bad],
  ['jobs.create/400-missing-body', { raw: { text: '', contentType: 'application/json' } }, ...names],
  ['jobs.create/400-missing-inputs', { body: {} }, invalid, bad],
  ['jobs.create/400-missing-required-inputs', { body: { inputs: [{ id: 'tone', value: ['calm'] }] } }, invalid],
  ['jobs.create/400-malformed-inputs', { body: [item] }, bad, invalid],
  ['jobs.create/400-malformed-inputs', { body: { inputs: item } }, bad, invalid],
  ['jobs.create/400-malformed-inputs', { body: { inputs: [item, null] } }, bad, invalid],
  ['jobs.create/400-malformed-inputs', { body: { inputs: [{ ...item, value: 'tea' }] } }, bad, invalid],
  ['jobs.create/400-malformed-inputs', { body: { inputs: [{ ...item, value: [17] }] } }, bad, invalid],
  ['jobs.create/400-malformed-inputs', { body: { inputs: [{ ...item, value: ['tea', 17] }] } }, bad, invalid],
  ['jobs.create/400-malformed-inputs', { body: { inputs: [{ ...item, id: 17 }] } }, bad, invalid],
  ...each(
    'jobs.create/400-malformed-inputs',
    [...types.slice(0, 5), ...types.filter((id) => id !== 'tea').map((id) => ({ ...item, id }))],
    (other) => ({ body: { inputs: [item, other] } }),
    bad,
    invalid,
  ),
  ['jobs.create/404-unknown-application', { params: { application_id: unknown } }, '404 ResourceNotFound'],
  ['jobs.retrieve/4xx-unknown-job', { params: { job_id: unknown } }, '404 ResourceNotFound'],
  ['jobs.retrieve/4xx-malformed-id', { params: { job_id: 'job-17' } }, bad],
  ['jobs.retrieve/4xx-malformed-id', { params: { job_id: resources.job.slice(0, -8) } }, bad],
  ['pdf.parse/400-missing-body', { raw: { text: '', contentType: 'application/json' } }, ...names],
  ['pdf.parse/400-missing-format', { body: {} }, ...names],
  ...['text', 'markdown'].flatMap((format): Row[] => [
    ['pdf.parse/400-corrupted-pdf', { body: { format }, params: { file_id: resources.corruptedPdfFile } }, bad],
    ['pdf.parse/400-encrypted-pdf', { body: { format }, params: { file_id: resources.encryptedPdfFile } }, bad],
  ]),
  ['pdf.parse/400-oversized-pdf', { params: { file_id: resources.oversizedPdfFile } }, ...size],
  ...each(
    'pdf.parse/4xx-unknown-file',
    [unknown, resources.deletedFile],
    (file_id) => ({ params: { file_id: String(file_id) } }),
    ...['404 ResourceNotFound', '404 NotFound', '410 Gone', '410 ResourceNotFound', bad, invalid, rights],
  ),
  ...twice(['completion.create/400-unsupported-model', { merge: { model: 'm-none' } }, bad, ...unsupportedModel]),
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
  ['completion.create/400-invalid-parameter', { merge: { top_p: true } }, content],
  ['chat.create/400-malformed-messages', { merge: { messages: 'Hello' } }, bad],
  ...each('chat.create/400-malformed-messages', [17, null], (item) => ({ merge: { messages: [item] } }), bad),
  ['chat.create/400-malformed-messages', earlier(17), bad],
  ['chat.create/400-malformed-messages', { merge: { messages: [hello, 17] } }, bad],
  ['chat.create/400-malformed-messages', { merge: { messages: [{ content: 'Hello' }] } }, bad],
  ...each('chat.create/400-malformed-messages', [17, 'Hello', null], (part) => message({ content: [part] }), bad),
  ['chat.create/400-invalid-role', earlier({ ...hello, role: 17 }), bad],
  ['chat.create/400-invalid-role', message({ role: 'qwertzuiopas' }), bad],
  ['chat.create/400-invalid-role', message({ role: 17 }), bad],
  ...twice(['chat.create/400-unsupported-model', { merge: { model: 'm-none' } }, invalid, ...unsupportedModel]),
  ['chat.create/400-malformed-tools', { merge: { tools: 'graph' } }, content],
  ['chat.create/400-malformed-tools', { merge: { tools: [17] } }, content],
  ['chat.create/400-malformed-tools', { merge: { tools: [{ type: 'llm' }] } }, content],
  ...each(
    'chat.create/400-malformed-tools',
    [{ description: 'Answers' }, { description: 'Answers', model: 17 }, { description: [17], model: 'm-medical' }],
    (llm) => ({ merge: { tools: [{ type: 'llm', function: llm }] } }),
    content,
  ),
  ['completion.create/400-malformed-request', { merge: { model: ['m-1'] } }, bad],
  ...each('chat.create/400-malformed-messages', [{ 0: hello }], (messages) => ({ merge: { messages } }), bad),
  ['chat.create/400-malformed-messages', message({ content: text }), bad],
  ['chat.create/400-invalid-role', message({ role: ['user'] }), bad],
  ['chat.create/400-malformed-tools', { merge: { tools: { type: 'llm', function: { model: 'm-medical' } } } }, content],
  ['translate.run/400-unsupported-language', { merge: { source: ['en'] } }, bad],
  ['jobs.create/400-malformed-inputs', { body: { inputs: { 0: { id: 'topic', value: ['tea'] } } } }, bad, invalid],
  ...each('graphs.create/400-malformed-parameters', [17, false], (name) => ({ merge: { name } }), bad),
  ['graphs.create/400-duplicate-name', { merge: { name: 'Tea' } }, bad],
  ['graphs.add-file/404-unknown-graph', { params: { graph_id: unknown } }, '404 ResourceNotFound'],
  ['graphs.query/404-unknown-graph', { params: { graph_id: unknown } }, '404 ResourceNotFound'],
  ...each('graphs.query/400-query-config', configs, (query_config) => ({ merge: { query_config } }), ...names),
  ...each('chat.create/400-query-config', configs, withConfig, ...names),
  ...each('jobs.create/400-malformed-inputs', others['inputs'], (inputs) => ({ body: { inputs } }), bad, invalid),
  ...each('pdf.parse/400-malformed-format', others['format'], (format) => ({ body: { format } }), ...names),
  ...each(
    'pdf.parse/400-unsupported-format',
    ['te\u0301xt', 'te\u200bxt', 'text\u0000', '', ' text', 'Text', 'ｔｅｘｔ', 'mark', 'toString'],
    (format) => ({ body: { format } }),
    ...names,
  ),
  ...each(
    'completion.create/400-invalid-temperature',
    others['number'],
    (temperature) => ({ merge: { temperature } }),
    content,
  ),
  ...each(
    'completion.create/400-invalid-max-tokens',
    others['number'],
    (max_tokens) => ({ merge: { max_tokens } }),
    content,
  ),
  ...each('chat.create/400-malformed-messages', others['content'], (value) => message({ content: value }), bad),
  ...each('chat.create/400-malformed-messages', [{}], (messages) => ({ merge: { messages } }), bad),
  ...each(
    'chat.create/400-malformed-tool-choice',
    others['choice'],
    (tool_choice) => ({ merge: { tool_choice } }),
    content,
  ),
  ...each('chat.create/400-invalid-stream', others['stream'], (stream) => ({ merge: { stream } }), bad),
  ...each(
    'chat.create/400-invalid-stream-options',
    others['options'],
    (stream_options) => ({ merge: { stream: true, stream_options } }),
    bad,
  ),
  ...each(
    'chat.create/400-malformed-response-format',
    others['responseFormat'],
    (response_format) => ({ merge: { response_format } }),
    ...names,
  ),
  ['graphs.query/400-malformed-parameters', { merge: { query: 17 } }, bad],
  ['applications.create/400-malformed-parameters', { merge: { name: [17] } }, bad],
  ['applications.create/400-duplicate-name', { merge: { name: 'Writer' } }, bad],
  ['files.retrieve/404-unknown-file', { params: { file_id: unknown } }, '404 ResourceNotFound'],
  ['files.retrieve/404-unknown-file', { params: { file_id: 'file_tea_8b21c47f6d00' } }, '404 ResourceNotFound'],
  ...twice(['files.retrieve/410-deleted-file', { params: { file_id: resources.deletedFile } }, '410 ResourceNotFound']),
  ['ai-detect.run/400-empty-text', { merge: { input: '' } }, bad],
  ['ai-detect.run/400-malformed-text', { merge: { input: 17 } }, bad],
  ['web-search.run/400-empty-query', { merge: { query: '' } }, bad],
  ['web-search.run/400-malformed-query', { merge: { query: { text: 'tea' } } }, bad],
  ['medical.comprehend/400-malformed-request', { merge: { content: 17 } }, ...names],
  ['translate.run/400-unsupported-language', { merge: { source: 'xx' } }, bad],
  ...twice(['translate.run/400-unsupported-language', { merge: { target: 'xx' } }, bad]),
  ['translate.run/400-empty-text', { merge: { text: '' } }, invalid],
  ['translate.run/400-malformed-text', { merge: { text: 17 } }, invalid, bad],
  ['chat.create/400-malformed-tools', { merge: { tools: false } }, content],
  ['chat.create/400-malformed-tool-choice', { merge: { tool_choice: false } }, content],
  ['chat.create/400-malformed-response-format', { merge: { response_format: false } }, ...names],
  ['chat.create/400-invalid-stream-options', { merge: { stream: true, stream_options: false } }, bad],
  ['vision.analyze/400-malformed-request', { merge: { prompt: 17 } }, ...names],
  ['vision.analyze/400-malformed-request', { merge: { variables: 'image' } }, ...names],
]

/**
 * What the scenarios of the target file are refused with. The catalogue says what each accepts: `tests/spec/expects.txt` guards
 * that, and tests/spec/gives.test.ts holds it against the tables of §7.
 */
const byScenario = catalogue.flatMap((row): readonly Row[] => {
  const scenario = target.scenarios[row.id]
  if (scenario === undefined || !isRefusal(row.expects)) return []
  const pairs = pairsByScenario(row, (scenario.operation ?? row.operation) as OperationId)
  const status = (told: number | string) => (typeof told === 'number' ? `${told}` : '*')
  return [[row.id, 'scenario', ...pairs.flatMap(([told, ...names]) => names.map((name) => `${status(told)} ${name}`))]]
})

/** Every requirement on a refusal, but those that are a story of several requests. */
export const refusalRows: readonly Row[] = [...Object.keys(routes).flatMap(rowsEverywhere), ...own, ...byScenario]

/** Whether an answer is one of the pairs, and an envelope. */
export function isRefused(answer: Reply, pairs: readonly string[]): boolean {
  const { json } = answer
  const whole = typeof json?.tpe === 'string' && Array.isArray(json.errors) && typeof json.extras === 'object'
  return whole && pairs.some((pair) => [`${answer.status} ${json.tpe}`, `* ${json.tpe}`].includes(pair))
}

/** Sends what the row is about. */
export function provoke(server: Server, [id, change]: Row): Promise<Reply> {
  return change === 'scenario' ? play(server, id) : send(server, id.slice(0, id.indexOf('/')), change)
}
