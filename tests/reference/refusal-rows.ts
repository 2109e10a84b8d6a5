import { isRefusal, pairsByScenario, pairsOf } from '../../catalogue/expected.ts'
import { catalogue } from '../../catalogue/catalogue.ts'
import type { OperationId } from '../../catalogue/operations.ts'
import { type Change, play, routes, send, target, type Reply, type Server } from './client.ts'
import { changesEverywhere } from './rows-everywhere.ts'

const { resources } = target
const unknown = '11111111-2222-4333-8444-555555555555'
const withConfig = (query_config: unknown) => ({
  merge: { tools: [{ type: 'graph', function: { query_config } }] },
})
const hello = { role: 'user', content: 'Hello' }
const message = (member: object) => ({ merge: { messages: [{ ...hello, ...member }] } })
const earlier = (item: unknown) => ({ merge: { messages: [item, hello] } })

/** Values of every other JSON type. */
const others: Readonly<Record<string, readonly unknown[]>> = {
  format: [null, 17, true, ['text'], {}],
  inputs: ['tea', 17, true, {}, null],
  number: ['warm', true, [50], {}],
  choice: [17, true, false, ['auto']],
  stream: ['yes', 17, [true], {}],
  options: ['usage', 17, true, false, []],
  responseFormat: ['json', 17, false, []],
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
  ...Object.entries(bounds).flatMap(([name, ends]) =>
    [...ends, 'many', [1], {}].map((value) => ({ [name]: value })),
  ),
  { inline_citations: 'yes' },
]

const item = { id: 'topic', value: ['tea'] }
const types = [null, true, 17, 'tea', ['tea'], {}]

const { application, job, file, graph, pdfFile } = resources

/** Ids that are like one that exists. */
const likeJob = [
  `${job.slice(0, -1)}9`,
  `9${job.slice(1)}`,
  `${job.slice(0, 9)}0000-4000-8000-000000000000`,
]
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
const wrongFunctions = [
  { description: 'Answers' },
  { description: 'Answers', model: 17 },
  { description: [17], model: 'm-medical' },
]
const formats = [
  'te\u0301xt',
  'te\u200bxt',
  'text\u0000',
  '',
  ' text',
  'Text',
  'ｔｅｘｔ',
  'mark',
  'toString',
]
const parsedTwice = (file_id: string) =>
  ['text', 'text', 'markdown'].map((format): Change => ({ body: { format }, params: { file_id } }))

const path = (name: string, ...ids: string[]) =>
  ids.map((id): Change => ({ params: { [name]: id } }))
const member = (name: string, ...values: unknown[]) =>
  values.map((value): Change => ({ merge: { [name]: value } }))
const inputs = (...values: unknown[]) =>
  values.map((value): Change => ({ body: { inputs: value } }))
const tools = (...values: unknown[]) => member('tools', ...values.map((tool) => [tool]))
const llm = { type: 'llm', function: { model: 'm-medical' } }
const noBody: Change = { raw: { text: '', contentType: 'application/json' } }
const badUtf8 = Buffer.from(
  '7b226d6f64656c223a226d2d31222c2270726f6d7074223a22c328227d',
  'hex',
).toString('base64')

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

const picture = { name: 'image', file_id: '9c4e2f86-1d7a-4c3b-a5e8-7f60b2d93010' }

/** Changes to the valid request by which it is refused, by requirement. What stands twice is asked twice. */
const own: Readonly<Record<string, readonly Change[]>> = {
  ...Object.fromEntries(
    Object.entries(essential).map(([operation, name]) => [
      `${operation}/4xx-missing-member`,
      [...member(name, undefined), noBody],
    ]),
  ),
  'jobs.create/400-missing-body': [noBody],
  'jobs.create/400-missing-inputs': [{ body: {} }],
  'jobs.create/400-missing-required-inputs': inputs([], [{ id: 'tone', value: ['calm'] }]),
  'jobs.create/400-malformed-inputs': [
    { body: [item] },
    ...inputs(
      ...others['inputs']!,
      item,
      { 0: item },
      [item, null],
      [{ value: ['tea'] }],
      [{ id: 'topic' }],
    ),
    ...inputs(...['tea', [17], ['tea', 17]].map((value) => [{ ...item, value }]), [
      { ...item, id: 17 },
    ]),
    ...inputs([item, { id: 'tone', value: ['calm'] }, 17]),
    ...inputs(...types.slice(0, 5).map((other) => [item, other])),
    ...inputs(...types.filter((id) => id !== 'tea').map((id) => [item, { ...item, id }])),
  ],
  'jobs.create/404-unknown-application': path(
    'application_id',
    ...near(application.id),
    unknown,
    unknown,
    graph,
  ),
  'jobs.retrieve/4xx-unknown-job': path('job_id', ...likeJob, unknown, unknown, application.id),
  'jobs.retrieve/4xx-malformed-id': path(
    'job_id',
    ...near(job),
    `${job.slice(0, -1)}_`,
    'job-17',
    job.slice(0, -8),
  ),
  'pdf.parse/400-missing-body': [noBody],
  'pdf.parse/400-missing-format': [{ body: {} }],
  'pdf.parse/400-malformed-format': others['format']!.map((format) => ({ body: { format } })),
  'pdf.parse/400-unsupported-format': formats.map((format) => ({ body: { format } })),
  'pdf.parse/400-corrupted-pdf': parsedTwice(resources.corruptedPdfFile),
  'pdf.parse/400-encrypted-pdf': parsedTwice(resources.encryptedPdfFile),
  'pdf.parse/400-oversized-pdf': path('file_id', resources.oversizedPdfFile),
  'pdf.parse/4xx-unknown-file': path(
    'file_id',
    ...near(pdfFile),
    unknown,
    unknown,
    graph,
    resources.deletedFile,
  ),
  'completion.create/400-unsupported-model': member(
    'model',
    'm-1none',
    'm-none',
    'm-none',
    'constructor',
  ),
  'completion.create/400-malformed-request': [
    ...member('model', 17, ['m-1']),
    ...member('prompt', 17),
  ],
  'completion.create/400-empty-prompt': member('prompt', ''),
  'completion.create/400-bad-encoding': [
    { raw: { base64: badUtf8, contentType: 'application/json' } },
  ],
  'completion.create/400-invalid-temperature': member('temperature', ...others['number']!),
  'completion.create/400-invalid-max-tokens': member('max_tokens', ...others['number']!),
  'completion.create/400-invalid-parameter': member('top_p', true),
  'chat.create/400-malformed-messages': [
    ...member(
      'messages',
      'Hello',
      [17],
      [null],
      [hello, 17],
      [{ content: 'Hello' }],
      { 0: hello },
      {},
    ),
    ...[...parts, 17, 'Hello', null].map((part) => message({ content: [part] })),
    ...[...others['content']!, text, [text, 17]].map((content) => message({ content })),
    earlier(17),
  ],
  'chat.create/400-invalid-role': [
    ...['username', 'qwertzuiopas', 'constructor', 17, ['user']].map((role) => message({ role })),
    earlier({ ...hello, role: 17 }),
  ],
  'chat.create/400-unsupported-model': member(
    'model',
    17,
    'm-1none',
    'm-none',
    'm-none',
    'constructor',
  ),
  'chat.create/400-malformed-tools': [
    ...member('tools', 'graph', false, llm, [llm, 17]),
    ...tools(17, { function: {} }, { type: 17 }, { type: 'llm' }, { type: 'llm', function: {} }),
    ...tools(...wrongFunctions.map((own) => ({ type: 'llm', function: own }))),
  ],
  'chat.create/400-malformed-tool-choice': member('tool_choice', ...others['choice']!),
  'chat.create/400-invalid-stream': member('stream', ...others['stream']!),
  'chat.create/400-invalid-stream-options': others['options']!.map((stream_options) => {
    return { merge: { stream: true, stream_options } }
  }),
  'chat.create/400-malformed-response-format': member(
    'response_format',
    ...others['responseFormat']!,
  ),
  'chat.create/400-query-config': configs.map(withConfig),
  'files.retrieve/404-unknown-file': path(
    'file_id',
    ...near(file),
    unknown,
    unknown,
    graph,
    'file_tea_8b21c47f6d00',
  ),
  'files.retrieve/410-deleted-file': path('file_id', resources.deletedFile, resources.deletedFile),
  'graphs.create/400-malformed-parameters': member('name', 17, false),
  'graphs.create/400-duplicate-name': member('name', 'Tea'),
  'graphs.add-file/404-unknown-graph': path('graph_id', ...near(graph), unknown, unknown, pdfFile),
  'graphs.query/404-unknown-graph': path('graph_id', ...near(graph), unknown, unknown, pdfFile),
  'graphs.query/400-query-config': member('query_config', ...configs),
  'graphs.query/400-malformed-parameters': member('query', 17),
  'applications.create/400-malformed-parameters': member('name', [17]),
  'applications.create/400-duplicate-name': member('name', 'Writer'),
  'ai-detect.run/400-empty-text': member('input', ''),
  'ai-detect.run/400-malformed-text': member('input', 17),
  'web-search.run/400-empty-query': member('query', ''),
  'web-search.run/400-malformed-query': member('query', { text: 'tea' }),
  'medical.comprehend/400-malformed-request': [
    ...member('content', 17),
    ...member('response_type', 17, ['Entities']),
  ],
  'translate.run/400-unsupported-language': [
    ...member('target', 17, 'denglish', 'xx', 'xx', 'constructor'),
    ...member('source', ['en'], 'xx'),
  ],
  'translate.run/400-empty-text': member('text', ''),
  'translate.run/400-malformed-text': member('text', 17),
  'vision.analyze/400-malformed-request': [
    ...member('prompt', 17),
    ...member('variables', 'image'),
    ...[
      [17],
      [{ ...picture, name: 17 }],
      [{ ...picture, file_id: [picture.file_id] }],
      [picture, { ...picture, name: 17 }],
    ].map((variables) => ({ merge: { variables } })),
  ],
  'vision.analyze/4xx-unknown-file': [unknown, resources.deletedFile].map((file_id) => ({
    merge: { variables: [{ ...picture, file_id }] },
  })),
  'graphs.add-file/4xx-unknown-file': member('file_id', unknown, resources.deletedFile),
  'files.upload/4xx-unknown-graph': [{ query: { graphId: unknown } }],
}

/** A requirement on a refusal: the change that brings it about, and the pairs `status tpe` that answer it. */
type Row = readonly [id: string, change: Change | 'scenario', ...pairs: string[]]

/** Pairs of that one change alone: for the model no other name will do. */
const narrower = (id: string, { merge }: Change) =>
  id === 'completion.create/400-malformed-request' && merge && 'model' in merge
    ? ['400 BadRequest']
    : undefined

/** The pairs of the catalogue, as text. `tests/spec/requirements.txt` guards them. */
function pairsFor(id: string, isScenario = false): string[] {
  const row = catalogue.find((each) => each.id === id)
  if (!row || !isRefusal(row.expects)) throw new Error(`${id} is no refusal`)
  const operation = (target.scenarios[id]?.operation ?? row.operation) as OperationId
  const pairs = (isScenario ? pairsByScenario : pairsOf)(row, operation)
  return pairs.flatMap(([status, ...names]) =>
    (names.length > 0 ? names : ['*']).map((name) => `${status} ${name}`),
  )
}

const byScenario = Object.keys(target.scenarios).flatMap((id): readonly Row[] => {
  const isOfRefusal = isRefusal(catalogue.find((row) => row.id === id)?.expects)
  return isOfRefusal ? [[id, 'scenario', ...pairsFor(id, true)]] : []
})

const everywhere = Object.assign({}, ...Object.keys(routes).map(changesEverywhere)) as typeof own

/** Paths that the spec names beside those of two operations (§4.4): what is refused is refused there, too. */
const otherPaths: Readonly<Record<string, string>> = {
  'chat.create': '/v1/chat',
  'vision.analyze': '/v1/vision',
}

function alsoElsewhere(id: string, changes: readonly Change[]): readonly Change[] {
  const path = id.includes('/401-') ? undefined : otherPaths[id.slice(0, id.indexOf('/'))]
  return path === undefined ? changes : [...changes, { ...changes[0], path }]
}

/** Every requirement on a refusal, but those that are a story of several requests. */
export const refusalRows: readonly Row[] = [
  ...Object.entries({ ...everywhere, ...own }).flatMap(([id, changes]) =>
    alsoElsewhere(id, changes).map((change): Row => [
      id,
      change,
      ...(narrower(id, change) ?? pairsFor(id)),
      ...(change.mayLack ?? []),
    ]),
  ),
  ...byScenario,
]

/** Whether an answer is one of the pairs, and an envelope. */
export function isRefused(answer: Reply, pairs: readonly string[]): boolean {
  const { json, status } = answer
  const whole =
    typeof json?.tpe === 'string' && Array.isArray(json.errors) && typeof json.extras === 'object'
  // What the names of statuses leave out: see `Pair` in catalogue/requirement.ts.
  const is4xx = status >= 400 && status < 500 && status !== 401 && status !== 429
  const isOfBody = is4xx && status !== 403 && status !== 404
  const statuses = [
    'any',
    String(status),
    ...(is4xx ? ['4xx'] : []),
    ...(isOfBody ? ['4xx-body'] : []),
    ...([400, 403, 404, 410, 422].includes(status) ? ['4xx-id'] : []),
  ]
  return (
    whole &&
    pairs.some((pair) =>
      statuses.some((each) => [`${each} ${json.tpe}`, `${each} *`].includes(pair)),
    )
  )
}

/** Sends what the row is about. */
export function provoke(server: Server, [id, change]: Row): Promise<Reply> {
  return change === 'scenario'
    ? play(server, id)
    : send(server, id.slice(0, id.indexOf('/')), change)
}
