import { readdirSync, readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { formats } from '../../schemas/formats.ts'
import { memberPath, setAt } from '../../schemas/json.ts'
import { validate } from '../../schemas/validate.ts'
import { bodyTables } from './bodies.ts'

const parsed = (json: string): unknown => (json === '-' ? undefined : JSON.parse(json))

describe.each(bodyTables)('$name $json', ({ name, json, rows }) => {
  test.each(rows)('%s', (row) => {
    const [changes = '', problem] = row.split(' -> ')
    let body = parsed(json)
    let place = ''
    for (const change of changes.split('; ')) {
      const [pointer = '', value = ''] = change.split(' = ')
      place = pointer === '/' ? '' : pointer
      body = setAt(body, place, parsed(value))
    }
    const whole = place === '' ? problem : `${memberPath(place)} ${problem}`
    const expected = problem ? { valid: false, problem: whole } : { valid: true }
    expect(validate(name, body)).toEqual(expected)
  })
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
