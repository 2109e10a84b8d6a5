import { expect, test } from 'vitest'
import { checkTargetFile } from '../../harness/target-file/check.ts'
import type { TargetFile } from '../../harness/target-file/target-file.ts'
import { UserError } from '../../harness/user-error.ts'

/** The message that the file is refused with; undefined where it is taken. */
function refusal(file: unknown): string | undefined {
  try {
    checkTargetFile(file, 'target.json')
  } catch (error) {
    expect(error).toBeInstanceOf(UserError)
    return (error as Error).message
  }
  return undefined
}

/** As the schema has them. */
const rootMembers =
  '$schema, name, baseUrl, headers, query, tls, keys, setup, teardown, resources, operations, scenarios, unreachable, limits'
const inputs = [{ id: 'topic', value: ['tea'] }]
const completion = (value: object): object => ({ operations: { 'completion.create': value } })
const scenario = (id: string, value: object = {}): object => ({ scenarios: { [id]: value } })
const unreachable = (id: string): object => ({ unreachable: { [id]: 'no switch' } })

test.each<[unknown, string]>([
  // Form.
  [
    { resources: { aplication: {} } },
    'unknown member resources.aplication; did you mean resources.application?',
  ],
  [{ basUrl: '' }, 'unknown member basUrl; did you mean baseUrl?'],
  [
    completion({ bdy: {} }),
    'unknown member operations.completion.create.bdy; did you mean operations.completion.create.body?',
  ],
  [
    { operations: { 'chat.creat': {} } },
    'unknown member operations.chat.creat; did you mean operations.chat.create?',
  ],
  [
    completion({ body: {}, fields: { promt: '/a' } }),
    'unknown member operations.completion.create.fields.promt; did you mean operations.completion.create.fields.prompt?',
  ],
  [
    { limits: { concurency: 1 } },
    'unknown member limits.concurency; did you mean limits.concurrency?',
  ],
  [{ keys: { full: { evn: 'A' } } }, 'unknown member keys.full.evn; did you mean keys.full.env?'],
  [
    { keys: { restricted: { 'jobs.creat': 'a' } } },
    'unknown member keys.restricted.jobs.creat; did you mean keys.restricted.jobs.create?',
  ],
  [
    scenario('jobs.create/404-unknown-application', { befor: [] }),
    'unknown member scenarios.jobs.create/404-unknown-application.befor; did you mean scenarios.jobs.create/404-unknown-application.before?',
  ],
  [
    scenario('completion.create/500-model'),
    'scenarios.completion.create/500-model names no requirement; did you mean completion.create/500-model-unavailable?',
  ],
  [
    scenario('*/429-quota-exceeded'),
    'scenarios.*/429-quota-exceeded is a pattern, and scenarios takes none: write one entry for each id (a target file that is a module can make them in a loop)',
  ],
  [
    scenario('files.upload/400-corrupted', { raw: { text: '' }, body: null }),
    'scenarios.files.upload/400-corrupted.raw replaces the body: remove body and merge',
  ],
  [
    { headers: { Authorization: 'Basic a' } },
    'headers.Authorization is set by the suite itself; give the key as keys.full',
  ],
  [
    scenario('jobs.create/429-quota-exceeded', { headers: { Authorization: 'Bearer a' } }),
    'scenarios.jobs.create/429-quota-exceeded.headers.Authorization is set by the suite itself; give the key as scenarios.jobs.create/429-quota-exceeded.key',
  ],
  [
    completion({ headers: { authorization: 'Bearer a' } }),
    'operations.completion.create.headers.authorization is set by the suite itself; give the key as keys.full',
  ],
  [{ limits: { timeoutMs: '1' } }, 'limits.timeoutMs must be an integer'],
  [{ limits: { concurrency: 0 } }, 'limits.concurrency must be >= 1'],
  [{ name: 7 }, 'name must be a string'],
  [{ name: '' }, 'name must not be empty'],
  [[], 'the target file must be an object'],
  [
    { keys: { full: 7 } },
    'keys.full must be a string, {"env": "NAME"}, {"file": "path"} or {"command": ["program", "argument"], "ttlSeconds": 300}',
  ],
  [{ headers: { 'x-a': 7 } }, 'headers.x-a must be a string or {"env": "NAME"}'],
  [{ headers: { 'x a': '' } }, 'headers.x a is not a header name'],
  [{ resources: { application: { id: 'a' } } }, 'resources.application.inputs is missing'],
  [
    { resources: { application: { id: 'a', inputs: [{ id: 'b', value: [1] }] } } },
    'resources.application.inputs[0].value[0] must be a string',
  ],
  [
    { resources: { pdfFile: 7 } },
    'resources.pdfFile must be the id of a file or {"upload": "path"}',
  ],
  [
    { operations: { 'completion.create': 'removed' } },
    'operations.completion.create must be "not-served"',
  ],
  [
    { operations: { 'pdf.parse': 'gone' } },
    'operations.pdf.parse must be "not-served" or "removed"',
  ],
  [{ operations: { guardrails: 'removed' } }, 'operations.guardrails must be "not-served"'],
  [
    { operations: { 'chat.create': { path: '/chat' } } },
    'operations.chat.create.path must be "/v1/chat/completions" or "/v1/chat"',
  ],
  [
    { operations: { 'files.list': { body: {} } } },
    'unknown member operations.files.list.body; known: path, query, headers',
  ],
  [
    completion({ body: {}, fields: { prompt: 'prompt' } }),
    'operations.completion.create.fields.prompt must be a JSON Pointer like /prompt',
  ],
  [{ tls: { cert: 'a.pem' } }, 'tls.cert needs tls.key beside it'],
  [
    scenario('general/410-gone', { operation: 'chat.creat' }),
    'scenarios.general/410-gone.operation must be another name than "chat.creat"; did you mean chat.create?',
  ],
  [
    scenario('*/429-quota-exceeded'),
    'scenarios.*/429-quota-exceeded is a pattern, and scenarios takes none: write one entry for each id (a target file that is a module can make them in a loop)',
  ],
  [
    scenario('files.upload/400-corrupted', { raw: {} }),
    'scenarios.files.upload/400-corrupted.raw must be {"base64": "..."} or {"text": "..."}, with "contentType", exactly one of these',
  ],
  // Names: what is near, else what there is.
  [{ apps: {} }, `unknown member apps; known: ${rootMembers}`],
  [{ url: 'http://a' }, 'unknown member url; did you mean baseUrl?'],
  [{ base_url: 'http://a' }, 'unknown member base_url; did you mean baseUrl?'],
  [{ keys: { admin: 'a' } }, 'unknown member keys.admin; known: full, expired, restricted'],
  [{ limits: { timeout: 1 } }, 'unknown member limits.timeout; did you mean limits.timeoutMs?'],
  [scenario('somewhere/else'), 'scenarios.somewhere/else names no requirement'],
  [unreachable('nothing/near'), 'unreachable.nothing/near matches no requirement'],
  // What was pasted and not filled in.
  ...[
    [
      { resources: { application: { id: '<application id>', inputs } } },
      'resources.application.id',
      '<application id>',
    ],
    [{ resources: { graph: '<my graph>' } }, 'resources.graph', '<my graph>'],
    [
      completion({ body: { model: '<model>', prompt: 'a' } }),
      'operations.completion.create.body.model',
      '<model>',
    ],
    [
      scenario('chat.create/200-image-url', { merge: { url: 'https://<address of an image>' } }),
      'scenarios.chat.create/200-image-url.merge.url',
      '<address of an image>',
    ],
    [
      scenario('general/422-unprocessable', {
        operation: 'chat.create',
        merge: { '<member>': 1, a: { '<member>': '' } },
      }),
      'scenarios.general/422-unprocessable.merge.a.<member>',
      '<member>',
    ],
    [{ keys: { full: '<your key>' } }, 'keys.full', '<your key>'],
  ].map(([file, place, placeholder]): [unknown, string] => [
    file,
    `${place as string} still has the placeholder ${placeholder as string}: put in what your target has, or remove the entry`,
  ]),
  // Variables as a shell writes them.
  [
    { keys: { full: '${MY_KEY}' } },
    'keys.full has ${MY_KEY}, which nothing fills in: write {"env": "MY_KEY"} as its whole value',
  ],
  [
    { keys: { restricted: { 'jobs.create': '$MY_KEY' } } },
    'keys.restricted.jobs.create has $MY_KEY, which nothing fills in: write {"env": "MY_KEY"} as its whole value',
  ],
  [
    { headers: { 'x-tenant': 'a-${TENANT}' } },
    'headers.x-tenant has ${TENANT}, which nothing fills in: write {"env": "TENANT"} as its whole value',
  ],
  [
    { resources: { file: '${FILE_ID}' } },
    'resources.file has ${FILE_ID}, which nothing fills in: write the id, or make the target file a module (.ts, .mjs), which can read process.env.FILE_ID',
  ],
  // Data.
  [{ name: () => 'a' }, 'name: a function is not allowed here'],
  [
    completion({ body: { date: new Date(0) } }),
    'operations.completion.create.body.date: must be a plain object',
  ],
  [
    completion({ body: { n: Number.NaN } }),
    'operations.completion.create.body.n: NaN is not a JSON number',
  ],
  // Meaning.
  [
    { baseUrl: 'https://me:secret@example.com' },
    'baseUrl must hold no credentials; use keys and headers instead',
  ],
  [{ baseUrl: 'ftp://example.com' }, 'baseUrl must begin with http:// or https://, not ftp:'],
  [{ baseUrl: 'example.com' }, 'baseUrl has no scheme; did you mean https://example.com?'],
  [{ baseUrl: 'https://example.com/?a' }, 'baseUrl must have no query'],
  [{ baseUrl: 'https://example.com/#a' }, 'baseUrl must have no fragment'],
  [{ headers: { 'x-a': 'a\nb' } }, 'headers.x-a has a control character'],
  [{ headers: { 'x-a': 'ä' } }, 'headers.x-a has a character that is not ASCII'],
  [{ query: { a: 'ä' } }, 'query.a has a character that is not ASCII'],
  [
    { headers: { 'Content-Length': '3' } },
    'headers.Content-Length is set by the suite itself; remove it',
  ],
  [{ keys: { full: ' key' } }, 'keys.full begins or ends with a blank'],
  [
    { keys: { restricted: { 'jobs.create': 'a\u0001b' } } },
    'keys.restricted.jobs.create has a control character',
  ],
  [
    scenario('files.upload/507-storage-full', { key: 'é' }),
    'scenarios.files.upload/507-storage-full.key has a character that is not ASCII',
  ],
  [
    { resources: { application: { id: 'a', inputs, requiredInputs: ['topc'] } } },
    'resources.application.requiredInputs names "topc", which is not the id of one of its inputs; did you mean topic?',
  ],
  [
    completion({ body: { a: 1 }, fields: { prompt: '/b/prompt' } }),
    'operations.completion.create.fields.prompt points to /b/prompt, but /b of operations.completion.create.body is absent',
  ],
  [
    completion({ body: { a: 1 }, fields: { prompt: '/a/prompt' } }),
    'operations.completion.create.fields.prompt points to /a/prompt, but /a of operations.completion.create.body is no object',
  ],
  [
    { operations: { 'graphs.query': { body: { question: 'x' }, fields: { query: '/qestion' } } } },
    'operations.graphs.query.fields.query points to /qestion, which operations.graphs.query.body does not have; did you mean /question?',
  ],
  [
    { operations: { 'graphs.query': { body: { 'a/b': 'x', top: 1 }, fields: { query: '/q' } } } },
    'operations.graphs.query.fields.query points to /q, which operations.graphs.query.body does not have; known: /a~1b, /top',
  ],
  [
    { operations: { 'graphs.add-file': { body: {}, fields: { file: '/file_id' } } } },
    'operations.graphs.add-file.fields.file points to /file_id, which operations.graphs.add-file.body does not have',
  ],
  [
    completion({ fields: { prompt: '/prompt' } }),
    'operations.completion.create.fields.prompt points into operations.completion.create.body, but there is no body',
  ],
  [
    completion({ headers: { 'x-a': 'ä' } }),
    'operations.completion.create.headers.x-a has a character that is not ASCII',
  ],
  [
    {
      operations: {
        'graphs.create': { body: {}, cleanup: [{ method: 'DELETE', url: 'ftp://a/{id}' }] },
      },
    },
    'operations.graphs.create.cleanup[0].url must begin with http:// or https://, not ftp:',
  ],
  [
    scenario('jobs.create/404-unknown-aplication'),
    'scenarios.jobs.create/404-unknown-aplication names no requirement; did you mean jobs.create/404-unknown-application?',
  ],
  [
    scenario('envelope/shape'),
    'scenarios.envelope/shape is not possible: envelope requirements are judged on every response',
  ],
  [
    scenario('guardrails/400-blocked'),
    'scenarios.guardrails/400-blocked.operation is missing: name the operation whose request is changed',
  ],
  [
    scenario('jobs.create/404-unknown-application', { operation: 'jobs.create' }),
    'scenarios.jobs.create/404-unknown-application.operation is not allowed here: the id already says that it is jobs.create',
  ],
  [
    scenario('graphs.query/404-unknown-graph', { params: { graph: 'g' } }),
    'scenarios.graphs.query/404-unknown-graph.params.graph is not a path parameter of graphs.query; did you mean graph_id?',
  ],
  [
    scenario('*/429-quota-exceeded'),
    'scenarios.*/429-quota-exceeded is a pattern, and scenarios takes none: write one entry for each id (a target file that is a module can make them in a loop)',
  ],
  [
    scenario('files.upload/400-corrupted', { raw: { text: '' }, body: {} }),
    'scenarios.files.upload/400-corrupted.raw replaces the body: remove body and merge',
  ],
  [
    scenario('chat.create/200-llm-tool', {
      before: [{ method: 'POST', url: '/x', headers: { 'x-a': 'ä' } }],
    }),
    'scenarios.chat.create/200-llm-tool.before[0].headers.x-a has a character that is not ASCII',
  ],
  [
    unreachable('completion.create/500-model-unavailabl'),
    'unreachable.completion.create/500-model-unavailabl matches no requirement; did you mean completion.create/500-model-unavailable?',
  ],
  [
    unreachable('jobs.create/202-created'),
    'unreachable.jobs.create/202-created matches only what the full key and a valid request can reach, and that cannot be declared unreachable',
  ],
  [
    unreachable('*/401-missing-credentials'),
    'unreachable.*/401-missing-credentials matches only what the full key and a valid request can reach, and that cannot be declared unreachable',
  ],
  [
    { ...unreachable('chat.create/401-expired-key'), keys: { expired: 'expired-key' } },
    'unreachable.chat.create/401-expired-key: what this requirement needs is declared; remove one of the two',
  ],
  [
    { ...unreachable('chat.create/200-llm-tool'), ...scenario('chat.create/200-llm-tool') },
    'unreachable.chat.create/200-llm-tool: what this requirement needs is declared; remove one of the two',
  ],
])('%j is refused: %s', (file, message) => {
  expect(refusal(file)).toBe(`target.json: ${message}`)
})

test('all problems are said at once, each once', () => {
  expect(refusal({ nam: 1, limits: { rate: 1 }, keys: { full: 7 } })?.split('\n')).toHaveLength(3)
  expect(
    refusal({ headers: Object.fromEntries(Array.from({ length: 14 }, (_, at) => [`x-${at}`, 1])) }),
  ).toMatch(/\ntarget.json: and 4 more$/)
})

test.each<[string, TargetFile]>([
  ['a file with nothing in it', {}],
  [
    'functions in place of keys',
    {
      keys: { full: () => 'a', restricted: { 'jobs.create': () => 'b' } },
      scenarios: { 'files.upload/507-storage-full': { key: () => 'c' } },
    },
  ],
  [
    'members of an input beyond id and value',
    { resources: { application: { id: 'a', inputs: [{ id: 'b', value: [], lang: 'en' }] } } },
  ],
  [
    'a pointer to a member that a probe adds',
    { operations: { 'completion.create': { body: {}, fields: { temperature: '/temperature' } } } },
  ],
  [
    'a pointer into an array',
    {
      operations: {
        'chat.create': { body: { tools: [{}] }, fields: { query_config: '/tools/0/query_config' } },
      },
    },
  ],
  [
    'texts in angle brackets, and variables in texts',
    {
      operations: {
        'completion.create': {
          body: { prompt: 'Explain the <model> element, <br> and ${NAME}', model: '$m' },
        },
        'translate.run': { body: { text: '<p>' } },
        'graphs.query': { body: '$QUERY' },
      },
      keys: { full: '$2b$10$a-key', expired: { env: 'A' } },
      headers: { 'x-price': '$5' },
    },
  ],
  [
    'the id of a new object without a body',
    { operations: { 'files.upload': { fields: { id: '/file/id' } } } },
  ],
  [
    'what needs a scenario, another key, object or role, unreachable',
    {
      unreachable: {
        'completion.create/500-*': 'a',
        '*/401-expired-key': 'b',
        'jobs.create/409-per-application': 'c',
        'jobs.retrieve/200-failed': 'd',
        'pdf.parse/400-oversized-pdf': 'e',
        'graphs.query/400-query-config': 'f',
        'completion.create/400-empty-prompt': 'g',
      },
    },
  ],
  [
    'a pattern of which something is declared',
    {
      unreachable: { '*/401-expired-key': 'a', 'chat.create/*': 'b' },
      keys: { expired: 'expired-key' },
    },
  ],
])('taken: %s', (_, file) => {
  expect(refusal(file)).toBeUndefined()
})

test('no message repeats a key', () => {
  const secret = 'a-secret\u0007that-is-not-shown'
  for (const file of [
    { keys: { full: secret } },
    { headers: { authorization: secret } },
    { baseUrl: `x://u:${secret}@h` },
    { keys: { full: { command: secret } } },
  ]) {
    expect(refusal(file)).toBeDefined()
    expect(refusal(file)).not.toContain('secret')
  }
})
