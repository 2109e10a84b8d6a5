import { readdirSync, readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { formats } from '../../schemas/formats.ts'

const folder = new URL('../../schemas/', import.meta.url)
const files = readdirSync(folder).filter((name) => name.endsWith('.schema.json'))

test.each(files)('%s is a valid schema of 2020-12, and says what it is', (name) => {
  const schema = JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Record<string, unknown>
  expect(schema['$schema']).toBe('https://json-schema.org/draft/2020-12/schema')
  expect(schema['title']).toEqual(expect.any(String))
  expect(schema['description']).toEqual(expect.any(String))
  expect(new Ajv2020().validateSchema(schema)).toBe(true)
})

test.each(files.filter((name) => name !== 'target.schema.json'))('%s compiles in strict mode', (name) => {
  const schema = JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as object
  expect(new Ajv2020({ strict: true, strictTuples: false, formats }).compile(schema)).toBeTypeOf('function')
})
