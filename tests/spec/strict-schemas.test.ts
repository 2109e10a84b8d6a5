import { readdirSync, readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { formats } from '../../schemas/formats.ts'

const root = new URL('../../', import.meta.url)
const files = ['schemas/', 'certificate/'].flatMap((folder) =>
  readdirSync(new URL(folder, root))
    .filter((name) => name.endsWith('.schema.json'))
    .map((name) => folder + name),
)

// One instance for all: it compiles what says what a schema is.
const metaSchema = new Ajv2020()

test.each(files)('%s is a valid schema of 2020-12, and says what it is', (name) => {
  const schema = JSON.parse(readFileSync(new URL(name, root), 'utf8')) as Record<string, unknown>
  expect(schema['$schema']).toBe('https://json-schema.org/draft/2020-12/schema')
  expect(schema['title']).toEqual(expect.any(String))
  // Nobody reads that of a certificate in an editor.
  if (name.startsWith('schemas/')) expect(schema['description']).toEqual(expect.any(String))
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
