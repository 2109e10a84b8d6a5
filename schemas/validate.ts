import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js'
import { formats } from './formats.ts'
import { type Problem, problemOf } from './problem.ts'

export type SchemaName =
  | 'llm-tool-completion'
  | 'job'
  | 'created-job'
  | 'pdf-content'
  | 'error-envelope'
  | 'chat-completion'
  | 'medical-entities'
  | 'report'

export type Validity = { valid: true } | ({ valid: false } & Problem)

const compiled = new Map<SchemaName, ValidateFunction>()
let ajv: Ajv2020 | undefined

// Loaded when first needed: most commands judge nothing.
function compiler(): Ajv2020 {
  const { Ajv2020 } = createRequire(import.meta.url)('ajv/dist/2020.js') as typeof import('ajv/dist/2020.js')
  return new Ajv2020({
    strict: true,
    // What stands beyond choices[0] is free.
    strictTuples: false,
    allErrors: false,
    // A member named like one of Object.prototype is no member of the body.
    ownProperties: true,
    verbose: true,
    formats,
  })
}

function compile(name: SchemaName): ValidateFunction {
  ajv ??= compiler()
  const schema = JSON.parse(readFileSync(new URL(`./${name}.schema.json`, import.meta.url), 'utf8')) as object
  return ajv.compile(schema)
}

/** Whether a parsed JSON value fits the schema; otherwise the first place where it does not, and why. */
export function validate(name: SchemaName, data: unknown): Validity {
  const check = compiled.get(name) ?? compile(name)
  compiled.set(name, check)
  if (check(data)) return { valid: true }
  const [error] = check.errors ?? []
  if (!error) throw new Error(`${name}: refused without an error`)
  return { valid: false, ...problemOf(error) }
}
