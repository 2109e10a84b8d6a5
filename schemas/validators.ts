import { readFileSync } from 'node:fs'
import type { ValidateFunction } from 'ajv/dist/2020.js'
import { newAjv, optionsFor, schemaFile, type SchemaName } from './ajv.ts'
import { packageFile } from './package-file.ts'

const compiled = new Map<SchemaName, ValidateFunction>()

/** The compiled schema of that name. The build puts code in place of this module that needs no compiling. */
export function validatorOf(name: SchemaName): ValidateFunction {
  const known = compiled.get(name)
  if (known) return known
  const schema = JSON.parse(readFileSync(packageFile(schemaFile(name)), 'utf8')) as object
  // That each of them is a schema is a test's concern (`tests/spec/strict-schemas`): to look takes longer than to compile it.
  const validator = newAjv({ ...optionsFor(name), validateSchema: false }).compile(schema)
  compiled.set(name, validator)
  return validator
}
