import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { operation, type OperationId, operations } from '../../catalogue/operations.ts'
import { defaultLimits } from '../../harness/target/model.ts'
import { newAjv } from '../../schemas/ajv.ts'

interface Schema {
  readonly description?: string
  readonly enum?: readonly string[]
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly else?: Schema
}

const schemaFile = fileURLToPath(new URL('../../schemas/target.schema.json', import.meta.url))
const schema = JSON.parse(readFileSync(schemaFile, 'utf8')) as Schema
const declared = schema.properties?.['operations']?.properties ?? {}

test.each<[OperationId, readonly string[]]>([
  ['pdf.parse', ['path', 'query', 'headers']],
  ['jobs.create', ['path', 'query', 'headers', 'cleanup']],
  [
    'files.upload',
    ['path', 'query', 'headers', 'content', 'contentType', 'filename', 'fields', 'cleanup'],
  ],
  ['files.list', ['path', 'query', 'headers']],
  ['graphs.create', ['path', 'query', 'headers', 'body', 'fields', 'cleanup']],
  ['graphs.add-file', ['path', 'query', 'headers', 'body', 'fields']],
  ['chat.create', ['path', 'query', 'headers', 'body', 'fields']],
])('of %s the target file may say %j', (id, members) => {
  const { properties = {} } = declared[id]?.else ?? {}
  expect(Object.keys(properties)).toEqual(members)
  expect(properties['path']?.enum).toEqual([operation(id).path, ...operation(id).otherPaths])
})

// The contract with the users: roles are never renamed.
test('the roles are these', () => {
  const roles = Object.entries(declared).map(([id, { else: value }]) => [
    id,
    Object.keys(value?.properties?.['fields']?.properties ?? {}).join(' '),
  ])
  expect(Object.fromEntries(roles)).toMatchObject({
    'completion.create': 'model prompt temperature max_tokens parameter',
    'chat.create':
      'model messages tools tool_choice stream stream_options response_format query_config',
    'files.upload': 'id',
    'graphs.create': 'name id',
    'graphs.add-file': 'file',
    'graphs.query': 'query query_config',
    'applications.create': 'name id',
    'ai-detect.run': 'text',
    'web-search.run': 'query',
    'medical.comprehend': 'content response_type',
    'translate.run': 'text source target',
    'vision.analyze': 'model prompt variables',
  })
})

test('the schema has no other operation', () => {
  expect(Object.keys(declared)).toEqual([
    ...operations.map(({ id }) => id),
    'guardrails',
    'general',
    '*',
  ])
})

test('the schema states the limits that hold', () => {
  const limits = schema.properties?.['limits']?.properties ?? {}
  expect(
    Object.fromEntries(Object.entries(limits).map(([name, limit]) => [name, limit.default])),
  ).toEqual(defaultLimits)
})

test('an editor can say what each member at the top is for', () => {
  for (const [name, member] of Object.entries(schema.properties ?? {}))
    expect(member.description, name).toBeTruthy()
})

test('each example fits the member that it stands at', () => {
  const ajv = newAjv({ strict: false, allErrors: true, inlineRefs: false, validateSchema: false })
  ajv.addSchema(JSON.parse(readFileSync(schemaFile, 'utf8')), 'target')
  let seen = 0
  const visit = (value: unknown, pointer: string): void => {
    if (typeof value !== 'object' || value === null) return
    const { examples } = value as { examples?: unknown[] }
    if (Array.isArray(examples) && !pointer.endsWith('/properties')) {
      for (const example of examples) {
        seen++
        expect(example, pointer).toBeDefined()
        expect(
          ajv.validate({ $ref: `target#${pointer}` }, example),
          `${pointer}: ${ajv.errorsText()}`,
        ).toBe(true)
      }
    }
    for (const [name, inner] of Object.entries(value)) {
      if (name !== 'examples')
        visit(inner, `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`)
    }
  }
  visit(schema, '')
  expect(seen).toBeGreaterThan(150)
})
