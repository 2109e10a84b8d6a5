import {
  type Member,
  missingMember,
  type Operation,
  queryConfigIn,
  type Reads,
} from './operation.ts'

const messages = { type: '400-malformed-messages' }
const inMessages = { absent: messages.type, type: messages.type }
const tools = { type: '400-malformed-tools' }
const inTools = { absent: tools.type, type: tools.type }

const unknownFile = '4xx-unknown-file'

/** §2.8, and §7.3 for `stream` and `stream_options`. */
// oxfmt-ignore
const chatMembers = [
  { at: '/model', role: 'model', isChosen: true, kinds: ['string'], section: '2.8', judgedBy: { type: '400-unsupported-model', value: '400-unsupported-model' } },
  { at: '/messages', role: 'messages', kinds: ['array'], section: '2.8', judgedBy: { ...messages, absent: missingMember } },
  { at: '/messages/*', kinds: ['object'], section: '2.8', judgedBy: { ...messages, null: messages.type }, component: 'ChatMessage' },
  { at: '/messages/*/role', isChosen: true, kinds: ['string'], section: '2.8', required: true, judgedBy: { absent: messages.type, null: '400-invalid-role', type: '400-invalid-role', value: '400-invalid-role' } },
  { at: '/messages/*/content', kinds: ['string', 'array'], section: '2.8', judgedBy: messages },
  { at: '/messages/*/content/*', kinds: ['object'], section: '2.8', judgedBy: { ...messages, null: messages.type }, component: 'ContentPart' },
  { at: '/messages/*/content/*/type', kinds: ['string'], section: '2.8', required: true, allowed: ['text', 'image_url'], judgedBy: inMessages },
  { at: '/messages/*/content/*/text', ofType: 'text', kinds: ['string'], section: '2.8', required: true, judgedBy: inMessages },
  { at: '/messages/*/content/*/image_url', ofType: 'image_url', supportedIf: '200-image-parts', kinds: ['object'], section: '2.8', required: true, judgedBy: inMessages },
  { at: '/messages/*/content/*/image_url/url', ofType: 'image_url', supportedIf: '200-image-parts', kinds: ['string'], section: '2.8', required: true, judgedBy: inMessages, description: 'A web address or a data URL.' },
  { at: '/tools', role: 'tools', kinds: ['array'], section: '2.8', judgedBy: tools, isExtra: true, example: { tools: [{ type: 'llm', function: { description: 'Answers questions', model: '<model>' } }] } },
  { at: '/tools/*', kinds: ['object'], section: '2.8', judgedBy: { ...tools, null: tools.type }, component: 'ChatTool', description: '§2.8 shows the tool of type `llm`. Members of other tools are not shown.' },
  { at: '/tools/*/type', kinds: ['string'], section: '2.8', required: true, shows: 'llm', judgedBy: inTools },
  { at: '/tools/*/function', ofType: 'llm', kinds: ['object'], section: '2.8', required: true, judgedBy: { ...inTools, empty: tools.type } },
  { at: '/tools/*/function/description', ofType: 'llm', kinds: ['string'], section: '2.8', judgedBy: tools },
  { at: '/tools/*/function/model', ofType: 'llm', kinds: ['string'], section: '2.8', required: true, judgedBy: inTools, description: 'The model to delegate to.' },
  { at: '/tool_choice', role: 'tool_choice', kinds: ['string'], tolerates: ['object'], section: '2.8', shows: 'auto', isExtra: true, judgedBy: { type: '400-malformed-tool-choice' } },
  { at: '/stream', role: 'stream', kinds: ['boolean'], section: '7.3', isExtra: true, judgedBy: { type: '400-invalid-stream' } },
  { at: '/stream_options', role: 'stream_options', kinds: ['object'], section: '7.3', isExtra: true, judgedBy: { type: '400-invalid-stream-options' } },
  { at: '/response_format', role: 'response_format', kinds: ['object'], tolerates: ['boolean'], section: '2.8', judgedBy: { type: '400-malformed-response-format' }, component: 'ResponseFormat', example: { response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema: { type: 'object', properties: { answer: { type: 'string' } } } } } } },
  { at: '/response_format/type', kinds: ['string'], section: '2.8', shows: 'json_schema' },
  { at: '/response_format/json_schema', ofType: 'json_schema', kinds: ['object'], section: '2.8' },
  { at: '/response_format/json_schema/name', ofType: 'json_schema', kinds: ['string'], section: '2.8' },
  { at: '/response_format/json_schema/schema', ofType: 'json_schema', kinds: ['object'], section: '2.8' },
  { at: '/response_format/json_schema/strict', ofType: 'json_schema', kinds: ['boolean'], section: '2.8' },
  ...queryConfigIn('{query_config}', '/tools/0/query_config', { tools: [{ type: 'graph', graph_ids: ['<graph id>'] }] }),
] as const satisfies readonly Member[]

/** The operations of the interface (§4): everything that the suite knows of an operation follows from its record. */

const noPayloads = 'Payloads are not shown.'
const noResponse = 'The response is not shown.'
const [ofFiles, ofGraphs, ofApplications] = [
  ['/resources/file', '/resources/pdfFile'],
  ['/resources/graph'],
  ['/resources/application/id'],
] as const
const file = { declaredAt: '/resources/file', others: [...ofGraphs, ...ofApplications] }
const graph = { declaredAt: '/resources/graph', others: [...ofFiles, ...ofApplications] }
/** §7.3: errors of most operations. */
const usualErrors = [
  [400, 'BadRequest', 'InvalidInputParameters'],
  [429, 'QuotaExceeded'],
  [500, 'InternalError'],
] as const
/** A role that is text; a server may accept several texts. */
const text = { kinds: ['string'], tolerates: ['array'] } as const

// oxfmt-ignore
export const operations = [
  { id: 'pdf.parse', method: 'POST', path: '/v1/tools/pdf-parser/{file_id}', otherPaths: [], body: 'json', section: '4.1',
    errors: usualErrors,
    summary: 'Parse a PDF', description: 'Deprecated, and scheduled for removal on December 22, 2025 (§9).', deprecated: true,
    params: { file_id: { declaredAt: '/resources/pdfFile', needs: ['/resources/pdfFile', '/operations/files.upload'], others: [...ofGraphs, ...ofApplications] } },
    request: { component: 'PdfParseRequest', description: '§2.1.' },
    isWhole: true, example: { format: 'text' }, effect: 'none', response: 'pdf-content', showsSuccess: true,
    members: [
      { at: '/format', kinds: ['string'], section: '2.1', required: true, allowed: ['text', 'markdown'],
        judgedBy: { absent: '400-missing-format', null: '400-malformed-format', type: '400-malformed-format', empty: '400-unsupported-format', value: '400-unsupported-format' } },
    ] },
  { id: 'jobs.create', method: 'POST', path: '/v1/applications/{application_id}/jobs', otherPaths: [], body: 'json', section: '4.2',
    errors: [...usualErrors, [404, 'ResourceNotFound'], [409, 'BadRequest']],
    summary: 'Create a job of an application', description: 'An application can have one job in progress at a time (§8). The result is read with `jobs.retrieve`.',
    params: { application_id: { declaredAt: '/resources/application/id', needs: ['/resources/application'], others: [...ofGraphs, ...ofFiles] } },
    request: { component: 'CreateJobRequest', description: '§2.5.' },
    isWhole: true, example: { inputs: [{ id: '<input id>', value: ['tea'] }] }, effect: 'generates', response: 'created-job', showsSuccess: true, busy: 409,
    creates: { what: 'a job', idAt: '/id', usedBy: [{ operation: 'jobs.retrieve', param: 'job_id' }] },
    members: [
      { at: '/inputs', kinds: ['array'], section: '2.5', required: true, declaredAt: '/resources/application/inputs', judgedBy: { absent: '400-missing-inputs', null: '400-malformed-inputs', type: '400-malformed-inputs', empty: '400-missing-required-inputs' } },
      { at: '/inputs/*', kinds: ['object'], section: '2.5', component: 'ApplicationInput', judgedBy: { null: '400-malformed-inputs', type: '400-malformed-inputs' },
        description: '§2.5: the members of the sample request. Further ones are not shown.' },
      { at: '/inputs/*/id', isId: true, kinds: ['string'], section: '2.5', required: true, judgedBy: { absent: '400-malformed-inputs', null: '400-malformed-inputs', type: '400-malformed-inputs' }, description: 'Name of the application input.' },
      { at: '/inputs/*/value', kinds: ['array'], tolerates: ['string'], section: '2.5', judgedBy: { absent: '400-malformed-inputs', null: '400-malformed-inputs', type: '400-malformed-inputs' } },
      { at: '/inputs/*/value/*', kinds: ['string'], isLimited: true, section: '2.5', judgedBy: { null: '400-malformed-inputs', type: '400-malformed-inputs', empty: '202-any-text' } },
    ] },
  { id: 'jobs.retrieve', method: 'GET', path: '/v1/applications/jobs/{job_id}', otherPaths: [], body: 'none', section: '4.3',
    summary: 'Retrieve a job', params: { job_id: { declaredAt: '/resources/job', needs: ['/resources/application', '/resources/job'], format: 'uuid', others: [...ofApplications, ...ofGraphs] } },
    members: [], effect: 'none', response: 'job', showsSuccess: true, reads: { declaredAt: '/resources/job', madeBy: 'jobs.create', everyMs: 1000 } },
  { id: 'completion.create', method: 'POST', path: '/v1/completion', otherPaths: [], body: 'json', section: '4.4',
    errors: [[400, 'BadRequest', 'InvalidInputParameters', 'InvalidContentType'], [429, 'CompletionModelQuotaError'], [500, 'CompletionModelUnavailableError', 'CompletionModelInternalError']],
    summary: 'Generate text', description: noPayloads, example: { model: '<model>', prompt: 'Hello' }, effect: 'generates',
    members: [
      { at: '{model}', isChosen: true, kinds: ['string'], section: '7.3', judgedBy: { type: '400-malformed-request', value: '400-unsupported-model' } },
      { at: '{prompt}', ...text, section: '7.3', judgedBy: { absent: missingMember, type: '400-malformed-request', empty: '400-empty-prompt', value: '400-bad-encoding' } },
      { at: '{temperature}', kinds: ['number'], section: '7.3', judgedBy: { type: '400-invalid-temperature' } },
      { at: '{max_tokens}', kinds: ['number'], section: '7.3', judgedBy: { type: '400-invalid-max-tokens' } },
      // Its type is that of the value in the declared body.
      { at: '{parameter}', kinds: [], section: '7.3', judgedBy: { type: '400-invalid-parameter' }, exampleAt: '/top_p', example: { top_p: 0.9 } },
    ] },
  { id: 'chat.create', method: 'POST', path: '/v1/chat/completions', otherPaths: ['/v1/chat'], body: 'json', section: '4.4',
    errors: [[400, 'BadRequest', 'InvalidInputParameters', 'InvalidContentType', 'CompletionModelUnsafeRequestError'], [429, 'CompletionModelQuotaError'], [500, 'CompletionModelInternalError'], [503, 'CompletionModelUnavailableError']],
    summary: 'Complete a chat', example: { model: '<model>', messages: [{ role: 'user', content: 'Hello' }] },
    request: { component: 'ChatRequest', description: '§2.8: the members that are named. A tool for knowledge graphs takes a `QueryConfig` (§2.7).' },
    members: chatMembers, settingsWith: ['tools', 'tool_choice'], effect: 'generates', response: 'chat-completion' },
  { id: 'files.upload', method: 'POST', path: '/v1/files', otherPaths: [], body: 'raw', section: '4.4',
    errors: [...usualErrors, [400, 'InvalidContentType'], [413, 'BadRequest'], [507, 'QuotaExceeded']],
    summary: 'Upload a file', description: `The body is the file, labelled with its media type. ${noResponse}`,
    parameters: [
      { name: 'graphId', in: 'query', section: '2.8', description: 'Id of a knowledge graph, to which the file is attached (§2.8). Where it is sent is not shown.',
        declaredAt: '/resources/graph' },
      { name: 'Content-Disposition', in: 'header', section: '2.8', description: 'Attachment with the filename (§2.8).' },
    ],
    members: [], effect: 'creates',
    creates: { what: 'a file', idAt: '/id', idMayMove: true, name: { header: 'content-disposition' }, usedBy: [
      { operation: 'files.retrieve', param: 'file_id' }, { operation: 'pdf.parse', param: 'file_id' }, { operation: 'graphs.add-file', role: 'file' } ] } },
  { id: 'files.list', method: 'GET', path: '/v1/files', otherPaths: [], body: 'none', section: '4.4',
    summary: 'List files', description: noResponse, members: [], effect: 'none', isFirst: true,
    parameters: [{ name: 'file_types', in: 'query', section: '2.8', description: 'Comma-separated file extensions without the dot (§2.8).' }] },
  { id: 'files.retrieve', method: 'GET', path: '/v1/files/{file_id}', otherPaths: [], body: 'none', section: '4.4',
    errors: [[404, 'ResourceNotFound'], [410, 'ResourceNotFound']],
    summary: 'Get a file', description: noResponse, params: { file_id: file }, members: [], effect: 'none' },
  { id: 'graphs.create', method: 'POST', path: '/v1/knowledge-graphs', otherPaths: [], body: 'json', section: '4.4',
    errors: usualErrors,
    summary: 'Create a knowledge graph', description: noPayloads, example: { name: 'conform' }, effect: 'creates',
    members: [{ at: '/name', role: 'name', kinds: ['string'], section: '7.3', judgedBy: { type: '400-malformed-parameters', value: '400-invalid-name' } }],
    creates: { what: 'a graph', hasUniqueName: true, idAt: '/id', idMayMove: true, name: { role: 'name' }, usedBy: [
      { operation: 'graphs.query', param: 'graph_id' }, { operation: 'graphs.add-file', param: 'graph_id' } ] } },
  { id: 'graphs.add-file', method: 'POST', path: '/v1/knowledge-graphs/{graph_id}/files', otherPaths: [], body: 'json', section: '4.4',
    errors: [[400, 'BadRequest', 'InvalidInputParameters'], [404, 'ResourceNotFound'], [409, 'BadRequest'], [429, 'QuotaExceeded']],
    summary: 'Add a file to a knowledge graph', description: noPayloads, params: { graph_id: graph }, example: { file_id: '<file id>' }, effect: 'creates', freshFileAt: 'file', alreadyDone: [409, 'BadRequest'],
    // File ids have any form.
    members: [{ at: '{file}', isId: true, isFile: true, kinds: [], section: '7.3', exampleAt: '/file_id', judgedBy: { absent: missingMember, unknown: unknownFile } }] },
  { id: 'graphs.query', method: 'POST', path: '/v1/knowledge-graphs/{graph_id}/query', otherPaths: [], body: 'json', section: '4.4',
    errors: [...usualErrors, [404, 'ResourceNotFound']],
    summary: 'Query a knowledge graph', description: `${noPayloads} A query takes a \`query_config\` (§2.7).`, params: { graph_id: graph }, example: { query: 'What is tea?' },
    request: { component: 'GraphQueryRequest', description: 'Not shown, but that it takes a `query_config` (§2.7).' }, effect: 'generates',
    members: [
      { at: '{query}', ...text, section: '7.3', judgedBy: { absent: missingMember, type: '400-malformed-parameters' } },
      ...queryConfigIn('{query_config}', '/query_config'),
    ] },
  { id: 'applications.create', method: 'POST', path: '/v1/applications', otherPaths: [], body: 'json', section: '4.4',
    errors: usualErrors,
    summary: 'Create an application', description: noPayloads, example: { name: 'conform' }, effect: 'creates',
    members: [{ at: '/name', role: 'name', kinds: ['string'], section: '7.3', judgedBy: { type: '400-malformed-parameters' } }],
    creates: { what: 'an application', hasUniqueName: true, idAt: '/id', idMayMove: true, name: { role: 'name' }, usedBy: [{ operation: 'jobs.create', param: 'application_id' }] } },
  { id: 'ai-detect.run', method: 'POST', path: '/v1/tools/ai-detect', otherPaths: [], body: 'json', section: '4.4',
    errors: usualErrors,
    summary: 'Detect generated text', description: noPayloads, example: { text: 'Tea is a drink.' }, effect: 'none',
    members: [{ at: '{text}', ...text, isLimited: true, section: '7.3', judgedBy: { absent: missingMember, type: '400-malformed-text', empty: '400-empty-text' } }] },
  { id: 'web-search.run', method: 'POST', path: '/v1/tools/web-search', otherPaths: [], body: 'json', section: '4.4',
    errors: [...usualErrors, [503, 'InternalError']],
    summary: 'Search the web', description: noPayloads, example: { query: 'tea' }, effect: 'none',
    members: [{ at: '{query}', ...text, isLimited: true, section: '7.3', judgedBy: { absent: missingMember, type: '400-malformed-query', empty: '400-empty-query' } }] },
  { id: 'medical.comprehend', method: 'POST', path: '/v1/tools/comprehend/medical', otherPaths: [], body: 'json', section: '4.4',
    summary: 'Analyze a medical text', description: 'Deprecated: its replacement is a chat with an `llm` tool (§9).', deprecated: true,
    request: { component: 'MedicalRequest', description: '§2.8: the members that are named.' },
    example: { content: 'Tea eased the cough.', response_type: 'Entities' }, effect: 'none', response: 'medical-entities',
    members: [
      { at: '/content', role: 'content', ...text, section: '2.8', judgedBy: { absent: missingMember, type: '400-malformed-request' } },
      { at: '/response_type', role: 'response_type', kinds: ['string'], section: '2.8', shows: 'Entities', judgedBy: { type: '400-malformed-request' } },
    ] },
  { id: 'translate.run', method: 'POST', path: '/v1/translate', otherPaths: [], body: 'json', section: '4.4',
    errors: [...usualErrors, [503, 'InternalError']],
    summary: 'Translate a text', description: noPayloads, example: { text: 'Hello', source: 'en', target: 'de' }, effect: 'generates',
    members: [
      { at: '{text}', ...text, isLimited: true, section: '7.3', judgedBy: { absent: missingMember, type: '400-malformed-text', empty: '400-empty-text' } },
      { at: '{source}', isChosen: true, kinds: ['string'], section: '7.3', judgedBy: { type: '400-unsupported-language', value: '400-unsupported-language' } },
      { at: '{target}', isChosen: true, kinds: ['string'], section: '7.3', judgedBy: { type: '400-unsupported-language', value: '400-unsupported-language' } },
    ] },
  { id: 'vision.analyze', method: 'POST', path: '/v1/vision/analyze', otherPaths: ['/v1/vision'], body: 'json', section: '4.4',
    errors: [...usualErrors, [400, 'InvalidContentType'], [503, 'InternalError']],
    summary: 'Analyze images', description: noResponse, effect: 'generates',
    request: { component: 'VisionRequest', description: '§2.8: the members that are named.' },
    example: { model: '<model>', prompt: 'What is on {{picture}}?', variables: [{ name: 'picture', file_id: '<file id>' }] },
    members: [
      { at: '/model', role: 'model', isChosen: true, kinds: ['string'], section: '2.8' },
      { at: '/prompt', role: 'prompt', ...text, section: '2.8', judgedBy: { absent: missingMember, type: '400-malformed-request' }, description: 'May hold placeholders, written `{{name}}`.' },
      { at: '/variables', role: 'variables', kinds: ['array'], section: '2.8', judgedBy: { type: '400-malformed-request' } },
      { at: '/variables/*', kinds: ['object'], section: '2.8', judgedBy: { type: '400-malformed-request' } },
      { at: '/variables/*/name', kinds: ['string'], section: '2.8', judgedBy: { type: '400-malformed-request' } },
      // A server may accept a number whose digits are an id.
      { at: '/variables/*/file_id', isId: true, isFile: true, kinds: ['string'], tolerates: ['number'], section: '2.8', judgedBy: { type: '400-malformed-request', unknown: unknownFile } },
    ] },
] as const satisfies readonly Operation[]

type Listed = (typeof operations)[number]
export type OperationId = Listed['id']

/** Operations with a JSON body, which can be malformed or have a wrong content type. */
export type JsonOperationId = Extract<Listed, { body: 'json' }>['id']

const byId = new Map<string, Operation>(operations.map((operation) => [operation.id, operation]))

type With<List extends 'members' | 'errors', Item, One = Listed> = One extends {
  readonly id: infer Id
} & Readonly<Record<List, readonly (infer Of)[]>>
  ? [Extract<Of, Item>] extends [never]
    ? never
    : Id
  : never

export type DeprecatedId = Extract<Listed, { readonly deprecated: true }>['id']

/** Operations that need a member to be meaningful, though the spec does not call it required. */
export type EssentialId = With<
  'members',
  { readonly judgedBy: { readonly absent: typeof missingMember } }
>

export type FailingId = With<'errors', readonly [500, 'InternalError']>

function idWith(holds: (operation: Operation) => boolean): OperationId {
  const found = operations.find(holds)
  if (!found) throw new Error('no operation of that kind')
  return found.id
}

export const firstOperation = idWith(({ isFirst }) => isFirst ?? false)
/** The operation that reads one object at another path than the first request. */
export const readingOperation = idWith(
  ({ method, params }) => method === 'GET' && params !== undefined,
)
/** The operation that creates the files that requests need. */
export const uploadOperation = idWith(({ body }) => body === 'raw')
/** The operation that needs a newly uploaded file each time. */
export const additionOperation = idWith(({ freshFileAt }) => freshFileAt !== undefined)

/** How often a valid request is repeated if it fails: generated answers vary. */
export function triesOf(id: OperationId): number {
  return operation(id).effect === 'generates' ? 5 : 1
}

export function numberOf(id: OperationId): number {
  return operations.findIndex((one) => one.id === id)
}

/** Throws on an unknown id, which is a bug of the suite. */
export function operation(id: OperationId): Operation {
  const found = byId.get(id)
  if (!found) throw new Error(`no operation ${id}`)
  return found
}

/**
 * The pointer of the object that an operation reads, if any, and the operation that creates one if none is declared.
 */
export function readsOf(id: OperationId): Reads<OperationId> | undefined {
  return operation(id).reads as Reads<OperationId> | undefined
}

/** The status by which the object in an operation's path reports that it is busy (§8). */
export function busyStatus(id: OperationId | null): number | undefined {
  return id === null ? undefined : operation(id).busy
}

export function isOperationId(id: string): id is OperationId {
  return byId.has(id)
}
