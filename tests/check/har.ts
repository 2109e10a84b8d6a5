/** A recorded request and its answer, in the few words that a test needs. */
export interface Told {
  readonly method?: string
  /** Path under the base URL, or a whole address. */
  readonly to: string
  readonly sends?: unknown
  readonly status?: number
  /** A string is the body as it is, anything else is sent as JSON. */
  readonly answers?: unknown
  readonly type?: string
  readonly authorization?: string
  /** Members of the entry's response and content that come in place of the usual ones. */
  readonly response?: Record<string, unknown>
  readonly content?: Record<string, unknown>
}

export const base = 'https://api.example.com/base'

const begun = Date.UTC(2026, 2, 1, 12)

const written = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value)

export function entry(told: Told, at = 0) {
  const {
    sends,
    status = 200,
    answers = {},
    type = 'application/json',
    authorization,
    response,
    content,
  } = told
  const text = written(answers)
  return {
    startedDateTime: new Date(begun + 1000 * at).toISOString(),
    time: 12.5,
    request: {
      method: told.method ?? (sends === undefined ? 'GET' : 'POST'),
      url: told.to.startsWith('/') ? base + told.to : told.to,
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: authorization === undefined ? [] : [{ name: 'Authorization', value: authorization }],
      queryString: [],
      ...(sends === undefined
        ? {}
        : { postData: { mimeType: 'application/json', text: written(sends) } }),
      headersSize: -1,
      bodySize: -1,
    },
    response: {
      status,
      statusText: '',
      httpVersion: 'HTTP/1.1',
      cookies: [],
      headers: [{ name: 'Content-Type', value: type }],
      content: { size: Buffer.byteLength(text), mimeType: type, text, ...content },
      redirectURL: '',
      headersSize: -1,
      bodySize: -1,
      ...response,
    },
    cache: {},
    timings: { send: 0, wait: 12.5, receive: 0 },
  }
}

/** A HAR of these exchanges, a second apart. */
export function har(...told: Told[]) {
  return {
    log: { version: '1.2', creator: { name: 'test', version: '1' }, entries: told.map(entry) },
  }
}

export const envelope = (tpe: string, key?: string) => ({
  tpe,
  errors: [{ description: 'No', ...(key === undefined ? {} : { key }), extras: {} }],
  extras: {},
})

const id = '6f1c1a52-93f4-4a53-9d3c-0a8b3c8f4a11'

export const createdJob = { id, status: 'in_progress', created_at: '2026-03-01T12:00:00Z' }
export const job = { ...createdJob, application_id: 'app-1', status: 'completed' }

/** One granted request of each row that recorded traffic can show. */
export const granted: Readonly<Record<string, Told>> = {
  'jobs.create/202-created': {
    to: '/v1/applications/app-1/jobs',
    sends: { inputs: [] },
    status: 202,
    answers: createdJob,
  },
  'jobs.retrieve/200-job': { to: `/v1/applications/jobs/${id}`, answers: job },
  'pdf.parse/200-text': {
    to: '/v1/tools/pdf-parser/f-1',
    sends: { format: 'text' },
    answers: { content: 'a' },
  },
  'pdf.parse/200-markdown': {
    to: '/v1/tools/pdf-parser/f-1',
    sends: { format: 'markdown' },
    answers: { content: '# a' },
  },
  'completion.create/2xx-accepted': { to: '/v1/completion', sends: {}, answers: 'free' },
  'chat.create/200-completion': {
    to: '/v1/chat/completions',
    sends: { model: 'm', messages: [] },
    answers: { choices: [{ message: { content: '' } }] },
  },
  'files.upload/2xx-accepted': {
    to: '/v1/files',
    sends: 'bytes',
    status: 201,
    answers: { id: 'f-1' },
  },
  'files.list/2xx-accepted': { to: '/v1/files?file_types=pdf', answers: [] },
  'files.retrieve/2xx-accepted': { to: '/v1/files/f-1', answers: {} },
  'graphs.create/2xx-accepted': { to: '/v1/knowledge-graphs', sends: {}, answers: {} },
  'graphs.add-file/2xx-accepted': { to: '/v1/knowledge-graphs/g-1/files', sends: {}, answers: {} },
  'graphs.query/2xx-accepted': { to: '/v1/knowledge-graphs/g-1/query', sends: {}, answers: {} },
  'applications.create/2xx-accepted': { to: '/v1/applications', sends: {}, answers: {} },
  'ai-detect.run/2xx-accepted': { to: '/v1/tools/ai-detect', sends: {}, answers: {} },
  'web-search.run/2xx-accepted': { to: '/v1/tools/web-search', sends: {}, answers: {} },
  'medical.comprehend/200-entities': {
    to: '/v1/tools/comprehend/medical',
    sends: { content: 'a', response_type: 'Entities' },
    answers: { entities: [{ category: 'a', text: 'b', score: 0.5, traits: [] }] },
  },
  'translate.run/2xx-accepted': { to: '/v1/translate', sends: {}, answers: {} },
  'vision.analyze/2xx-accepted': { to: '/v1/vision', sends: {}, answers: {} },
}
