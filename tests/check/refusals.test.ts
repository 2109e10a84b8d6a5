/** Refusals in recorded traffic: requests that equal a granted one but for one fault. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { TargetFile } from '../../harness/target/model.ts'
import { folder } from '../cli/conform.ts'
import {
  base,
  check,
  createdJob,
  envelope,
  failedIds,
  granted,
  har,
  job as recordedJob,
  rowOf,
  type Told,
} from './recording.ts'

const key = 'secret-key-0123456789'
const authorization = `Bearer ${key}`
const pdf: Told = { ...granted['pdf.parse/200-text']!, authorization }
const list: Told = { ...granted['files.list/2xx-accepted']!, authorization }
const job: Told = { ...granted['jobs.retrieve/200-job']!, authorization }
const chat: Told = {
  ...granted['chat.create/200-completion']!,
  sends: { model: 'm', messages: [{ role: 'user', content: 'Hello' }] },
  sentWith: { 'content-type': 'application/json' },
  authorization,
}
const graphChat = (own: object): Told =>
  but(chat, { sends: { ...(chat.sends as object), tools: [{ type: 'graph', function: own }] } })
const creation: Told = {
  ...granted['jobs.create/202-created']!,
  sends: { inputs: [{ id: 'topic', value: ['tea'] }] },
  authorization,
}
const addition: Told = { ...granted['graphs.add-file/2xx-accepted']!, authorization }

const but = (told: Told, change: Partial<Told>): Told => ({ ...told, ...change })
const answer = (status: number, tpe: string) => ({ status, answers: envelope(tpe) })
const refused = answer(400, 'BadRequest')
const unknown = answer(404, 'ResourceNotFound')
const noKey = answer(401, 'BadCredentials')
const faulty = (change: Partial<Told>): Told => but(pdf, { sends: {}, ...change })
const keyless = (told: Told, change: Partial<Told>): Told => {
  const { authorization: _none, ...rest } = told
  return { ...rest, sentWith: { 'user-agent': 'browser' }, ...change }
}

const missingFormat = 'pdf.parse/400-missing-format'
const missingKey = 'files.list/401-missing-credentials'
const unknownJob = 'jobs.retrieve/4xx-unknown-job'

/** Differs in the first digit. */
const otherId = createdJob.id.replace('6', '0')

type Row = [what: string, id: string, ...told: Told[]]

test.each<Row>([
  ['no format', missingFormat, pdf, faulty(refused)],
  ['no format, before the valid request', missingFormat, faulty(refused), pdf],
  ['no format, twice', missingFormat, pdf, faulty(refused), faulty(refused)],
  [
    'malformed JSON',
    'pdf.parse/400-malformed-json',
    pdf,
    faulty({ ...refused, sends: '{"format":"text"' }),
  ],
  [
    'a text for messages',
    'chat.create/400-malformed-messages',
    chat,
    but(chat, { ...refused, sends: ' { "messages" : 42, "model" : "m" }' }),
  ],
  [
    'an id that is not a uuid',
    'jobs.retrieve/4xx-malformed-id',
    job,
    but(job, { ...unknown, to: '/v1/applications/jobs/not-a-uuid' }),
  ],
  ['no key', missingKey, list, keyless(list, noKey)],
  ['no header', missingKey, list, keyless(list, { ...noKey, sentWith: {} })],
  [
    'no key, and another body',
    'pdf.parse/401-missing-credentials',
    pdf,
    keyless(pdf, { ...noKey, sends: {} }),
  ],
  [
    'another scheme',
    'files.list/401-malformed-key',
    list,
    but(list, { ...noKey, authorization: `Token ${key}` }),
  ],
  [
    'a key cut by 4 characters',
    'files.list/401-invalid-key',
    list,
    but(list, { ...noKey, authorization: authorization.slice(0, -4) }),
  ],
])('%s: refused as it must be, it passes %s', async (_, id, ...told) => {
  const report = await check(har(...told))
  expect(rowOf(report, id)).toMatchObject({ outcome: 'passed', cases: 1 })
  expect(failedIds(report)).toEqual([])
})

test.each<Row>([
  ['granted', missingFormat, pdf, faulty({})],
  ['another status', missingFormat, pdf, faulty(answer(422, 'UnprocessableEntity'))],
  ['a crash', missingFormat, pdf, faulty(answer(500, 'InternalError'))],
  ['404, though the file is there', missingFormat, pdf, faulty(unknown), pdf],
  ['only another name', missingKey, list, keyless(list, answer(401, 'BadToken'))],
  ['granted without a key', missingKey, list, keyless(list, {})],
  ['granted without any header', missingKey, list, keyless(list, { sentWith: {} })],
  [
    'granted without a key, with another body',
    'pdf.parse/401-missing-credentials',
    pdf,
    keyless(pdf, { sends: { format: 'markdown' } }),
  ],
  [
    'another job for a wrong key',
    'jobs.retrieve/401-invalid-key',
    job,
    but(job, {
      authorization: authorization.slice(0, -4),
      answers: { ...recordedJob, application_id: 'app-2' },
    }),
  ],
  [
    'a second job without inputs',
    'jobs.create/400-missing-inputs',
    creation,
    but(creation, { sends: {}, answers: { ...createdJob, id: otherId } }),
    but(job, { answers: { ...recordedJob, status: 'in_progress' } }),
  ],
  ['403 for no key', missingKey, list, keyless(list, answer(403, 'InsufficientAccessRights'))],
])('an answer that is %s fails %s', async (what, id, ...told) => {
  const report = await check(har(...told))
  // A crash is one on bad input, too.
  expect(failedIds(report).filter((one) => !one.endsWith('/bad-input-no-5xx'))).toEqual([id])
  expect(rowOf(report, id).failures).toMatchObject([
    {
      onlyName: what === 'only another name',
      toRefuse: true,
      message: expect.stringContaining('log.entries[1]'),
    },
  ])
})

const other = 'may have another cause'
const differs = 'the answers to one request differ'
const none = 'no request equals a granted one but for its fault'

test.each<[what: string, id: string, why: string, ...told: Told[]]>([
  [
    'a member that is shown for tools of another type',
    'chat.create/400-malformed-tools',
    'no request equals a granted one',
    graphChat({ description: 'Knows about tea' }),
    graphChat({ description: 42 }),
  ],
  ['the valid request is missing', missingFormat, none, faulty({})],
  ['the valid request was refused', missingFormat, none, but(pdf, refused), faulty({})],
  [
    'the valid request is another',
    missingFormat,
    none,
    but(pdf, { to: '/v1/tools/pdf-parser/f-2' }),
    faulty({}),
  ],
  ['a header differs', missingFormat, none, pdf, faulty({ sentWith: { 'x-tenant': 'other' } })],
  [
    'the key differs',
    missingFormat,
    none,
    pdf,
    faulty({ authorization: 'Bearer another-key-0123' }),
  ],
  ['another answer was right', missingFormat, differs, pdf, faulty({}), faulty(refused)],
  ...[
    answer(429, 'TooManyRequests'),
    answer(503, 'ServiceUnavailable'),
    answer(400, 'GuardrailBlockedError'),
    answer(403, 'InsufficientAccessRights'),
    answer(401, 'BadCredentials'),
    answer(409, 'Conflict'),
    unknown,
    { status: 502, answers: 'Bad Gateway', type: 'text/html' },
  ].map((one): [string, string, string, ...Told[]] => [
    `${one.status} came`,
    missingFormat,
    other,
    pdf,
    faulty(one),
  ]),
  [
    'valid requests crash, too',
    missingFormat,
    other,
    pdf,
    but(pdf, answer(500, 'InternalError')),
    faulty(answer(500, 'InternalError')),
  ],
  [
    'a cookie may be the key',
    missingKey,
    none,
    list,
    keyless(list, { sentWith: { cookie: 'session=1' } }),
  ],
  [
    'no header was recorded',
    missingKey,
    none,
    keyless(list, { sentWith: {} }),
    keyless(list, { sentWith: {} }),
  ],
  ['no key was recorded', missingKey, none, keyless(list, {})],
  [
    'stars were recorded in place of the key',
    'files.list/401-invalid-key',
    none,
    but(list, { authorization: 'Bearer ***' }),
  ],
  [
    'another body may be refused for itself',
    'pdf.parse/401-missing-credentials',
    other,
    pdf,
    keyless(pdf, { ...refused, sends: {} }),
  ],
  [
    'an id may be known',
    unknownJob,
    none,
    job,
    but(job, { to: `/v1/applications/jobs/${otherId}`, answers: { ...recordedJob, id: otherId } }),
  ],
])('%s: %s stays open', async (_, id, why, ...told) => {
  const report = await check(har(...told))
  expect(failedIds(report).filter((one) => !one.startsWith('envelope/'))).toEqual([])
  const { outcome, reason } = rowOf(report, id)
  expect([outcome, reason]).toEqual(['not-exercised', expect.stringContaining(why)])
})

test('what one request does not prove, another one may', async () => {
  const limited = faulty({ ...answer(429, 'TooManyRequests'), sends: '{"format":"text"}}' })
  const report = await check(har(pdf, faulty({ ...refused, sends: '{"format":"text"' }), limited))
  expect(rowOf(report, 'pdf.parse/400-malformed-json')).toMatchObject({
    ...{ outcome: 'passed', cases: 1 },
  })
})

const deep = 50_000

test.each<[what: string, sends: unknown]>([
  ['a text', '"text"'],
  ['null', 'null'],
  ['an array', [1]],
  ['items that are not objects', { model: 'm', messages: ['Hello'], tools: [null] }],
  ['parts that are not objects', { model: [1], messages: [{ role: {}, content: [1] }] }],
  ['nested deeply', `{"messages":${'['.repeat(deep)}${']'.repeat(deep)}}`],
  ['no JSON', 'Hello'],
])('a granted request whose body is %s proves nothing', async (_, sends) => {
  const report = await check(har(but(chat, { sends }), but(chat, { sends: {}, ...refused })))
  expect(failedIds(report)).toEqual([])
})

const declared: TargetFile = {
  baseUrl: base,
  keys: { restricted: 'restricted-key-0123456789' },
  resources: {
    application: {
      id: 'app-1',
      inputs: [{ id: 'topic', value: ['tea'] }],
      requiredInputs: ['topic'],
    },
    deletedFile: 'f-2',
  },
  operations: { 'graphs.add-file': { body: { file_id: 'f-1' }, fields: { file: '/file_id' } } },
  scenarios: {
    'chat.create/403-model-access': { merge: { model: 'secret' } },
    'general/503-unavailable': { operation: 'pdf.parse', headers: { 'x-simulate': 'down' } },
  },
}

test.each<Row>([
  [
    'a restricted key',
    'files.list/403-insufficient-rights',
    list,
    but(list, { authorization: 'Bearer restricted-key-0123456789' }),
  ],
  [
    'a required input left out',
    'jobs.create/400-missing-required-inputs',
    creation,
    but(creation, {
      sends: { inputs: [] },
      answers: { ...createdJob, id: otherId },
    }),
  ],
  [
    'a deleted file',
    'pdf.parse/4xx-unknown-file',
    pdf,
    but(pdf, { to: '/v1/tools/pdf-parser/f-2' }),
  ],
  [
    'a member by its role',
    'graphs.add-file/4xx-missing-member',
    but(addition, { sends: { file_id: 'f-1' } }),
    but(addition, { sends: {} }),
  ],
  [
    'a scenario',
    'chat.create/403-model-access',
    chat,
    but(chat, { sends: { messages: [{ role: 'user', content: 'Hello' }], model: 'secret' } }),
  ],
  [
    'a scenario of a general requirement',
    'general/503-unavailable',
    pdf,
    but(pdf, { sentWith: { 'x-simulate': 'down' } }),
  ],
])('%s is recognised by the target file: granted, it fails %s', async (_, id, ...told) => {
  const target = join(folder(), 'target.json')
  writeFileSync(target, JSON.stringify(declared))
  expect(failedIds(await check(har(...told), { target }))).toEqual([id])
  expect(failedIds(await check(har(...told)))).toEqual([])
})
