import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormatsModule from 'ajv-formats'
import { expect, test } from 'vitest'
import { jsonInstance } from '../../reference/operations/chat.ts'

const addFormats = addFormatsModule as unknown as (ajv: Ajv2020) => void

const schemas: readonly object[] = [
  { type: 'string', minLength: 5 },
  { type: 'string', maxLength: 2 },
  { type: 'string', format: 'date-time' },
  { type: 'integer', minimum: 7, maximum: 9 },
  { type: 'integer', exclusiveMinimum: 7 },
  { type: 'integer', maximum: -4 },
  { type: 'integer', minimum: 1, multipleOf: 5 },
  { type: 'number', exclusiveMinimum: 0, maximum: 1 },
  { type: ['null', 'string'] },
  { type: 'array', items: { type: 'boolean' }, minItems: 3 },
  { type: 'array', maxItems: 0 },
  { enum: ['tea', 'coffee'] },
  { const: { a: [1] } },
  { anyOf: [{ type: 'integer' }, { type: 'string' }] },
  { allOf: [{ type: 'object' }, { properties: { a: { type: 'integer' } }, required: ['a'] }] },
  { type: 'object', required: ['untold'] },
  {
    type: 'object',
    properties: {
      name: { type: 'string' },
      parts: { type: 'array', items: { $ref: '#/$defs/part' } },
    },
    required: ['name', 'parts'],
    additionalProperties: false,
    $defs: {
      part: { type: 'object', properties: { size: { type: 'number' } }, required: ['size'] },
    },
  },
  {
    $ref: '#/$defs/node',
    $defs: {
      node: {
        type: 'object',
        properties: { name: { type: 'string' }, next: { $ref: '#/$defs/node' } },
        required: ['name'],
      },
    },
  },
]

// One instance for all: it compiles what says what a schema is.
const ajv = new Ajv2020({ strict: false })
addFormats(ajv)

test.each(schemas)('what stands for %j fits it', (schema) => {
  const value = jsonInstance(schema)
  expect(ajv.validate(schema, value), `${JSON.stringify(value)}: ${ajv.errorsText()}`).toBe(true)
})
