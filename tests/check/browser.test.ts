import { expect, test } from 'vitest'
import { base, createdJob, envelope, granted, har, job, type Told } from './har.ts'
import { check, failedIds } from './recording.ts'

const rowOf = async (what: Parameters<typeof check>[0], id: string) =>
  (await check(what)).requirements.find((row) => row.id === id)!

const pdf = granted['pdf.parse/200-text']!

/** An entry as Chrome writes it: HTTP/2, pseudo headers, names in lower case, members of its own. */
const chrome = {
  _initiator: { type: 'script' },
  _priority: 'High',
  _resourceType: 'fetch',
  cache: {},
  connection: '443',
  request: {
    method: 'POST',
    url: `${base}/v1/applications/app-1/jobs`,
    httpVersion: 'http/2.0',
    headers: [
      { name: ':authority', value: 'api.example.com' },
      { name: ':method', value: 'POST' },
      { name: 'content-type', value: 'application/json' },
    ],
    queryString: [],
    cookies: [],
    headersSize: -1,
    bodySize: 13,
    postData: { mimeType: 'application/json', text: '{"inputs":[]}' },
  },
  response: {
    status: 202,
    statusText: '',
    httpVersion: 'http/2.0',
    headers: [
      { name: ':status', value: '202' },
      { name: 'content-encoding', value: 'br' },
      { name: 'content-type', value: 'application/json; charset=utf-8' },
    ],
    cookies: [],
    content: {
      size: Buffer.byteLength(JSON.stringify(createdJob)),
      mimeType: 'application/json',
      text: Buffer.from(JSON.stringify(createdJob)).toString('base64'),
      encoding: 'base64',
    },
    redirectURL: '',
    headersSize: -1,
    bodySize: -1,
    _transferSize: 512,
    _error: null,
  },
  serverIPAddress: '192.0.2.1',
  startedDateTime: '2026-03-01T12:00:00.000Z',
  time: 103.2,
  timings: {
    blocked: 1,
    dns: -1,
    ssl: -1,
    connect: -1,
    send: 0.2,
    wait: 100,
    receive: 2,
    _blocked_queueing: 0.5,
  },
}

const withContent = (content: Record<string, unknown>) => ({
  log: { entries: [{ ...chrome, response: { ...chrome.response, content } }] },
})

test('the entry of a browser is judged as any other', async () => {
  const report = await check({ log: { version: '1.2', entries: [chrome], pages: [] } })
  expect(failedIds(report)).toEqual([])
  expect(report.requirements.find(({ id }) => id === 'jobs.create/202-created')?.outcome).toBe(
    'passed',
  )
  expect(report.requirements.find(({ id }) => id === 'envelope/content-type')?.cases).toBe(1)
})

test('an encoded body that is wrong fails', async () => {
  const text = Buffer.from('{"id":1}').toString('base64')
  const row = await rowOf(
    withContent({ size: 8, mimeType: 'application/json', text, encoding: 'base64' }),
    'jobs.create/202-created',
  )
  expect(row.outcome).toBe('failed')
  expect(row.failures[0]?.exchange?.response).toMatchObject({ body: '{"id":1}' })
  expect(row.failures[0]?.exchange?.response?.headers).not.toHaveProperty(':status')
})

const half = JSON.stringify(createdJob).slice(0, 20)

const leftOut = 'the recorder omitted the body of such an answer'
const notWhole = 'the recording does not contain a complete body of such an answer'

test.each<[what: string, content: object, reason?: string]>([
  ['marked', { size: 20, text: half, _cut: true }],
  ['longer than the text', { size: 21, text: half }],
  ['with a remark', { size: 20, text: half, comment: 'Response bodies are not included.' }],
  ['not recorded', { size: 0 }, leftOut],
  ['an empty text beside a length', { size: 0, text: '' }, leftOut],
  [
    'still compressed',
    { size: 4, text: Buffer.from([0x1f, 0x8b, 8, 0]).toString('base64'), encoding: 'base64' },
    leftOut,
  ],
])('a body that is not whole is not judged: %s', async (_, content, reason = notWhole) => {
  const headers = [...chrome.response.headers, { name: 'content-length', value: '91' }]
  const of = (status: number) => ({
    log: {
      entries: [
        {
          ...chrome,
          response: {
            ...chrome.response,
            status,
            headers,
            content: { mimeType: 'application/json', ...content },
          },
        },
      ],
    },
  })
  expect(await rowOf(of(202), 'jobs.create/202-created')).toMatchObject({
    outcome: 'not-exercised',
    reason,
  })
  expect(await rowOf(of(500), 'envelope/shape')).toMatchObject({ outcome: 'not-exercised' })
  // The status is known all the same.
  expect(await rowOf(of(200), 'jobs.create/202-created')).toMatchObject({ outcome: 'failed' })
})

test('a long answer without a shown shape passes by its status, an unrecorded one says nothing', async () => {
  const translation = granted['translate.run/2xx-accepted']!
  const cut = await check(har({ ...translation, content: { _cut: true, size: 70_000 } }))
  expect(cut.requirements.find(({ id }) => id === 'translate.run/2xx-accepted')?.outcome).toBe(
    'passed',
  )
  const none = await check(har({ ...translation, content: { text: undefined } }))
  expect(none.requirements.find(({ id }) => id === 'translate.run/2xx-accepted')?.outcome).toBe(
    'not-exercised',
  )
})

test('a request that is not known whole asks for nothing', async () => {
  const chat = granted['chat.create/200-completion']!
  const recorded = har({ ...chat, answers: { choices: [] } })
  Object.assign(recorded.log.entries[0]!.request, {
    postData: { mimeType: 'application/json', text: '{', _cut: true },
  })
  expect(failedIds(await check(recorded))).toEqual([])
})

test('where no headers were kept, the type of the content stands for them', async () => {
  const bare = (type: string): Told => ({ ...pdf, type, response: { headers: [] } })
  expect(failedIds(await check(har(bare('text/plain'))))).toEqual(['envelope/content-type'])
  expect(failedIds(await check(har(bare('x-unknown'))))).toEqual([])
  expect(failedIds(await check(har(bare('application/json'))))).toEqual([])
})

test('entries without an answer, of other addresses and other methods are passed over', async () => {
  const report = await check(
    har(
      pdf,
      { ...pdf, status: 0, answers: '' },
      { ...pdf, status: -1, answers: '' },
      { ...pdf, method: 'OPTIONS', status: 403, answers: 'no' },
      { to: 'https://cdn.example.com/app.js', answers: 'x', status: 404, type: 'text/javascript' },
      { to: 'https://api.example.com/v1/files', status: 500, answers: 'x', type: 'text/html' },
      { to: 'data:text/plain,hello' },
      { to: '' },
      { to: '/assets/v1.css', status: 404, answers: 'x', type: 'text/html' },
    ),
    { baseUrl: base },
  )
  expect(failedIds(report)).toEqual([])
  expect(report.run.requests).toBe(1)
})

test('a job is known by its creation in whatever order the entries stand', async () => {
  const recorded = har(granted['jobs.create/202-created']!, {
    ...granted['jobs.retrieve/200-job']!,
    answers: { ...job, application_id: 'app-2' },
  })
  recorded.log.entries.reverse()
  expect(failedIds(await check(recorded))).toEqual(['jobs.retrieve/200-identity'])
})

test('an error of HTTP/2 is an error', async () => {
  const response = { ...chrome.response, status: 404, headers: chrome.response.headers }
  const content = {
    mimeType: 'application/json',
    size: -1,
    text: JSON.stringify(envelope('Conflict')),
  }
  const report = await check({
    log: { entries: [{ ...chrome, response: { ...response, content } }] },
  })
  expect(failedIds(report)).toEqual(['envelope/status-tpe-pair'])
})
