import { expect, test } from 'vitest'
import { type SchemaName, validate } from '../../schemas/validate.ts'
import { readdirSync, readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { formats } from '../../schemas/formats.ts'

const id = '7c1f2b3a-0000-4000-8000-0123456789ab'
const created = { id, status: 'in_progress', created_at: '2025-01-02T10:00:00Z' }
const job = { ...created, application_id: 'app_1' }
const envelope = { tpe: 'BadRequest', errors: [], extras: {} }
const entity = { category: 'ANATOMY', text: 'knee', score: 0.5, traits: [] }
const without = (body: object, name: string): object =>
  Object.fromEntries(Object.entries(body).filter(([key]) => key !== name))

type Wrong = [SchemaName, place: string, body: unknown, problem: string]

const missingFrom =
  (schema: SchemaName, body: object) =>
  (name: string): Wrong => [schema, `/${name}`, without(body, name), 'is missing']

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

const withMessage = (message: unknown) => ({ choices: [{ message }] })
const offset = 'the offset from UTC is missing: Z or +00:00 at the end'
const aDate = 'must be an RFC 3339 date-time'

/** A body that differs at a place, and what is said then; of what is missing the place is below its holder. */
test.each<[SchemaName, place: string, body: unknown, problem: string]>([
  ['created-job', '', null, 'the body must be an object, got null'],
  ['created-job', '', [created], `the body must be an object, got [{"id":"${id}","status":"in_…`],
  ...['id', 'status', 'created_at'].map(missingFrom('created-job', created)),
  [
    'created-job',
    '/id',
    { ...created, id: `urn:uuid:${id}` },
    `must be a uuid, got "urn:uuid:${id}"`,
  ],
  ['created-job', '/id', { ...created, id: 7 }, 'must be a string, got 7'],
  ...['queued', 'Completed'].map((status): Wrong => [
    'created-job',
    '/status',
    { ...created, status },
    `must be one of in_progress, failed, completed, got "${status}"`,
  ]),
  ...[
    ['yesterday', `${aDate}, got "yesterday"`],
    ['2026-11-22T06:20:46.405766', `${aDate}, got "2026-11-22T06:20:46.405766": ${offset}`],
    [1735812000, 'must be a string, got 1735812000'],
  ].map(([at, problem]): Wrong => [
    'created-job',
    '/created_at',
    { ...created, created_at: at },
    String(problem),
  ]),
  missingFrom('job', created)('application_id'),
  ...(
    [
      ['application_id', 12, 'must be a string, got 12'],
      ['updated_at', null, 'must be a string, got null'],
      ['completed_at', '2025-01-02 10:00:00Z', `${aDate}, got "2025-01-02 10:00:00Z"`],
      ['data', [], 'must be an object, got []'],
      ['data', null, 'must be an object, got null'],
      ['data', '{}', 'must be an object, got "{}"'],
      ['error', null, 'must be a string, got null'],
      ['error', { message: 'x' }, 'must be a string, got {"message":"x"}'],
    ] as const
  ).map(([name, value, problem]): Wrong => ['job', `/${name}`, { ...job, [name]: value }, problem]),
  missingFrom('pdf-content', {})('content'),
  ['pdf-content', '/content', { content: null }, 'must be a string, got null'],
  ['pdf-content', '', 'text', 'the body must be an object, got "text"'],
  ...['tpe', 'errors', 'extras'].map(missingFrom('error-envelope', envelope)),
  ['error-envelope', '/tpe', { ...envelope, tpe: 400 }, 'must be a string, got 400'],
  ['error-envelope', '/extras', { ...envelope, extras: null }, 'must be an object, got null'],
  ['error-envelope', '/extras', { ...envelope, extras: [] }, 'must be an object, got []'],
  ...(
    [
      ['', {}, 'must be an array, got {}'],
      ['/0', ['x'], 'must be an object, got "x"'],
      ['/1/key', [{}, { key: null }], 'must be a string, got null'],
      ['/0/description', [{ description: 1 }], 'must be a string, got 1'],
      ['/0/extras', [{ extras: [] }], 'must be an object, got []'],
    ] as const
  ).map(([at, errors, problem]): Wrong => [
    'error-envelope',
    `/errors${at}`,
    { ...envelope, errors },
    problem,
  ]),
  missingFrom('chat-completion', {})('choices'),
  ['chat-completion', '/choices', { choices: [] }, 'must have at least 1 item, got []'],
  ['chat-completion', '/choices', { choices: {} }, 'must be an array, got {}'],
  ['chat-completion', '/choices/0/message', { choices: [{}] }, 'is missing'],
  ['chat-completion', '/choices/0/message/content', withMessage({}), 'is missing'],
  [
    'chat-completion',
    '/choices/0/message/content',
    withMessage({ content: null }),
    'must be a string, got null',
  ],
  [
    'llm-tool-completion',
    '/choices/0/message/llm_data',
    withMessage({ content: 'x' }),
    'is missing',
  ],
  [
    'llm-tool-completion',
    '/choices/0/message/llm_data/model',
    withMessage({ llm_data: { prompt: 'x' } }),
    'is missing',
  ],
  ['medical-entities', '/entities', { entities: {} }, 'must be an array, got {}'],
  ['medical-entities', '/entities/1', { entities: [entity, null] }, 'must be an object, got null'],
  ...['category', 'text', 'score', 'traits'].map((name): Wrong => [
    'medical-entities',
    `/entities/0/${name}`,
    { entities: [without(entity, name)] },
    'is missing',
  ]),
  ...(
    [
      ['score', '1', 'must be a number, got "1"'],
      ['traits', {}, 'must be an array, got {}'],
    ] as const
  ).map(([name, value, problem]): Wrong => [
    'medical-entities',
    `/entities/0/${name}`,
    { entities: [{ ...entity, [name]: value }] },
    problem,
  ]),
])('%s refuses at %s: %j', (name, place, body, problem) => {
  // `/errors/1/key` is called errors[1].key.
  const called = place
    .slice(1)
    .replaceAll(/\/(\d+)/g, '[$1]')
    .replaceAll('/', '.')
  const whole = place === '' ? problem : `${called} ${problem}`
  expect(validate(name, body)).toEqual({ valid: false, problem: whole })
})

const root = new URL('../../', import.meta.url)
const files = readdirSync(new URL('schemas/', root))
  .filter((name) => name.endsWith('.schema.json'))
  .map((name) => `schemas/${name}`)

// One instance for all: it compiles what says what a schema is.
const metaSchema = new Ajv2020()

test.each(files)('%s is a valid schema of 2020-12, and says what it is', (name) => {
  const schema = JSON.parse(readFileSync(new URL(name, root), 'utf8')) as Record<string, unknown>
  expect(schema['$schema']).toBe('https://json-schema.org/draft/2020-12/schema')
  expect(schema['title']).toEqual(expect.any(String))
  expect(schema['description']).toEqual(expect.any(String))
  expect(metaSchema.validateSchema(schema)).toBe(true)
})

test.each(files.filter((name) => name !== 'schemas/target.schema.json'))(
  '%s compiles in strict mode',
  (name) => {
    const schema = JSON.parse(readFileSync(new URL(name, root), 'utf8')) as object
    expect(
      new Ajv2020({ strict: true, strictTuples: false, formats, validateSchema: false }).compile(
        schema,
      ),
    ).toBeTypeOf('function')
  },
)
