/** Recordings as programs write them: what they hold is judged, what they lack is named, and what is not a HAR is refused. */
import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { inconsistencies } from '../../harness/report/verdict.ts'
import { UserError } from '../../harness/user-error.ts'
import { validate } from '../../schemas/validate.ts'
import { folder } from '../cli/conform.ts'
import { conform } from '../cli/in-process.ts'
import {
  base,
  check,
  checked,
  createdJob,
  creationOf,
  job,
  entry,
  envelope,
  failedIds,
  granted,
  har,
  inFile,
  rowOf,
  type Told,
} from './recording.ts'

async function run(content: string | object) {
  const cwd = folder()
  writeFileSync(join(cwd, 'x.har'), typeof content === 'string' ? content : JSON.stringify(content))
  return conform(['check', 'x.har'], { cwd })
}

const pdf = granted['pdf.parse/200-text']!
const text = JSON.stringify(har(pdf, pdf))

test.each<[what: string, bytes: string | object, message: string]>([
  ['a key', 'secret-key-0123456789', 'is not JSON at line 1, column 1'],
  ['another log', { log: [] }, 'is not a HAR 1.2: it has no log.entries'],
  ['no list of entries', { log: { entries: {} } }, 'is not a HAR 1.2: it has no log.entries'],
])('a file that is not a HAR is refused: %s', async (_what, bytes, message) => {
  expect(await run(bytes)).toMatchObject({
    code: 2,
    stdout: '',
    stderr: `conform: x.har: ${message}\n`,
  })
})

test('a file of more than 256 MiB is refused, and so is a folder', async () => {
  const long = inFile('', 'long.har')
  truncateSync(long, 256 * 1024 * 1024 + 1)
  const { code, stderr } = await conform(['check', long])
  expect(code).toBe(2)
  expect(stderr).toContain('has more than 256 MiB; record the requests to the interface alone\n')
  expect((await conform('check .')).stderr).toMatch(/: is a folder\n$/)
})

const { request, response } = entry(pdf)

test.each([
  null,
  { request: undefined },
  { response: 7 },
  { request: { ...request, method: 7 } },
  { request: { ...request, url: undefined } },
  { request: { ...request, headers: {} } },
  { response: { ...response, status: '200' } },
])('an entry that cannot be read is named, and costs no other: %j', async (change) => {
  const odd = change && { ...entry(pdf), ...change }
  const { report, warnings } = await checked({ log: { entries: [entry(pdf), odd] } })
  expect(warnings).toEqual(['1 entry could not be read (HAR 1.2): log.entries[1]'])
  expect(report.run.requests).toBe(1)
})

test('check ignores a byte order mark, nulls, and what HAR does not ask for', async () => {
  expect((await check(`\uFEFF${text}`)).run.requests).toBe(2)
  const bare = {
    request: { method: request.method, url: request.url, headers: null, postData: null },
    response: { status: 200, headers: [{ name: 'x', value: null }] },
  }
  expect((await check({ log: { entries: [bare] } })).run.requests).toBe(1)
  const odd = { ...entry(pdf), startedDateTime: 'yesterday', time: -1 }
  expect((await check({ log: { entries: [odd] } })).run.startedAt).toBe('2027-01-01T00:00:00.000Z')
})

/** Of each kind one: a creation, a reading, a file, a query, an answer in a schema, a refusal. */
const kinds =
  'jobs.create/202-created jobs.retrieve/200-job files.upload/2xx-accepted files.list/2xx-accepted chat.create/200-completion'
const recorded = har(...kinds.split(' ').map((id) => granted[id]!), {
  to: '/v1/files/x',
  status: 404,
  answers: envelope('NotFound'),
})

/** Every place in a value, as the names that lead there. */
function placesOf(value: unknown, at: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [at]
  return [at, ...Object.entries(value).flatMap(([name, member]) => placesOf(member, [...at, name]))]
}

/** The value with another one at that place, if an earlier change did not take the place away. */
function replaced(value: unknown, [name, ...rest]: readonly string[], by: unknown): unknown {
  if (name === undefined) return by
  if (typeof value !== 'object' || value === null) return value
  const copy = structuredClone(value) as Record<string, unknown>
  copy[name] = replaced(copy[name], rest, by)
  return copy
}

const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>('', -1, 0, 204, 999, 1e308, '9999-12-31T23:59:59-12:00', 'base64'),
  fc.constantFrom<unknown>('http://[', '\ud800'),
)

test('whatever is at any place of a recording: a report that fits its schema, or one sentence', async () => {
  const change = fc.tuple(fc.constantFrom(...placesOf(recorded)), odd)
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
      let changed: unknown = recorded
      for (const [place, by] of changes) changed = replaced(changed, place, by)
      const outcome = await check(changed).catch((thrown: unknown) => thrown)
      if (outcome instanceof UserError) {
        expect(outcome.message).not.toContain('\n')
        return
      }
      expect(validate('report', JSON.parse(JSON.stringify(outcome)))).toEqual({ valid: true })
      expect(inconsistencies(outcome as Awaited<ReturnType<typeof check>>)).toEqual([])
    }),
    { seed: 7, numRuns: 50 },
  )
})

const list = { to: '/v1/files', answers: [] }
const noExtras = '{"tpe":"NotFound","errors":[]}'
const missing: Told = { to: '/v1/files/a', status: 404, answers: noExtras }

test.each<[what: string, content: Record<string, unknown>]>([
  ['the size on the wire, and what compressing lost (mitmproxy)', { size: 50, compression: -20 }],
  ['a comment beside the whole body', { comment: 'decoded by the recorder' }],
])('%s hides no fault of a whole body', async (_what, content) => {
  const headers = [
    { name: 'Content-Type', value: 'application/json' },
    { name: 'Content-Encoding', value: 'gzip' },
  ]
  const { code, stdout } = await run(har(list, { ...missing, content, response: { headers } }))
  expect(code).toBe(1)
  expect(stdout).toContain('envelope/shape')
})

test('without its body, a success is not tested', async () => {
  const created = { to: '/v1/applications/a/jobs', sends: { inputs: [] }, status: 202 }
  const recording = har({ ...created, answers: createdJob, content: { text: undefined } })
  expect((await run(recording)).code).toBe(3)
  expect(rowOf(await check(recording), 'jobs.create/202-created').reason).toBe(
    'the recorder omitted the body of such an answer',
  )
})

const wrapped = (text: string) => ({
  ...{ size: Buffer.byteLength(text), mimeType: 'application/json', encoding: 'base64' },
  text: Buffer.from(text).toString('base64'),
})
const header = (name: string, value: string) => ({ name, value })
const creation = entry(granted['jobs.create/202-created']!)

/** An entry as Chrome writes it: HTTP/2, pseudo headers, names in lower case, a body in base64, members of its own. */
const chrome = (change: object = {}) => ({
  ...{ _initiator: { type: 'script' }, _resourceType: 'fetch', connection: '443' },
  ...{ ...creation, serverIPAddress: '192.0.2.1' },
  request: {
    ...{ ...creation.request, httpVersion: 'http/2.0' },
    headers: [header(':authority', 'api.example.com'), header('content-type', 'application/json')],
  },
  response: {
    ...{ ...creation.response, httpVersion: 'http/2.0', _transferSize: 512, _error: null },
    headers: [
      header(':status', '202'),
      header('content-encoding', 'br'),
      header('content-type', 'application/json; charset=utf-8'),
    ],
    content: wrapped(JSON.stringify(createdJob)),
    ...change,
  },
  timings: { ...creation.timings, blocked: 1, ssl: -1, _blocked_queueing: 0.5 },
})
const checkChrome = (change?: object) => check({ log: { entries: [chrome(change)], pages: [] } })
const created = 'jobs.create/202-created'

test('the entry of a browser is judged as any other', async () => {
  const report = await checkChrome()
  expect(failedIds(report)).toEqual([])
  expect(rowOf(report, created).outcome).toBe('passed')
  expect(rowOf(report, 'envelope/content-type').cases).toBe(1)
  const wrong = rowOf(await checkChrome({ content: wrapped('{"id":1}') }), created)
  expect(wrong.outcome).toBe('failed')
  const { response } = wrong.failures[0]!.exchange!
  expect(response!.body).toBe('{"id":1}')
  expect(response!.headers).not.toHaveProperty(':status')
  const text = JSON.stringify(envelope('Conflict'))
  const other = { status: 404, content: { mimeType: 'application/json', size: -1, text } }
  const mispaired = await checkChrome(other)
  expect(failedIds(mispaired)).toEqual(['envelope/status-tpe-pair'])
  expect(rowOf(mispaired, 'envelope/status-tpe-pair').failures[0]?.expected).toMatch(
    /^a tpe that is allowed with status 404: .*\bResourceNotFound\b/,
  )
})

const half = JSON.stringify(createdJob).slice(0, 20)

const leftOut = 'the recorder omitted the body of such an answer'
const notWhole = 'the recording does not contain a complete body of such an answer'

test.each<[what: string, content: object, reason?: string]>([
  ['marked', { size: 20, text: half, _cut: true }],
  ['longer than the text', { size: 21, text: half }],
  ['shorter than its content-length', { text: half }],
  ['with a remark', { size: 20, text: half, comment: 'Response bodies are not included.' }],
  ['not recorded', { size: 0 }, leftOut],
  ['an empty text beside a length', { size: 0, text: '' }, leftOut],
  [
    'still compressed',
    { size: 4, text: Buffer.from([0x1f, 0x8b, 8, 0]).toString('base64'), encoding: 'base64' },
    leftOut,
  ],
])('a body that is not whole is not judged: %s', async (what, content, reason = notWhole) => {
  const [status, , type] = chrome().response.headers
  const headers = [status, type, header('content-length', '91')]
  if (what === 'still compressed') headers.push(header('content-encoding', 'br'))
  const of = (status: number) =>
    checkChrome({ status, headers, content: { mimeType: 'application/json', ...content } })
  expect(rowOf(await of(202), created)).toMatchObject({ outcome: 'not-exercised', reason })
  expect(rowOf(await of(500), 'envelope/shape').outcome).toBe('not-exercised')
  // The status is known all the same.
  expect(rowOf(await of(200), created).outcome).toBe('failed')
})

test('a long answer without a shown shape passes by its status, an unrecorded one says nothing', async () => {
  const id = 'translate.run/2xx-accepted'
  const outcome = async (content: Record<string, unknown>) =>
    rowOf(await check(har({ ...granted[id]!, content })), id).outcome
  expect(await outcome({ _cut: true, size: 70_000 })).toBe('passed')
  expect(await outcome({ text: undefined })).toBe('not-exercised')
})

test('a request that is not known whole asks for nothing', async () => {
  const chat = granted['chat.create/200-completion']!
  const recorded = har({ ...chat, answers: { choices: [] } })
  Object.assign(recorded.log.entries[0]!.request, {
    postData: { mimeType: 'application/json', text: '{', _cut: true },
  })
  expect(failedIds(await check(recorded))).toEqual([])
})

const jsonTypes = [header('content-type', 'application/json'), header('content-length', '17')]

test.each([jsonTypes, jsonTypes.slice(0, 1), jsonTypes.slice(1)])(
  'a body that the browser did not keep is not an empty one, whatever its size (Chrome, Playwright): %j',
  async (...headers) => {
    const { log } = har(pdf, pdf)
    const { postData: _notKept, ...rest } = log.entries[1]!.request
    const entries = [
      log.entries[0],
      { ...log.entries[1], request: { ...rest, headers, bodySize: 0 } },
    ]
    expect(failedIds(await check({ log: { entries } }))).toEqual([])
  },
)

test.each<[what: string, entry: object, response: Record<string, unknown>]>([
  ['a service worker (Chrome)', {}, { _fetchedViaServiceWorker: true }],
  ['the cache of a browser (Chrome)', { _fromCache: 'disk' }, {}],
  ['a mock (Playwright)', { _wasFulfilled: true }, {}],
])('what %s answers is not judged', async (_, members, response) => {
  const named = creationOf('graphs.create', 'tea', 'g-1')
  const { log } = har({ ...named, response }, named, { ...pdf, answers: {}, response })
  Object.assign(log.entries[0]!, members, { time: 2000 })
  Object.assign(log.entries[2]!, members)
  const report = await check({ log })
  expect(failedIds(report)).toEqual([])
  expect(report.run.requests).toBe(1)
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

test('without times, no reading of a job is a later one', async () => {
  const { to } = granted['jobs.retrieve/200-job']!
  const running = { to, answers: { ...job, status: 'in_progress' } }
  const recorded = har({ to, answers: job }, pdf, running)
  expect(failedIds(await check(recorded))).toEqual(['jobs.retrieve/200-stable'])
  for (const one of recorded.log.entries) one.startedDateTime = ''
  expect(failedIds(await check(recorded))).toEqual([])
})

test('a job is known by its creation in whatever order the entries are', async () => {
  const recorded = har(granted['jobs.create/202-created']!, {
    ...granted['jobs.retrieve/200-job']!,
    answers: { ...job, application_id: 'app-2' },
  })
  recorded.log.entries.reverse()
  expect(failedIds(await check(recorded))).toEqual(['jobs.retrieve/200-identity'])
})
