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
const chat = '/v1/chat/completions'

function sent({
  method = 'POST',
  path = '/v1/translate',
  query = '',
  headers = json,
  body = '',
  state = 'whole',
}: Sent): SentRequest {
  const bytes =
    body instanceof Uint8Array
      ? body
      : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  return {
    ...{ method, path, query: new URLSearchParams(query), requestBody: { state, bytes } },
    requestHeaders: Object.entries(headers).map(([name, value]) => ({ name, value })),
  }
}

/** Each fault in few words: its rule, and what tells it from others of the rule. */
function faultsOf(request: Sent): string[] {
  return requestFaults(sent(request)).map((fault) => {
    if (fault.rule === 'member') return `${fault.at}: ${fault.received?.kind ?? 'absent'}`
    return 'problem' in fault ? `${fault.rule}: ${fault.problem}` : fault.rule
  })
}

const parts = (...content: unknown[]) => ({ messages: [{ role: 'user', content }] })
const graphs = '/v1/knowledge-graphs/g/query'

const wrong: [what: string, request: Sent, faults: string[]][] = [
  ['a path that is none', { path: '/v1/file' }, ['path']],
  ['a slash at the end', { method: 'GET', path: '/v1/files/' }, ['path']],
  ['another method', { method: 'PUT', path: '/v1/files' }, ['method']],
  [
    'no key',
    { headers: { 'content-type': 'application/json' }, body: {} },
    ['authorization: absent'],
  ],
  [
    'another scheme',
    { method: 'GET', path: '/v1/files', headers: { authorization: 'Basic eDp5' } },
    ['authorization: other-scheme'],
  ],
  [
    'a key without scheme',
    { method: 'GET', path: '/v1/files', headers: { authorization: 'a.b.c' } },
    ['authorization: other-scheme'],
  ],
  ...['', 'undefined', 'None', '${API_KEY}'].map((key): [string, Sent, string[]] => [
    ...([
      `the key "${key}"`,
      { method: 'GET', path: '/v1/files', headers: { authorization: `Bearer ${key}` } },
    ] as const),
    ['authorization: no-key'],
  ]),
  [
    'a job by a name',
    { method: 'GET', path: '/v1/applications/jobs/last' },
    ['path-parameter: not-uuid'],
  ],
  [
    'an id that is not set',
    { method: 'GET', path: '/v1/files/%7Bfile_id%7D' },
    ['path-parameter: no-value'],
  ],
  [
    'media types for extensions',
    { method: 'GET', path: '/v1/files', query: 'file_types=application/pdf' },
    ['query: other'],
  ],
  [
    'extensions in JSON',
    { method: 'GET', path: '/v1/files', query: 'file_types=["pdf"]' },
    ['query: other'],
  ],
  [
    'texts where one is shown',
    { path: '/v1/tools/comprehend/medical', body: { content: ['x'] } },
    ['/content: array'],
  ],
  ['a prompt in parts', { path: '/v1/vision', body: { prompt: ['x'] } }, ['/prompt: array']],
  [
    '1 for true',
    { path: graphs, body: { query_config: { inline_citations: 1 } } },
    ['/query_config/inline_citations: number'],
  ],
  [
    'a tool for a choice',
    { path: chat, body: { tool_choice: { type: 'function' } } },
    ['/tool_choice: object'],
  ],
  [
    'extensions with a dot',
    { method: 'GET', path: '/v1/files', query: 'file_types=pdf,.txt' },
    ['query: dot'],
  ],
  [
    'extensions one by one',
    { method: 'GET', path: '/v1/files', query: 'file_types=pdf&file_types=txt' },
    ['query: repeated'],
  ],
  ['no media type', { headers: { authorization }, body: {} }, ['content-type: not-json']],
  [
    'text',
    { headers: { authorization, 'content-type': 'text/plain;charset=UTF-8' }, body: {} },
    ['content-type: not-json'],
  ],
  [
    'a form',
    {
      headers: { authorization, 'content-type': 'application/x-www-form-urlencoded' },
      body: 'text=x',
    },
    ['content-type: not-json'],
  ],
  [
    'a form in place of a file',
    {
      path: '/v1/files',
      headers: { authorization, 'content-type': 'multipart/form-data; boundary=x' },
    },
    ['content-type: form'],
  ],
  [
    'a file that is no attachment',
    {
      path: '/v1/files',
      headers: { authorization, 'content-disposition': 'form-data; name="file"' },
    },
    ['content-disposition'],
  ],
  [
    'an attachment without a name',
    { path: '/v1/files', headers: { authorization, 'content-disposition': 'attachment' } },
    ['content-disposition'],
  ],
  ['no body', { path: jobs }, ['body: absent']],
  [
    'a body for a reading',
    { method: 'GET', path: `/v1/applications/jobs/${id}`, body: {} },
    ['body: unexpected'],
  ],
  ['half a body', { body: '{"text": ' }, ['body: not-json']],
  ['a byte order mark', { body: '\uFEFF{}' }, ['body: not-json']],
  ['Latin-1', { body: Buffer.from('{"text": "\xe9"}', 'latin1') }, ['body: not-utf-8']],
  ['a text as the body', { body: '"x"' }, [': string']],
  ['a list as the body', { path: jobs, body: [] }, [': array']],
  ['no format', { path: `/v1/tools/pdf-parser/f`, body: {} }, ['/format: absent']],
  ['format null', { path: `/v1/tools/pdf-parser/f`, body: { format: null } }, ['/format: null']],
  [
    'another format',
    { path: `/v1/tools/pdf-parser/f`, body: { format: 'html' } },
    ['/format: string'],
  ],
  ['no inputs', { path: jobs, body: {} }, ['/inputs: absent']],
  ['inputs by name', { path: jobs, body: { inputs: { topic: ['tea'] } } }, ['/inputs: object']],
  [
    'inputs of other types',
    { path: jobs, body: { inputs: [{ id: 1, value: 'tea' }, null] } },
    ['/inputs/1: null', '/inputs/0/id: number', '/inputs/0/value: string'],
  ],
  [
    'values that are no texts',
    { path: jobs, body: { inputs: [{ id: 'a', value: [1] }] } },
    ['/inputs/0/value/0: number'],
  ],
  [
    'an input without id',
    { path: jobs, body: { inputs: [{ value: ['tea'] }] } },
    ['/inputs/0/id: absent'],
  ],
  [
    'a message without role',
    { path: chat, body: { messages: [{ content: 'x' }] } },
    ['/messages/0/role: absent'],
  ],
  ['a text for messages', { path: '/v1/chat', body: { messages: 'x' } }, ['/messages: string']],
  [
    'a part without text',
    { path: chat, body: parts({ type: 'text' }) },
    ['/messages/0/content/0/text: absent'],
  ],
  [
    'an image as a text',
    { path: chat, body: parts({ type: 'image_url', image_url: 'x' }) },
    ['/messages/0/content/0/image_url: string'],
  ],
  [
    'an image in base64',
    { path: chat, body: parts({ type: 'image_url', image_url: { url: 'aGVsbG8=' } }) },
    ['/messages/0/content/0/image_url/url: string'],
  ],
  [
    'an llm tool without model',
    { path: chat, body: { tools: [{ type: 'llm', function: { description: 'x' } }] } },
    ['/tools/0/function/model: absent'],
  ],
  [
    'a schema as a text',
    {
      path: chat,
      body: { response_format: { type: 'json_schema', json_schema: { schema: '{}' } } },
    },
    ['/response_format/json_schema/schema: string'],
  ],
  [
    'settings out of bounds',
    {
      path: graphs,
      body: {
        query: 'x',
        query_config: { search_weight: 101, grounding_level: -0.1, max_tokens: 99 },
      },
    },
    [
      '/query_config/search_weight: number',
      '/query_config/grounding_level: number',
      '/query_config/max_tokens: number',
    ],
  ],
  [
    'settings of other types',
    { path: graphs, body: { query_config: { inline_citations: 'yes', max_tokens: '100' } } },
    ['/query_config/inline_citations: string', '/query_config/max_tokens: string'],
  ],
  [
    'settings deep in a chat',
    { path: chat, body: { tools: [{ type: 'graph', function: { query_config: [] } }] } },
    ['/tools/0/function/query_config: array'],
  ],
  [
    'a name for variables',
    { path: '/v1/vision/analyze', body: { variables: 'x' } },
    ['/variables: string'],
  ],
]

test.each(wrong)('%s is told', (_what, request, faults) => {
  expect(faultsOf(request)).toEqual(faults)
})

const right: [what: string, request: Sent][] = [
  [
    'another letter case of the scheme and the media type',
    {
      headers: { authorization: 'bearer a.b.c', 'content-type': 'Application/JSON; charset=utf-8' },
      body: {},
    },
  ],
  [
    'a key that opens nothing',
    { method: 'GET', path: '/v1/files', headers: { authorization: 'Bearer expired' } },
  ],
  [
    'the path of the parser without id, which §4.4 lists',
    { path: '/v1/tools/pdf-parser', body: { any: 1 } },
  ],
  ['a body where nothing is said of one', { method: 'GET', path: '/v1/files', body: {} }],
  ['no body where none is shown', { path: '/v1/completion', headers: { authorization } }],
  ['null or a list where members have no place', { body: 'null' }],
  [
    'members that are not shown',
    {
      path: chat,
      query: 'trace=1',
      body: { model: 'm', messages: [{ role: 'user', content: 'x', name: 'n' }], seed: 1 },
    },
  ],
  [
    'null for what may be absent',
    {
      path: chat,
      body: {
        model: null,
        messages: [{ role: 'assistant', content: null }],
        tools: null,
        response_format: null,
      },
    },
  ],
  [
    'parts and tools of other types',
    {
      path: chat,
      body: {
        ...parts({ type: 'input_audio', input_audio: 1 }),
        tools: [{ type: 'graph', function: 1 }],
      },
    },
  ],
  [
    'a data URL',
    {
      path: chat,
      body: parts({ type: 'image_url', image_url: { url: 'data:image/png;base64,aGVsbG8=' } }),
    },
  ],
  ['no inputs for an application that asks for none', { path: jobs, body: { inputs: [] } }],
  ['an input without value', { path: jobs, body: { inputs: [{ id: 'a' }] } }],
  ['several texts', { path: '/v1/completion', body: { prompt: ['a', 'b'] } }],
  [
    'settings at their bounds, null, and recommended ones exceeded',
    {
      path: graphs,
      body: {
        query_config: {
          search_weight: 0,
          max_tokens: 8000,
          max_snippets: 50,
          keyword_threshold: null,
        },
      },
    },
  ],
  ['settings where others take none', { path: '/v1/translate', body: { query_config: 7 } }],
  [
    'a file without headers of its own',
    { path: '/v1/files', headers: { authorization }, body: 'x' },
  ],
  [
    'a file in another alphabet',
    {
      path: '/v1/files',
      headers: {
        authorization,
        'content-type': 'application/json',
        'content-disposition': "Attachment; filename*=UTF-8''%C3%A9.json",
      },
      body: '{',
    },
  ],
  [
    'several extensions',
    { method: 'GET', path: '/v1/files', query: 'file_types=pdf,tar.gz&file_types[]=x' },
  ],
  ['what was kept in part', { path: jobs, body: '{"inp', state: 'cut' }],
  ['what could not be decoded', { path: jobs, body: '', state: 'missing' }],
]

test.each(right)('%s is no fault', (_what, request) => {
  expect(faultsOf(request)).toEqual([])
})

test('no valid request of the suite is accused', () => {
  const declared = targetFile['operations'] as Record<string, { body?: unknown }>
  for (const { id: operation, method, path } of operations) {
    const filled = path.replaceAll(/\{\w+\}/g, id)
    const body = declared[operation]?.body ?? bodies[operation]
    const request = { method, path: filled, ...(body !== undefined && { body }) }
    expect(faultsOf(request), operation).toEqual([])
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
