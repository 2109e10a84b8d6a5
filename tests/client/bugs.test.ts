/** Bugs that clients have, and clients that have none, against the reference: each is told by one request and its answer. */
import { expect, test } from 'vitest'
import { Redactor } from '../../harness/recording/redactor.ts'
import { createReference, targetFile } from '../../reference/server.ts'
import { createClientJudge } from '../../traffic/client/client-judge.ts'

interface Sent {
  readonly method?: string
  readonly path: string
  /** Besides those of a right client; undefined: it has none of that name. */
  readonly headers?: Readonly<Record<string, string | undefined>>
  /** JSON, or the body as it stands. */
  readonly body?: unknown
}

const { keys, operations, resources } = targetFile as unknown as {
  keys: { full: string; expired: string }
  operations: Record<string, { body: Record<string, unknown> }>
  resources: Record<string, string> & { application: { id: string; inputs: object[] } }
}
const { application, deletedFile, file, graph } = resources
const reference = createReference()

/** Each finding on requests that were sent one after the other, as `fault: rule`. */
async function toldOf(...requests: Sent[]): Promise<string[]> {
  const told: string[] = []
  const wrongKeys = [keys.expired]
  const judge = createClientJudge({
    ...{ baseUrl: reference.url, redactor: new Redactor(), wrongKeys },
    reference: { scenarios: {}, script: { played: [], left: () => 0 } },
    onFinding: ({ fault, kind }) => void told.push(`${kind}: ${fault.rule}`),
  })
  for (const [index, { body, headers: given = {}, path, ...sent }] of requests.entries()) {
    const { method = body === undefined ? 'GET' : 'POST' } = sent
    const label = body === undefined ? {} : { 'content-type': 'application/json' }
    const all = { authorization: `Bearer ${keys.full}`, ...label, ...given }
    const headers = Object.entries(all).filter(([, value]) => value !== undefined)
    const isText = typeof body === 'string' || body instanceof Uint8Array
    const bytes = Buffer.from(body === undefined || isText ? (body ?? '') : JSON.stringify(body))
    const url = reference.url + path
    const request = new Request(url, {
      ...{ method, headers: headers as [string, string][] },
      ...(body !== undefined && { body: bytes }),
    })
    const response = await reference.handle(request)
    const at = 1000 * index
    judge.see({
      ...{ index, startedAt: at, durationMs: 1, httpVersion: '1.1', method, url },
      requestHeaders: headers.map(([name, value]) => ({ name, value: value! })),
      requestBody: { state: 'whole', bytes },
      status: response.status,
      headers: [...response.headers].map(([name, value]) => ({ name, value })),
      body: { state: 'whole', bytes: new Uint8Array(await response.arrayBuffer()) },
      witnessed: {
        n: index + 1,
        sentAt: at,
        answeredAt: at + 1,
        connectionOpenedAt: 0,
        isAborted: false,
      },
    })
  }
  judge.end({ startedAt: new Date(0), durationMs: 0 })
  return told
}

const jobs = `/v1/applications/${application.id}/jobs`
const { inputs } = application
const bearer = (key: string) => ({ headers: { authorization: key }, path: '/v1/files' })
const upload = (headers: Sent['headers'], body: unknown = 'tea'): Sent => ({
  ...{ path: '/v1/files', body },
  headers: { 'content-type': 'text/plain', ...headers },
})
const named = { 'content-disposition': 'attachment; filename="a.txt"' }
const chat = (more: object): Sent => ({
  path: '/v1/chat/completions',
  body: { model: 'm-1', messages: [{ role: 'user', content: 'x' }], ...more },
})
const query = (config: object): Sent => ({
  path: `/v1/knowledge-graphs/${graph}/query`,
  body: { query: 'tea', query_config: config },
})
const vision = operations['vision.analyze']!.body

const path = ['fault: path']
const key = ['fault: authorization']
const member = ['fault: member']
const refused = ['fault: refused']

test.each<[what: string, sent: Sent, told: string[]]>([
  ['forgets /v1', { path: '/files' }, ['remark: outside']],
  ['doubles /v1', { path: '/v1/v1/files' }, path],
  ['asks for a job under its application', { path: `${jobs}/${resources['job']}` }, path],
  ['queries with GET', { path: `/v1/knowledge-graphs/${graph}/query` }, ['fault: method']],
  [
    'takes the hyphens out of a uuid',
    { path: '/v1/applications/jobs/2e8d7a106c0b4b9f8f2d5d3c9b7e2001' },
    ['fault: path-parameter'],
  ],
  ['asks for a file that was deleted', { path: `/v1/files/${deletedFile}` }, ['remark: refused']],
  ['has no key', { path: '/v1/files', headers: { authorization: undefined } }, key],
  ['has a key that is not set', bearer('Bearer undefined'), key],
  ['quotes its key', bearer(`Bearer "${keys.full}"`), refused],
  ['lost the end of its key', bearer(`Bearer ${keys.full.slice(0, -9)}`), refused],
  [
    'labels JSON as text',
    { path: jobs, body: { inputs }, headers: { 'content-type': 'text/plain' } },
    ['fault: content-type'],
  ],
  [
    'uploads a form',
    upload({ 'content-type': 'multipart/form-data; boundary=x' }),
    ['fault: content-type', 'remark: no-attachment'],
  ],
  ['uploads without a name', upload({}), ['remark: no-attachment', 'fault: refused']],
  [
    'uploads JSON',
    upload({ 'content-type': 'application/json' }, { name: 'a', content: 'dGVh' }),
    ['remark: no-attachment', 'fault: refused'],
  ],
  [
    'uploads without a label',
    { ...upload(named), headers: { ...named, 'content-type': undefined } },
    refused,
  ],
  ['encodes JSON twice', { path: jobs, body: JSON.stringify(JSON.stringify({ inputs })) }, member],
  [
    'writes NaN',
    { path: '/v1/completion', body: '{"model": "m-1", "prompt": "x", "temperature": NaN}' },
    ['fault: body'],
  ],
  ['forgets a required input', { path: jobs, body: { inputs: [] } }, refused],
  ['invents a role', chat({ messages: [{ role: 'robot', content: 'x' }] }), refused],
  [
    'leaves a placeholder empty',
    { path: '/v1/vision', body: { ...vision, prompt: 'What is {{other}}?' } },
    ['remark: no-variable'],
  ],
  [
    'asks for a hundred snippets',
    query({ max_snippets: 100 }),
    ['remark: recommended', 'remark: refused'],
  ],
  [
    'sends an empty prompt',
    { path: '/v1/completion', body: { model: 'm-1', prompt: '' } },
    refused,
  ],
])('a client that %s is told', async (_what, sent, told) => {
  expect(await toldOf(sent)).toEqual(told)
})

test.each<[what: string, ...sent: Sent[]]>([
  [
    'each operation as the target file declares it',
    ...Object.entries({
      'completion.create': '/v1/completion',
      'chat.create': '/v1/chat',
      'translate.run': '/v1/translate',
      'web-search.run': '/v1/tools/web-search',
      'ai-detect.run': '/v1/tools/ai-detect',
      'medical.comprehend': '/v1/tools/comprehend/medical',
      'vision.analyze': '/v1/vision/analyze',
      'graphs.query': `/v1/knowledge-graphs/${graph}/query`,
    }).map(([id, to]) => ({ path: to, body: operations[id]!.body })),
  ],
  [
    'a key that has expired, and another one then',
    bearer(`Bearer ${keys.expired}`),
    { path: '/v1/files' },
  ],
  [
    'an upload, the list, and a file',
    upload(named),
    { path: '/v1/files?file_types=txt,pdf' },
    { path: `/v1/files/${file}` },
  ],
  [
    'what is not of the interface',
    { path: '/' },
    { path: '/healthz' },
    { path: '/v1/files', method: 'OPTIONS' },
  ],
])('nobody is told of %s', async (_what, ...sent) => {
  expect(await toldOf(...sent)).toEqual([])
})
