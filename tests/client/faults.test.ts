/** Each rule that a request of a client can break, and what no client may be accused of. */
import { expect, test } from 'vitest'
import { type OperationId, operations } from '../../catalogue/operations.ts'
import { targetFile } from '../../reference/server.ts'
import { requestFaults, type SentRequest } from '../../traffic/client/request-faults.ts'

interface Sent {
  readonly method?: string
  readonly path?: string
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  /** JSON, or the text itself. */
  readonly body?: unknown
  readonly state?: 'whole' | 'cut' | 'missing'
}

const id = '2e8d7a10-6c0b-4b9f-8f2d-5d3c9b7e2001'
const authorization = 'Bearer a.b.c'
const json = { authorization, 'content-type': 'application/json' }
const jobs = '/v1/applications/a/jobs'

function sent({
  method = 'POST',
  path = '/v1/translate',
  query = '',
  headers = json,
  body = '',
  state = 'whole',
}: Sent): SentRequest {
  const isBytes = body instanceof Uint8Array || typeof body === 'string'
  return {
    method,
    path,
    query: new URLSearchParams(query),
    requestBody: { state, bytes: Buffer.from(isBytes ? body : JSON.stringify(body)) },
    requestHeaders: Object.entries(headers).map(([name, value]) => ({ name, value })),
  }
}

/** Each fault in few words: its rule, and what tells it from others of the rule. */
const faultsOf = (request: Sent): string =>
  requestFaults(sent(request))
    .map((fault) => {
      if (fault.rule === 'member') return `${fault.at}: ${fault.received?.kind ?? 'absent'}`
      return 'problem' in fault ? `${fault.rule}: ${fault.problem}` : fault.rule
    })
    .join(', ')

const get = (path: string, more: Sent = {}): Sent => ({ method: 'GET', path, ...more })
const list = (key: string): Sent => get('/v1/files', { headers: { authorization: key } })
const listed = (query: string): Sent => get('/v1/files', { query })
const labelled = (type: string, more: Sent = { body: {} }): Sent => ({
  headers: { authorization, 'content-type': type },
  ...more,
})
const upload = (headers: Sent['headers'] = {}, body: unknown = ''): Sent => ({
  path: '/v1/files',
  headers: { authorization, ...headers },
  body,
})
const named = (name: string): Sent => upload({ 'content-disposition': name })
const job = (body: unknown): Sent => ({ path: jobs, body })
const inputs = (...given: unknown[]): Sent => job({ inputs: given })
const chat = (body: object): Sent => ({ path: '/v1/chat/completions', body })
const parts = (...content: unknown[]): Sent => chat({ messages: [{ role: 'user', content }] })
const image = (url: unknown): Sent => parts({ type: 'image_url', image_url: url })
const tool = (type: string, of: unknown): Sent => chat({ tools: [{ type, function: of }] })
const parse = (body: object): Sent => ({ path: '/v1/tools/pdf-parser/f', body })
const query = (settings: object): Sent => ({
  path: '/v1/knowledge-graphs/g/query',
  body: { query_config: settings },
})

const wrong: [what: string, request: Sent, faults: string][] = [
  ['a path that is none', { path: '/v1/file' }, 'path'],
  ['a slash at the end', get('/v1/files/'), 'path'],
  ['another method', { method: 'PUT', path: '/v1/files' }, 'method'],
  [
    'no key',
    { headers: { 'content-type': 'application/json' }, body: {} },
    'authorization: absent',
  ],
  ['another scheme', list('Basic eDp5'), 'authorization: other-scheme'],
  ['a key without scheme', list('a.b.c'), 'authorization: other-scheme'],
  ...['', 'undefined', 'None', '${API_KEY}'].map((key): [string, Sent, string] => [
    `the key "${key}"`,
    list(`Bearer ${key}`),
    'authorization: no-key',
  ]),
  ['a job by a name', get('/v1/applications/jobs/last'), 'path-parameter: not-uuid'],
  ['an id that is not set', get('/v1/files/%7Bfile_id%7D'), 'path-parameter: no-value'],
  ['media types for extensions', listed('file_types=application/pdf'), 'query: other'],
  ['extensions in JSON', listed('file_types=["pdf"]'), 'query: other'],
  ['extensions with a dot', listed('file_types=pdf,.txt'), 'query: dot'],
  ['extensions one by one', listed('file_types=pdf&file_types=txt'), 'query: repeated'],
  [
    'texts where one is shown',
    { path: '/v1/tools/comprehend/medical', body: { content: ['x'] } },
    '/content: array',
  ],
  ['a prompt in parts', { path: '/v1/vision', body: { prompt: ['x'] } }, '/prompt: array'],
  ['1 for true', query({ inline_citations: 1 }), '/query_config/inline_citations: number'],
  ['a tool for a choice', chat({ tool_choice: { type: 'function' } }), '/tool_choice: object'],
  ['no media type', { headers: { authorization }, body: {} }, 'content-type: not-json'],
  ['text', labelled('text/plain;charset=UTF-8'), 'content-type: not-json'],
  [
    'a form',
    labelled('application/x-www-form-urlencoded', { body: 'text=x' }),
    'content-type: not-json',
  ],
  [
    'a form in place of a file',
    labelled('multipart/form-data; boundary=x', { path: '/v1/files' }),
    'content-type: form',
  ],
  ['a file that is no attachment', named('form-data; name="file"'), 'content-disposition'],
  ['an attachment without a name', named('attachment'), 'content-disposition'],
  ['no body', { path: jobs }, 'body: absent'],
  ['a body for a reading', get(`/v1/applications/jobs/${id}`, { body: {} }), 'body: unexpected'],
  ['half a body', { body: '{"text": ' }, 'body: not-json'],
  ['a byte order mark', { body: '\uFEFF{}' }, 'body: not-json'],
  ['Latin-1', { body: Buffer.from('{"text": "\xe9"}', 'latin1') }, 'body: not-utf-8'],
  ['a text as the body', { body: '"x"' }, ': string'],
  ['a list as the body', job([]), ': array'],
  ['no format', parse({}), '/format: absent'],
  ['format null', parse({ format: null }), '/format: null'],
  ['another format', parse({ format: 'html' }), '/format: string'],
  ['no inputs', job({}), '/inputs: absent'],
  ['inputs by name', job({ inputs: { topic: ['tea'] } }), '/inputs: object'],
  [
    'inputs of other types',
    inputs({ id: 1, value: 'tea' }, null),
    '/inputs/1: null, /inputs/0/id: number, /inputs/0/value: string',
  ],
  ['values that are no texts', inputs({ id: 'a', value: [1] }), '/inputs/0/value/0: number'],
  ['an input without id', inputs({ value: ['tea'] }), '/inputs/0/id: absent'],
  ['a message without role', chat({ messages: [{ content: 'x' }] }), '/messages/0/role: absent'],
  ['a text for messages', { path: '/v1/chat', body: { messages: 'x' } }, '/messages: string'],
  ['a part without text', parts({ type: 'text' }), '/messages/0/content/0/text: absent'],
  ['an image as a text', image('x'), '/messages/0/content/0/image_url: string'],
  ['an image in base64', image({ url: 'aGVsbG8=' }), '/messages/0/content/0/image_url/url: string'],
  [
    'an llm tool without model',
    tool('llm', { description: 'x' }),
    '/tools/0/function/model: absent',
  ],
  [
    'a schema as a text',
    chat({ response_format: { type: 'json_schema', json_schema: { schema: '{}' } } }),
    '/response_format/json_schema/schema: string',
  ],
  [
    'settings out of bounds',
    query({ search_weight: 101, grounding_level: -0.1, max_tokens: 99 }),
    '/query_config/search_weight: number, /query_config/grounding_level: number, /query_config/max_tokens: number',
  ],
  [
    'settings of other types',
    query({ inline_citations: 'yes', max_tokens: '100' }),
    '/query_config/inline_citations: string, /query_config/max_tokens: string',
  ],
  [
    'settings deep in a chat',
    tool('graph', { query_config: [] }),
    '/tools/0/function/query_config: array',
  ],
  [
    'a name for variables',
    { path: '/v1/vision/analyze', body: { variables: 'x' } },
    '/variables: string',
  ],
]

test.each(wrong)('%s is told', (_what, request, faults) => {
  expect(faultsOf(request)).toBe(faults)
})

const attachment = "Attachment; filename*=UTF-8''%C3%A9.json"

test.each<[what: string, request: Sent]>([
  [
    'another letter case of the scheme and the media type',
    {
      headers: { authorization: 'bearer a.b.c', 'content-type': 'Application/JSON; charset=utf-8' },
      body: {},
    },
  ],
  ['a key that opens nothing', list('Bearer expired')],
  [
    'the path of the parser without id, which §4.4 lists',
    { path: '/v1/tools/pdf-parser', body: { any: 1 } },
  ],
  ['a body where nothing is said of one', get('/v1/files', { body: {} })],
  ['no body where none is shown', { path: '/v1/completion', headers: { authorization } }],
  ['null or a list where members have no place', { body: 'null' }],
  [
    'members that are not shown',
    {
      ...chat({ model: 'm', messages: [{ role: 'user', content: 'x', name: 'n' }], seed: 1 }),
      query: 'trace=1',
    },
  ],
  [
    'null for what may be absent',
    chat({
      model: null,
      messages: [{ role: 'assistant', content: null }],
      tools: null,
      response_format: null,
    }),
  ],
  ['parts of other types', parts({ type: 'input_audio', input_audio: 1 })],
  ['tools of other types', tool('graph', 1)],
  ['a data URL', image({ url: 'data:image/png;base64,aGVsbG8=' })],
  ['no inputs for an application that asks for none', inputs()],
  ['an input without value', inputs({ id: 'a' })],
  ['several texts', { path: '/v1/completion', body: { prompt: ['a', 'b'] } }],
  [
    'settings at their bounds, null, and recommended ones exceeded',
    query({ search_weight: 0, max_tokens: 8000, max_snippets: 50, keyword_threshold: null }),
  ],
  ['settings where others take none', { path: '/v1/translate', body: { query_config: 7 } }],
  ['a file without headers of its own', upload({}, 'x')],
  [
    'a file in another alphabet',
    upload({ 'content-type': 'application/json', 'content-disposition': attachment }, '{'),
  ],
  ['several extensions', listed('file_types=pdf,tar.gz&file_types[]=x')],
  ['what was kept in part', { path: jobs, body: '{"inp', state: 'cut' }],
  ['what could not be decoded', { path: jobs, body: '', state: 'missing' }],
])('%s is no fault', (_what, request) => {
  expect(faultsOf(request)).toBe('')
})

test('no valid request of the suite is accused', () => {
  const declared = targetFile['operations'] as Record<string, { body?: unknown }>
  for (const { id: operation, method, path } of operations) {
    const filled = path.replaceAll(/\{\w+\}/g, id)
    const body = declared[operation]?.body ?? bodies[operation]
    const request = { method, path: filled, ...(body !== undefined && { body }) }
    expect(faultsOf(request), operation).toBe('')
  }
})

const bodies: Readonly<Partial<Record<OperationId, unknown>>> = {
  'pdf.parse': { format: 'text' },
  'jobs.create': { inputs: [{ id: 'topic', value: ['tea'] }] },
}

test('a path that is nearly one is named', () => {
  const near = [
    ['/v1/v1/files', '/v1/files'],
    ['/files', '/v1/files'],
    ['/v1/Files', '/v1/files'],
    ['/v1//files', '/v1/files'],
  ]
  for (const [path, hint] of near)
    expect(requestFaults(sent({ method: 'GET', path: path! }))).toEqual([{ rule: 'path', hint }])
  expect(requestFaults(sent({ method: 'GET', path: '/v2/things' }))).toEqual([
    { rule: 'path', hint: undefined },
  ])
})
