import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { operations } from '../../catalogue/operations.ts'
import { defaultLimits } from '../../harness/target/model.ts'
import { creators, rolesOf } from '../../harness/target/roles.ts'
import { newAjv } from '../../schemas/ajv.ts'
import { editorSchema } from './editor-schema.ts'

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

test('the schema is up to date: each member is described, with an example, and every id completes (npm run snapshots writes it)', async () => {
  const text = readFileSync(schemaFile, 'utf8')
  const { format, resolveConfig } = await import('prettier')
  const style = await resolveConfig(schemaFile)
  const whole = await format(JSON.stringify(editorSchema(JSON.parse(text))), { ...style, parser: 'json' })
  await expect(whole).toMatchFileSnapshot(schemaFile)
})

test('each example fits the member that it stands at', () => {
  const ajv = newAjv({ strict: false, allErrors: true })
  ajv.addSchema(JSON.parse(readFileSync(schemaFile, 'utf8')), 'target')
  let seen = 0
  const visit = (value: unknown, pointer: string): void => {
    if (typeof value !== 'object' || value === null) return
    const { examples } = value as { examples?: unknown[] }
    if (Array.isArray(examples) && !pointer.endsWith('/properties')) {
      for (const example of examples) {
        seen++
        expect(example, pointer).toBeDefined()
        expect(ajv.validate({ $ref: `target#${pointer}` }, example), `${pointer}: ${ajv.errorsText()}`).toBe(true)
      }
    }
    for (const [name, inner] of Object.entries(value)) {
      if (name !== 'examples') visit(inner, `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`)
    }
  }
  visit(schema, '')
  expect(seen).toBeGreaterThan(150)
})
