import { defineTarget } from '../../library/index.ts'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { operationOf, type OperationId, operations } from '../../catalogue/operations.ts'
import { defaultLimits } from '../../harness/target/model.ts'

interface Schema {
  readonly $ref?: string
  readonly enum?: readonly string[]
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
}

const file = new URL('../../schemas/target.schema.json', import.meta.url)
const schema = JSON.parse(readFileSync(file, 'utf8')) as Schema
const declared = schema.properties!['operations']!.properties!

test('the schema has each operation, and three names beside them', () => {
  const ids = operations.map(({ id }) => id)
  expect(Object.keys(declared)).toEqual([...ids, 'guardrails', 'general', '*'])
})

test.each(operations.map(({ id }) => id))('what the schema says of %s fits its record', (id) => {
  const { path, otherPaths, deprecated, body, isWhole, creates, fields } = operationOf(id)
  const { properties = {}, $ref } = declared[id]!
  expect($ref).toBe(`#/$defs/${deprecated ? 'removable' : 'operation'}`)
  expect(properties['path']?.enum).toEqual([path, ...otherPaths])
  const roles = Object.entries(properties['fields']?.properties ?? {})
  const expected = Object.entries(fields)
  expect(roles.map(([role, at]) => [role, at.default])).toEqual(expected)
  const members = [
    ...['path', 'query', 'headers'],
    ...(body === 'json' && !isWhole ? ['body'] : []),
    ...(body === 'raw' ? ['content', 'contentType', 'filename'] : []),
    ...(expected.length > 0 ? ['fields'] : []),
    ...(creates ? ['cleanup'] : []),
  ]
  expect(Object.keys(properties)).toEqual(members)
})

// The contract with the users: roles are never renamed, nor taken away.
test.each(
  Object.entries({
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
  }),
)('%s has the roles %s', (id, roles) => {
  const names = Object.keys(operationOf(id as OperationId).fields)
  expect(names).toEqual(expect.arrayContaining(roles.split(' ')))
})

test('the schema states the limits that hold', () => {
  const limits = Object.entries(schema.properties!['limits']!.properties!)
  expect(Object.fromEntries(limits.map(([name, limit]) => [name, limit.default]))).toEqual(
    defaultLimits,
  )
})

test('what no target file may hold does not compile', () => {
  // @ts-expect-error no such resource
  defineTarget({ resources: { aplication: { id: 'a', inputs: [] } } })
  // @ts-expect-error only operations whose removal is announced can be removed
  defineTarget({ operations: { 'chat.create': 'removed' } })
  expect(
    defineTarget({ operations: { 'pdf.parse': 'removed', guardrails: 'not-served' } }),
  ).toBeDefined()
})
