import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { operations } from '../../catalogue/operations.ts'
import { defaultLimits } from '../../harness/target/limits.ts'
import { creators, rolesOf } from '../../harness/target/roles.ts'

interface Schema {
  readonly description?: string
  readonly enum?: readonly string[]
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly else?: Schema
}

const schema = JSON.parse(readFileSync(new URL('../../schemas/target.schema.json', import.meta.url), 'utf8')) as Schema
const declared = schema.properties?.['operations']?.properties ?? {}

test.each(operations.map((operation) => [operation.id, operation] as const))(
  'the schema has %s as the interface does',
  (id, operation) => {
    const { path, body, content, fields, cleanup } = declared[id]?.else?.properties ?? {}
    const shown = ['pdf.parse', 'jobs.create'].includes(id)
    const expectedRoles = [...(rolesOf[id] ?? []), ...(creators.includes(id) ? ['id'] : [])]
    expect(path?.enum ?? []).toEqual([operation.path, ...operation.otherPaths])
    expect(body !== undefined).toBe(operation.body === 'json' && !shown)
    expect(content !== undefined).toBe(operation.body === 'raw')
    expect(Object.keys(fields?.properties ?? {})).toEqual(expectedRoles)
    expect(cleanup !== undefined).toBe(creators.includes(id) || id === 'jobs.create')
  },
)

test('the schema has no other operation', () => {
  expect(Object.keys(declared)).toEqual([...operations.map(({ id }) => id), 'guardrails', 'general'])
})

test('the schema states the limits that hold', () => {
  const limits = schema.properties?.['limits']?.properties ?? {}
  expect(Object.fromEntries(Object.entries(limits).map(([name, limit]) => [name, limit.default]))).toEqual(
    defaultLimits,
  )
})

test('an editor can say what each member at the top is for', () => {
  for (const [name, member] of Object.entries(schema.properties ?? {})) expect(member.description, name).toBeTruthy()
})
