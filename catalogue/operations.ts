export const jsonKinds = ['null', 'boolean', 'number', 'string', 'array', 'object'] as const
export type JsonKind = (typeof jsonKinds)[number]

export type Effect = 'none' | 'generates' | 'creates' | 'destroys'

/** `type`: another type; `empty`: an empty text; `value`: an excluded one of its type; `unknown`: such an id. */
export type MemberFault = 'absent' | 'null' | 'type' | 'empty' | 'value' | 'unknown'

/**
 * The condition for a member that a request needs to be meaningful, though the spec does not call it required (§7.2).
 */
export const missingMember = '4xx-missing-member'

export interface Member {
  /**
   * Its place in the body: a JSON Pointer, `*` for each array item. `{role}` at the beginning means that the spec shows
   * no place: the target file declares the pointer of that role, and members below move with it.
   */
  readonly at: string
  /** The types that the spec shows, if any. */
  readonly kinds: readonly JsonKind[]
  /** A server may accept these too. */
  readonly tolerates?: readonly JsonKind[]
  readonly section: string
  /** Its name in `fields` of the target file, which may declare another place. */
  readonly role?: string
  /** The documented shape has it, or each existing item does. */
  readonly required?: true
  /** The condition that shows whether the target supports this part of the body. */
  readonly supportedIf?: string
  /** Only items with this `type` have it. */
  readonly ofType?: string
  readonly allowed?: readonly string[]
  /** Its value is one of the target's own (a model, a role), and no other one begins like it. */
  readonly isChosen?: true
  /** The id of an object, or the name of an input: an unknown one has the shape of the declared one. */
  readonly isId?: true
  /** The object is a file, so a deleted one is unknown. */
  readonly isFile?: true
  /** Its maximum length is not documented (§2.5, §7.3, §8). */
  readonly isLimited?: true
  readonly shows?: string
  /** The condition that judges each fault; others are judged by `bad-input-no-5xx`. */
  readonly judgedBy?: Readonly<Partial<Record<MemberFault, string>>>
  /** Some accepted values. */
  readonly inside?: readonly unknown[]
  readonly outside?: readonly unknown[]
  /** The place in an example to paste, for a role without a place of its own. */
  readonly exampleAt?: string
  /** Further members that an example to paste needs for it. */
  readonly example?: Readonly<Record<string, unknown>>
  readonly declaredAt?: string
  /** A valid request has it only for a requirement about it. */
  readonly isExtra?: true
  readonly component?: string
  readonly description?: string
}

/** A member as listed. Defaults: a string; §2.8 if the spec shows its place, §7.3 if not; the role is its name. */
type WrittenMember = Omit<Member, 'kinds' | 'section'> & Partial<Pick<Member, 'kinds' | 'section'>>

/** A query member or header that the spec names. */
export interface Parameter {
  readonly name: string
  readonly in: 'query' | 'header'
  readonly description: string
  readonly declaredAt?: string
}

interface PathParameter {
  readonly declaredAt: string
  /** One of these must be declared; default: `declaredAt`. */
  readonly needs?: readonly string[]
  readonly format?: 'uuid'
  /** Objects of other kinds in the target file, whose ids are unknown here. */
  readonly others: readonly string[]
}

/** How a created object is used: by its id in the path, or at a role of the body. */
type Use =
  | { readonly operation: string; readonly param: string }
  | { readonly operation: string; readonly role: string }

/** The object that an operation creates, if it has an id. */
interface Creates {
  /** In a sentence: `a graph`. */
  readonly what: string
  /** Of the new id, in the response. */
  readonly idAt: string
  /** The spec does not show it: the target file may declare another, as `fields.id`. */
  readonly idMayMove?: true
  readonly name?: { readonly role: string } | { readonly header: string }
  /** §7.3: an existing name is refused. */
  readonly hasUniqueName?: true
  readonly usedBy: readonly Use[]
}

export type ErrorTable = readonly (readonly [status: number, ...tpe: string[]])[]

export interface Operation {
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path template, with parameters in braces, relative to the base URL. */
  readonly path: string
  /** §4.4 */
  readonly otherPaths: readonly string[]
  readonly params?: Readonly<Record<string, PathParameter>>
  /** `json` is required; `raw`: the bytes of a file. */
  readonly body: 'json' | 'raw' | 'none'
  readonly section: string
  readonly summary: string
  readonly description?: string
  /** §9: removed, or may be. */
  readonly deprecated?: true
  readonly parameters?: readonly Parameter[]
  /** The body in the OpenAPI document; absent without documented members. */
  readonly request?: { readonly component: string; readonly description: string }
  /** What the spec names or describes of the body. */
  readonly members: readonly Member[]
  /** The spec shows the whole body, so the target file declares none. */
  readonly isWhole?: true
  /** An example body to paste, with `<placeholders>`. */
  readonly example?: Readonly<Record<string, unknown>>
  readonly effect: Effect
  readonly creates?: Creates
  /** Name of the schema (in `schemas/`) of its success; absent if the spec shows none. */
  readonly response?: string
  /** §4.1 to §4.3 show its whole success, which is JSON. */
  readonly showsSuccess?: true
  /** The first request of a run: any target answers it somehow. */
  readonly isFirst?: true
  /** §8: the object in its path handles one request at a time, and refuses others with that status. */
  readonly busy?: number
  /** §7.3: the types of its errors; absent without a row. */
  readonly errors?: ErrorTable
  /** §7.3: the requirement by which it refuses a valid request whose effect exists already. */
  readonly alreadyDone?: string
  /** Extra members that a request needs before it can have a query_config. */
  readonly settingsWith?: readonly string[]
  /** It reads an object that the target declares at this pointer, or that another operation's control creates. */
  readonly reads?: { readonly declaredAt: string; readonly madeBy: string }
  /** Each request names a newly uploaded file at this role of its body. */
  readonly freshFileAt?: string
}

export function examplePlace(member: Member): string {
  return member.exampleAt ?? (member.at.startsWith('/') ? member.at : `/${member.at.slice(1, -1)}`)
}

/** The wrong types for a member, except `null`, which may mean absence. */
export function otherKinds(member: Member): JsonKind[] {
  const { kinds, tolerates = [] } = member
  const right = ['null', ...kinds, ...tolerates]
  return kinds.length === 0 ? [] : jsonKinds.filter((kind) => !right.includes(kind))
}

/**
 * The place of the member in the target's bodies, `*` for each item; undefined if it must be declared and is not.
 * @param fields declared pointers by role
 */
export function placeOf(
  members: readonly Member[],
  member: Member,
  fields: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const [prefix, role] = /^\{(\w+)\}/.exec(member.at) ?? []
  const above = prefix
    ? { role, at: prefix }
    : members.find((one) => one.role !== undefined && `${member.at}/`.startsWith(`${one.at}/`))
  const declared = above?.role === undefined ? undefined : fields[above.role]
  if (above && declared !== undefined) return declared + member.at.slice(above.at.length)
  return prefix ? undefined : member.at
}

/** §2.7: the members of `query_config`, their bounds and defaults. */
export interface QueryConfigMember {
  readonly name: string
  readonly kind: 'boolean' | 'integer' | 'fraction'
  /** Accepted values: the bounds, and one between. */
  readonly inside: readonly unknown[]
  /** Just outside the bounds, common values for "no limit", and far away; empty if bounds are only recommended. */
  readonly outside: readonly number[]
  readonly range?: readonly [number, number]
  readonly default?: number
}

const far = [70_000, 2 ** 31, -(2 ** 31)]
/** What exceeds a range by this is in it after a cast to 32 bits. */
const wrap = 2 ** 32
const none = -1
const ofFraction = [-0.01, 1.01, -0.5, 1.5, none, ...far]

// oxfmt-ignore
export const queryConfigMembers: readonly QueryConfigMember[] = [
  { name: 'inline_citations',   kind: 'boolean',  inside: [true, false],      outside: [] },
  { name: 'search_weight',      kind: 'integer',  inside: [0, 100, 50],       outside: [-1, 101, ...far, wrap + 50], range: [0, 100], default: 50 },
  { name: 'max_subquestions',   kind: 'integer',  inside: [1, 10, 6],         outside: [0, 11, none, ...far, wrap + 6], range: [1, 10], default: 6 },
  { name: 'grounding_level',    kind: 'fraction', inside: [0, 1, 0.5],        outside: ofFraction, range: [0, 1], default: 0 },
  // 5 to 25 is recommended and the default is 30: other values may be accepted or refused.
  { name: 'max_snippets',       kind: 'integer',  inside: [5, 25, 30],        outside: [],          range: [5, 25], default: 30 },
  { name: 'max_tokens',         kind: 'integer',  inside: [100, 8000, 4000],  outside: [99, 8001, 0, none, ...far, wrap + 4000], range: [100, 8000], default: 4000 },
  { name: 'keyword_threshold',  kind: 'fraction', inside: [0, 1, 0.7],        outside: ofFraction, range: [0, 1], default: 0.7 },
  { name: 'semantic_threshold', kind: 'fraction', inside: [0, 1, 0.7],        outside: ofFraction, range: [0, 1], default: 0.7 },
]

/** In so many configurations each bound of a member meets each bound of every other. */
export const togetherCases = 6

function queryConfigIn(at: string, exampleAt: string, example: Member['example'] = {}): Member[] {
  const type = '400-query-config'
  const section = '2.7'
  const judgedBy = { type }
  return [
    {
      at,
      kinds: ['object'],
      tolerates: ['boolean'],
      section,
      judgedBy,
      exampleAt,
      example,
      component: 'QueryConfig',
    },
    ...queryConfigMembers.map(({ name, kind, inside, outside }): Member => {
      // Lenient conversions: a boolean for a number and a number for a boolean are only checked for a 5xx.
      const [own, lenient] =
        kind === 'boolean' ? (['boolean', 'number'] as const) : (['number', 'boolean'] as const)
      const value = outside.length > 0 ? { value: type } : {}
      const bounds = { judgedBy: { type, ...value }, inside, outside }
      return { at: `${at}/${name}`, kinds: [own], tolerates: [lenient], section, ...bounds }
    }),
  ]
}

const messages = { type: '400-malformed-messages' }
const inMessages = { absent: messages.type, null: messages.type, type: messages.type }
const tools = { type: '400-malformed-tools' }
const inTools = { absent: tools.type, null: tools.type, type: tools.type }

const inputs = { null: '400-malformed-inputs', type: '400-malformed-inputs' }
const inInputs = { ...inputs, absent: inputs.type }

const unknownFile = '4xx-unknown-file'

// oxfmt-ignore
const chatMembers = [
  { at: '/model', isChosen: true, judgedBy: { type: '400-unsupported-model', value: '400-unsupported-model' } },
  { at: '/messages', kinds: ['array'], judgedBy: { ...messages, absent: missingMember } },
  { at: '/messages/*', kinds: ['object'], judgedBy: { ...messages, null: messages.type }, component: 'ChatMessage' },
  { at: '/messages/*/role', isChosen: true, required: true, judgedBy: { absent: messages.type, null: '400-invalid-role', type: '400-invalid-role', value: '400-invalid-role' } },
  { at: '/messages/*/content', kinds: ['string', 'array'], judgedBy: messages },
  { at: '/messages/*/content/*', kinds: ['object'], judgedBy: { ...messages, null: messages.type }, component: 'ContentPart' },
  { at: '/messages/*/content/*/type', required: true, allowed: ['text', 'image_url'], judgedBy: inMessages },
  { at: '/messages/*/content/*/text', ofType: 'text', required: true, judgedBy: inMessages },
  { at: '/messages/*/content/*/image_url', ofType: 'image_url', supportedIf: '200-image-parts', kinds: ['object'], required: true, judgedBy: inMessages },
  { at: '/messages/*/content/*/image_url/url', ofType: 'image_url', supportedIf: '200-image-parts', required: true, judgedBy: inMessages, description: 'A web address or a data URL.' },
  { at: '/tools', kinds: ['array'], judgedBy: tools, isExtra: true, example: { tools: [{ type: 'llm', function: { description: 'Answers questions', model: '<model>' } }] } },
  { at: '/tools/*', kinds: ['object'], judgedBy: { ...tools, null: tools.type }, component: 'ChatTool', description: '§2.8 shows the tool of type `llm`. Members of other tools are not shown.' },
  { at: '/tools/*/type', required: true, shows: 'llm', judgedBy: inTools },
  { at: '/tools/*/function', ofType: 'llm', kinds: ['object'], required: true, judgedBy: { ...inTools, empty: tools.type } },
  { at: '/tools/*/function/description', ofType: 'llm', judgedBy: tools },
  { at: '/tools/*/function/model', ofType: 'llm', required: true, judgedBy: inTools, description: 'The model to delegate to.' },
  { at: '/tool_choice', tolerates: ['object'], shows: 'auto', isExtra: true, judgedBy: { type: '400-malformed-tool-choice' } },
  { at: '/stream', kinds: ['boolean'], section: '7.3', isExtra: true, judgedBy: { type: '400-invalid-stream' } },
  { at: '/stream_options', kinds: ['object'], section: '7.3', isExtra: true, judgedBy: { type: '400-invalid-stream-options' } },
  { at: '/response_format', kinds: ['object'], tolerates: ['boolean'], judgedBy: { type: '400-malformed-response-format' }, component: 'ResponseFormat', example: { response_format: { type: 'json_schema', json_schema: { name: 'answer', strict: true, schema: { type: 'object', properties: { answer: { type: 'string' } } } } } } },
  { at: '/response_format/type', shows: 'json_schema' },
  { at: '/response_format/json_schema', ofType: 'json_schema', kinds: ['object'] },
  { at: '/response_format/json_schema/name', ofType: 'json_schema' },
  { at: '/response_format/json_schema/schema', ofType: 'json_schema', kinds: ['object'] },
  { at: '/response_format/json_schema/strict', ofType: 'json_schema', kinds: ['boolean'] },
  ...queryConfigIn('{query_config}', '/tools/0/query_config', { tools: [{ type: 'graph', graph_ids: ['<graph id>'] }] }),
] as const satisfies readonly WrittenMember[]

const noPayloads = 'Payloads are not shown.'
const noResponse = 'The response is not shown.'
const ofFiles = ['/resources/file', '/resources/pdfFile']
const ofGraphs = ['/resources/graph']
const ofApplications = ['/resources/application/id']
const file = { declaredAt: '/resources/file', others: [...ofGraphs, ...ofApplications] }
const graph = { declaredAt: '/resources/graph', others: [...ofFiles, ...ofApplications] }
/** §7.3: errors of most operations. */
const usualErrors = [
  [400, 'BadRequest', 'InvalidInputParameters'],
  [429, 'QuotaExceeded'],
  [500, 'InternalError'],
] as const
/** A role that is text; a server may accept several texts. */
const text = { tolerates: ['array'] } as const

type Optional = 'method' | 'otherPaths' | 'body' | 'section' | 'members' | 'effect'

/**
 * An operation as written. Defaults: POST with JSON, or another method without a body; section 4.4; effect `none`; no other path and
 * no member.
 */
interface OperationRecord
  extends Omit<Operation, Optional>, Partial<Omit<Pick<Operation, Optional>, 'members'>> {
  readonly members?: readonly WrittenMember[]
}

/** The operations of the interface (§4): everything that the suite knows of an operation follows from its record. */
// oxfmt-ignore
const records = [
  { id: 'pdf.parse', path: '/v1/tools/pdf-parser/{file_id}', section: '4.1',
    errors: usualErrors,
    summary: 'Parse a PDF', description: 'Deprecated, and scheduled for removal on December 22, 2025 (§9).', deprecated: true,
    params: { file_id: { declaredAt: '/resources/pdfFile', needs: ['/resources/pdfFile', '/operations/files.upload'], others: [...ofGraphs, ...ofApplications] } },
    request: { component: 'PdfParseRequest', description: '§2.1.' },
    isWhole: true, example: { format: 'text' }, response: 'pdf-content', showsSuccess: true,
    members: [
      { at: '/format', section: '2.1', required: true, allowed: ['text', 'markdown'],
        judgedBy: { absent: '400-missing-format', null: '400-malformed-format', type: '400-malformed-format', empty: '400-unsupported-format', value: '400-unsupported-format' } },
    ] },
  { id: 'jobs.create', path: '/v1/applications/{application_id}/jobs', section: '4.2',
    errors: [...usualErrors, [404, 'ResourceNotFound'], [409, 'BadRequest']],
    summary: 'Create a job of an application', description: 'An application can have one job in progress at a time (§8). The result is read with `jobs.retrieve`.',
    params: { application_id: { declaredAt: '/resources/application/id', needs: ['/resources/application'], others: [...ofGraphs, ...ofFiles] } },
    request: { component: 'CreateJobRequest', description: '§2.5.' },
    isWhole: true, example: { inputs: [{ id: '<input id>', value: ['tea'] }] }, effect: 'generates', response: 'created-job', showsSuccess: true, busy: 409,
    creates: { what: 'a job', idAt: '/id', usedBy: [{ operation: 'jobs.retrieve', param: 'job_id' }] },
    members: [
      { at: '/inputs', kinds: ['array'], section: '2.5', required: true, declaredAt: '/resources/application/inputs', judgedBy: { ...inputs, absent: '400-missing-inputs', empty: '400-missing-required-inputs' } },
      { at: '/inputs/*', kinds: ['object'], section: '2.5', component: 'ApplicationInput', judgedBy: inputs,
        description: '§2.5: the members of the sample request. Further ones are not shown.' },
      { at: '/inputs/*/id', isId: true, section: '2.5', required: true, judgedBy: inInputs, description: 'Name of the application input.' },
      { at: '/inputs/*/value', kinds: ['array'], tolerates: ['string'], section: '2.5', judgedBy: inInputs },
      { at: '/inputs/*/value/*', isLimited: true, section: '2.5', judgedBy: { ...inputs, empty: '202-any-text' } },
    ] },
  { id: 'jobs.retrieve', method: 'GET', path: '/v1/applications/jobs/{job_id}', section: '4.3',
    summary: 'Retrieve a job', params: { job_id: { declaredAt: '/resources/job', needs: ['/resources/application', '/resources/job'], format: 'uuid', others: [...ofApplications, ...ofGraphs] } },
    response: 'job', showsSuccess: true, reads: { declaredAt: '/resources/job', madeBy: 'jobs.create' } },
  { id: 'completion.create', path: '/v1/completion',
    errors: [[400, 'BadRequest', 'InvalidInputParameters', 'InvalidContentType'], [429, 'CompletionModelQuotaError'], [500, 'CompletionModelUnavailableError', 'CompletionModelInternalError']],
    summary: 'Generate text', description: noPayloads, example: { model: '<model>', prompt: 'Hello' }, effect: 'generates',
    members: [
      { at: '{model}', isChosen: true, judgedBy: { type: '400-malformed-request', value: '400-unsupported-model' } },
      { at: '{prompt}', ...text, judgedBy: { absent: missingMember, type: '400-malformed-request', empty: '400-empty-prompt', value: '400-bad-encoding' } },
      { at: '{temperature}', kinds: ['number'], judgedBy: { type: '400-invalid-temperature' } },
      { at: '{max_tokens}', kinds: ['number'], judgedBy: { type: '400-invalid-max-tokens' } },
      // Its type is that of the value in the declared body.
      { at: '{parameter}', kinds: [], judgedBy: { type: '400-invalid-parameter' }, exampleAt: '/top_p', example: { top_p: 0.9 } },
    ] },
  { id: 'chat.create', path: '/v1/chat/completions', otherPaths: ['/v1/chat'],
    errors: [[400, 'BadRequest', 'InvalidInputParameters', 'InvalidContentType', 'CompletionModelUnsafeRequestError'], [429, 'CompletionModelQuotaError'], [500, 'CompletionModelInternalError'], [503, 'CompletionModelUnavailableError']],
    summary: 'Complete a chat', example: { model: '<model>', messages: [{ role: 'user', content: 'Hello' }] },
    request: { component: 'ChatRequest', description: '§2.8: the members that are named. A tool for knowledge graphs takes a `QueryConfig` (§2.7).' },
    members: chatMembers, settingsWith: ['tools', 'tool_choice'], effect: 'generates', response: 'chat-completion' },
  { id: 'files.upload', path: '/v1/files', body: 'raw',
    errors: [...usualErrors, [400, 'InvalidContentType'], [413, 'BadRequest'], [507, 'QuotaExceeded']],
    summary: 'Upload a file', description: `The body is the file, labelled with its media type. ${noResponse}`,
    parameters: [
      { name: 'graphId', in: 'query', description: 'Id of a knowledge graph, to which the file is attached (§2.8). Where it is sent is not shown.',
        declaredAt: '/resources/graph' },
      { name: 'Content-Disposition', in: 'header', description: 'Attachment with the filename (§2.8).' },
    ],
    effect: 'creates',
    creates: { what: 'a file', idAt: '/id', idMayMove: true, name: { header: 'content-disposition' }, usedBy: [
      { operation: 'files.retrieve', param: 'file_id' }, { operation: 'pdf.parse', param: 'file_id' }, { operation: 'graphs.add-file', role: 'file' } ] } },
  { id: 'files.list', method: 'GET', path: '/v1/files',
    summary: 'List files', description: noResponse, isFirst: true,
    parameters: [{ name: 'file_types', in: 'query', description: 'Comma-separated file extensions without the dot (§2.8).' }] },
  { id: 'files.retrieve', method: 'GET', path: '/v1/files/{file_id}',
    errors: [[404, 'ResourceNotFound'], [410, 'ResourceNotFound']],
    summary: 'Get a file', description: noResponse, params: { file_id: file } },
  { id: 'graphs.create', path: '/v1/knowledge-graphs',
    errors: usualErrors,
    summary: 'Create a knowledge graph', description: noPayloads, example: { name: 'conform' }, effect: 'creates',
    members: [{ at: '/name', section: '7.3', judgedBy: { type: '400-malformed-parameters', value: '400-invalid-name' } }],
    creates: { what: 'a graph', hasUniqueName: true, idAt: '/id', idMayMove: true, name: { role: 'name' }, usedBy: [
      { operation: 'graphs.query', param: 'graph_id' }, { operation: 'graphs.add-file', param: 'graph_id' } ] } },
  { id: 'graphs.add-file', path: '/v1/knowledge-graphs/{graph_id}/files',
    errors: [[400, 'BadRequest', 'InvalidInputParameters'], [404, 'ResourceNotFound'], [409, 'BadRequest'], [429, 'QuotaExceeded']],
    summary: 'Add a file to a knowledge graph', description: noPayloads, params: { graph_id: graph }, example: { file_id: '<file id>' }, effect: 'creates', freshFileAt: 'file', alreadyDone: '409-already-in-graph',
    // File ids have any form.
    members: [{ at: '{file}', isId: true, isFile: true, kinds: [], exampleAt: '/file_id', judgedBy: { absent: missingMember, unknown: unknownFile } }] },
  { id: 'graphs.query', path: '/v1/knowledge-graphs/{graph_id}/query',
    errors: [...usualErrors, [404, 'ResourceNotFound']],
    summary: 'Query a knowledge graph', description: `${noPayloads} A query takes a \`query_config\` (§2.7).`, params: { graph_id: graph }, example: { query: 'What is tea?' },
    request: { component: 'GraphQueryRequest', description: 'Not shown, but that it takes a `query_config` (§2.7).' }, effect: 'generates',
    members: [
      { at: '{query}', ...text, judgedBy: { absent: missingMember, type: '400-malformed-parameters' } },
      ...queryConfigIn('{query_config}', '/query_config'),
    ] },
  { id: 'applications.create', path: '/v1/applications',
    errors: usualErrors,
    summary: 'Create an application', description: noPayloads, example: { name: 'conform' }, effect: 'creates',
    members: [{ at: '/name', section: '7.3', judgedBy: { type: '400-malformed-parameters' } }],
    creates: { what: 'an application', hasUniqueName: true, idAt: '/id', idMayMove: true, name: { role: 'name' }, usedBy: [{ operation: 'jobs.create', param: 'application_id' }] } },
  { id: 'ai-detect.run', path: '/v1/tools/ai-detect',
    errors: usualErrors,
    summary: 'Detect generated text', description: noPayloads, example: { text: 'Tea is a drink.' },
    members: [{ at: '{text}', ...text, isLimited: true, judgedBy: { absent: missingMember, type: '400-malformed-text', empty: '400-empty-text' } }] },
  { id: 'web-search.run', path: '/v1/tools/web-search',
    errors: [...usualErrors, [503, 'InternalError']],
    summary: 'Search the web', description: noPayloads, example: { query: 'tea' },
    members: [{ at: '{query}', ...text, isLimited: true, judgedBy: { absent: missingMember, type: '400-malformed-query', empty: '400-empty-query' } }] },
  { id: 'medical.comprehend', path: '/v1/tools/comprehend/medical',
    summary: 'Analyze a medical text', description: 'Deprecated: its replacement is a chat with an `llm` tool (§9).', deprecated: true,
    request: { component: 'MedicalRequest', description: '§2.8: the members that are named.' },
    example: { content: 'Tea eased the cough.', response_type: 'Entities' }, response: 'medical-entities',
    members: [
      { at: '/content', ...text, judgedBy: { absent: missingMember, type: '400-malformed-request' } },
      { at: '/response_type', shows: 'Entities', judgedBy: { type: '400-malformed-request' } },
    ] },
  { id: 'translate.run', path: '/v1/translate',
    errors: [...usualErrors, [503, 'InternalError']],
    summary: 'Translate a text', description: noPayloads, example: { text: 'Hello', source: 'en', target: 'de' }, effect: 'generates',
    members: [
      { at: '{text}', ...text, isLimited: true, judgedBy: { absent: missingMember, type: '400-malformed-text', empty: '400-empty-text' } },
      { at: '{source}', isChosen: true, judgedBy: { type: '400-unsupported-language', value: '400-unsupported-language' } },
      { at: '{target}', isChosen: true, judgedBy: { type: '400-unsupported-language', value: '400-unsupported-language' } },
    ] },
  { id: 'vision.analyze', path: '/v1/vision/analyze', otherPaths: ['/v1/vision'],
    errors: [...usualErrors, [400, 'InvalidContentType'], [503, 'InternalError']],
    summary: 'Analyze images', description: noResponse, effect: 'generates',
    request: { component: 'VisionRequest', description: '§2.8: the members that are named.' },
    example: { model: '<model>', prompt: 'What is on {{picture}}?', variables: [{ name: 'picture', file_id: '<file id>' }] },
    members: [
      { at: '/model', isChosen: true },
      { at: '/prompt', ...text, judgedBy: { absent: missingMember, type: '400-malformed-request' }, description: 'May hold placeholders, written `{{name}}`.' },
      { at: '/variables', kinds: ['array'], judgedBy: { type: '400-malformed-request' } },
      { at: '/variables/*', kinds: ['object'], judgedBy: { type: '400-malformed-request' } },
      { at: '/variables/*/name', judgedBy: { type: '400-malformed-request' } },
      // A server may accept a number whose digits are an id.
      { at: '/variables/*/file_id', isId: true, isFile: true, tolerates: ['number'], judgedBy: { type: '400-malformed-request', unknown: unknownFile } },
    ] },
] as const satisfies readonly OperationRecord[]

type Listed = (typeof records)[number]
export type OperationId = Listed['id']

export interface ListedOperation extends Operation {
  readonly id: OperationId
  readonly reads?: Operation['reads'] & { readonly madeBy: OperationId }
  /** How often a valid request is repeated if it fails: generated answers vary. */
  readonly tries: number
  /** Each valid request is about an object made for it. A refusal has no effect on it: refused requests share one. */
  readonly needsOwnObject: boolean
  /** Its members by role, and where those that the spec shows are. */
  readonly fields: Readonly<Record<string, string | undefined>>
  /** Roles that a valid request has only for a requirement about them: a chat streams and calls tools only then. */
  readonly extraRoles: readonly string[]
  /** The member of the condition `missingMember`. */
  readonly essential: Member | undefined
}

export const operations = (
  records as readonly (OperationRecord & Pick<ListedOperation, 'id' | 'reads'>)[]
).map((record): ListedOperation => {
  const { creates, effect = 'none', freshFileAt, isWhole, method = 'POST' } = record
  const members = (record.members ?? []).map((member): Member => {
    const { at } = member
    const section = at.startsWith('/') ? '2.8' : '7.3'
    const role = isWhole ? undefined : /^(?:\/|\{)(\w+)\}?$/.exec(at)?.[1]
    return { kinds: ['string'], section, role, ...member }
  })
  const fields: Record<string, string | undefined> = {}
  for (const { role, at } of members)
    if (role !== undefined) fields[role] = at.startsWith('/') ? at : undefined
  if (creates?.idMayMove) fields['id'] = creates.idAt
  return {
    method,
    otherPaths: [],
    body: method === 'POST' ? 'json' : 'none',
    section: '4.4',
    effect,
    tries: effect === 'generates' ? 5 : 1,
    needsOwnObject: freshFileAt !== undefined || effect === 'destroys',
    ...record,
    members,
    fields,
    extraRoles: members.flatMap((one) => (one.isExtra ? (one.role ?? []) : [])),
    essential: members.find((one) => one.judgedBy?.absent === missingMember),
  }
})

/** As `operations` completes a record: JSON is the default if it writes no method. */
type WithJson<One extends { readonly id: string }> = One extends { readonly body: 'json' }
  ? One['id']
  : Exclude<One, { readonly method: string } | { readonly body: string }>['id']
export type JsonOperationId = WithJson<Listed>

const byId = new Map<string, ListedOperation>(
  operations.map((operation) => [operation.id, operation]),
)

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

export const idsWhere = (holds: (one: ListedOperation) => boolean): OperationId[] =>
  operations.filter(holds).map((one) => one.id)

export const firstOperation = idsWhere((one) => one.isFirst === true)[0]!
/** The operation that reads one object at another path than the first request. */
export const readingOperation = idsWhere(
  (one) => one.method === 'GET' && one.params !== undefined,
)[0]!
/** The operation that creates the files that requests need. */
export const uploadOperation = idsWhere((one) => one.body === 'raw')[0]!
/** The operation that needs a newly uploaded file each time. */
export const additionOperation = idsWhere((one) => one.freshFileAt !== undefined)[0]!

export function numberOf(id: OperationId): number {
  return operations.findIndex((one) => one.id === id)
}

/** Throws on an unknown id, which is a bug of the suite. */
export function operationOf(id: OperationId): ListedOperation {
  const found = byId.get(id)
  if (!found) throw new Error(`no operation ${id}`)
  return found
}

/** The status by which the object in an operation's path reports that it is busy (§8). */
export function busyStatus(id: OperationId | null): number | undefined {
  return id === null ? undefined : operationOf(id).busy
}

export function isOperationId(id: string): id is OperationId {
  return byId.has(id)
}
