import { expect, test } from 'vitest'
import { type SchemaName, validate } from '../../schemas/validate.ts'

const id = '7c1f2b3a-0000-4000-8000-0123456789ab'
const created = { id, status: 'in_progress', created_at: '2025-01-02T10:00:00Z' }
const job = { ...created, application_id: 'app_1' }
const envelope = { tpe: 'BadRequest', errors: [], extras: {} }
const entity = { category: 'ANATOMY', text: 'knee', score: 0.5, traits: [] }
const without = (body: object, name: string): object =>
  Object.fromEntries(Object.entries(body).filter(([key]) => key !== name))

test.each<[SchemaName, body: unknown]>([
  ['created-job', created],
  ['created-job', { ...created, status: 'completed' }],
  ['created-job', { ...created, status: 'failed', id: id.toUpperCase() }],
  ['created-job', { ...created, more: null, data: 1 }],
  ['job', job],
  ['job', { ...job, application_id: '' }],
  ['job', { ...job, application_id: 'ünïcode/42' }],
  ['job', { ...job, status: 'completed' }],
  [
    'job',
    { ...job, status: 'completed', data: {}, completed_at: '2025-01-02T10:00:00.123456+05:30' },
  ],
  [
    'job',
    { ...job, status: 'completed', data: { suggestion: ['x'], title: null }, error: 'ignored' },
  ],
  ['job', { ...job, status: 'failed' }],
  ['job', { ...job, status: 'failed', error: '', data: {}, completed_at: '1990-12-31t23:59:60z' }],
  ['job', { ...job, data: {}, error: 'x', updated_at: '1970-01-01T00:00:00Z' }],
  ['pdf-content', { content: '' }],
  ['pdf-content', { content: '# Title', pages: 2 }],
  ['error-envelope', envelope],
  ['error-envelope', { ...envelope, tpe: '' }],
  ['error-envelope', { ...envelope, errors: [{}], more: [] }],
  [
    'error-envelope',
    { ...envelope, errors: [{ key: 'k', description: 'd', extras: { a: 1 } }, { other: null }] },
  ],
  ['chat-completion', { choices: [{ message: { content: '' } }] }],
  [
    'chat-completion',
    { id: 1, choices: [{ index: 0, message: { content: 'x', llm_data: null } }, null, 7, {}] },
  ],
  [
    'llm-tool-completion',
    { choices: [{ message: { content: null, llm_data: { prompt: '', model: 'm', more: 1 } } }, 3] },
  ],
  ['medical-entities', { entities: [] }],
  [
    'medical-entities',
    { entities: [entity, { ...entity, score: 1, traits: [1, null], id: 7 }], model: 'm' },
  ],
])('%s takes %j', (name, body) => {
  expect(validate(name, body)).toEqual({ valid: true })
})

test.each<[SchemaName, body: unknown, place: string, problem: string]>([
  ['created-job', null, '', 'the body must be an object, got null'],
  [
    'created-job',
    [created],
    '',
    'the body must be an object, got [{"id":"7c1f2b3a-0000-4000-8000-0123456789ab","status":"in_…',
  ],
  ['created-job', without(created, 'id'), '/id', 'id is missing'],
  ['created-job', without(created, 'status'), '/status', 'status is missing'],
  ['created-job', without(created, 'created_at'), '/created_at', 'created_at is missing'],
  [
    'created-job',
    { ...created, id: `urn:uuid:${id}` },
    '/id',
    `id must be a uuid, got "urn:uuid:${id}"`,
  ],
  ['created-job', { ...created, id: 7 }, '/id', 'id must be a string, got 7'],
  [
    'created-job',
    { ...created, status: 'queued' },
    '/status',
    'status must be one of in_progress, failed, completed, got "queued"',
  ],
  [
    'created-job',
    { ...created, status: 'Completed' },
    '/status',
    'status must be one of in_progress, failed, completed, got "Completed"',
  ],
  [
    'created-job',
    { ...created, created_at: 'yesterday' },
    '/created_at',
    'created_at must be an RFC 3339 date-time, got "yesterday"',
  ],
  [
    'created-job',
    { ...created, created_at: '2026-11-22T06:20:46.405766' },
    '/created_at',
    'created_at must be an RFC 3339 date-time, got "2026-11-22T06:20:46.405766": the offset from UTC is missing: Z or +00:00 at the end',
  ],
  [
    'created-job',
    { ...created, created_at: 1735812000 },
    '/created_at',
    'created_at must be a string, got 1735812000',
  ],
  ['job', created, '/application_id', 'application_id is missing'],
  [
    'job',
    { ...job, application_id: 12 },
    '/application_id',
    'application_id must be a string, got 12',
  ],
  ['job', { ...job, updated_at: null }, '/updated_at', 'updated_at must be a string, got null'],
  [
    'job',
    { ...job, completed_at: '2025-01-02 10:00:00Z' },
    '/completed_at',
    'completed_at must be an RFC 3339 date-time, got "2025-01-02 10:00:00Z"',
  ],
  ['job', { ...job, data: [] }, '/data', 'data must be an object, got []'],
  ['job', { ...job, data: null }, '/data', 'data must be an object, got null'],
  ['job', { ...job, data: '{}' }, '/data', 'data must be an object, got "{}"'],
  ['job', { ...job, error: null }, '/error', 'error must be a string, got null'],
  [
    'job',
    { ...job, error: { message: 'x' } },
    '/error',
    'error must be a string, got {"message":"x"}',
  ],
  ['pdf-content', {}, '/content', 'content is missing'],
  ['pdf-content', { content: null }, '/content', 'content must be a string, got null'],
  ['pdf-content', 'text', '', 'the body must be an object, got "text"'],
  ['error-envelope', without(envelope, 'tpe'), '/tpe', 'tpe is missing'],
  ['error-envelope', without(envelope, 'errors'), '/errors', 'errors is missing'],
  ['error-envelope', without(envelope, 'extras'), '/extras', 'extras is missing'],
  ['error-envelope', { ...envelope, tpe: 400 }, '/tpe', 'tpe must be a string, got 400'],
  ['error-envelope', { ...envelope, errors: {} }, '/errors', 'errors must be an array, got {}'],
  [
    'error-envelope',
    { ...envelope, errors: ['x'] },
    '/errors/0',
    'errors[0] must be an object, got "x"',
  ],
  [
    'error-envelope',
    { ...envelope, errors: [{}, { key: null }] },
    '/errors/1/key',
    'errors[1].key must be a string, got null',
  ],
  [
    'error-envelope',
    { ...envelope, errors: [{ description: 1 }] },
    '/errors/0/description',
    'errors[0].description must be a string, got 1',
  ],
  [
    'error-envelope',
    { ...envelope, errors: [{ extras: [] }] },
    '/errors/0/extras',
    'errors[0].extras must be an object, got []',
  ],
  [
    'error-envelope',
    { ...envelope, extras: null },
    '/extras',
    'extras must be an object, got null',
  ],
  ['error-envelope', { ...envelope, extras: [] }, '/extras', 'extras must be an object, got []'],
  ['chat-completion', {}, '/choices', 'choices is missing'],
  ['chat-completion', { choices: [] }, '/choices', 'choices must have at least 1 item, got []'],
  ['chat-completion', { choices: {} }, '/choices', 'choices must be an array, got {}'],
  ['chat-completion', { choices: [{}] }, '/choices/0/message', 'choices[0].message is missing'],
  [
    'chat-completion',
    { choices: [{ message: {} }] },
    '/choices/0/message/content',
    'choices[0].message.content is missing',
  ],
  [
    'chat-completion',
    { choices: [{ message: { content: null } }] },
    '/choices/0/message/content',
    'choices[0].message.content must be a string, got null',
  ],
  [
    'llm-tool-completion',
    { choices: [{ message: { content: 'x' } }] },
    '/choices/0/message/llm_data',
    'choices[0].message.llm_data is missing',
  ],
  [
    'llm-tool-completion',
    { choices: [{ message: { llm_data: { prompt: 'x' } } }] },
    '/choices/0/message/llm_data/model',
    'choices[0].message.llm_data.model is missing',
  ],
  ['medical-entities', { entities: {} }, '/entities', 'entities must be an array, got {}'],
  [
    'medical-entities',
    { entities: [entity, null] },
    '/entities/1',
    'entities[1] must be an object, got null',
  ],
  ...['category', 'text', 'score', 'traits'].map((name): [SchemaName, unknown, string, string] => [
    'medical-entities',
    { entities: [without(entity, name)] },
    `/entities/0/${name}`,
    `entities[0].${name} is missing`,
  ]),
  [
    'medical-entities',
    { entities: [{ ...entity, score: '1' }] },
    '/entities/0/score',
    'entities[0].score must be a number, got "1"',
  ],
  [
    'medical-entities',
    { entities: [{ ...entity, traits: {} }] },
    '/entities/0/traits',
    'entities[0].traits must be an array, got {}',
  ],
])('%s refuses %j', (name, body, place, problem) => {
  expect(validate(name, body)).toEqual({ valid: false, place, problem })
})
