import { readFileSync } from 'node:fs'
import type { ValidateFunction } from 'ajv/dist/2020.js'
import { newAjv, optionsFor, schemaFile, type SchemaName } from './ajv.ts'
import { packageFile } from './package-file.ts'
import { precompiled } from './precompiled.ts'

const compiled = new Map<SchemaName, ValidateFunction>()

export function validatorOf(name: SchemaName): ValidateFunction {
  const known = precompiled[name] ?? compiled.get(name)
  if (known) return known
  const schema = JSON.parse(readFileSync(packageFile(schemaFile(name)), 'utf8')) as object
  // `tests/spec/strict-schemas` validates the schemas: it takes longer than compiling them.
  const validator = newAjv({ ...optionsFor(name), validateSchema: false }).compile(schema)
  compiled.set(name, validator)
  return validator
}
