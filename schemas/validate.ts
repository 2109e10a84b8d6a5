import type { SchemaName } from './ajv.ts'
import { type Problem, problemOf } from './problem.ts'
import { validatorOf } from './validators.ts'

export type { SchemaName } from './ajv.ts'

export type Validity = { valid: true } | ({ valid: false } & Problem)

/** Whether a parsed JSON value fits the schema; otherwise the first place if it does not, and why. */
export function validate(name: SchemaName, data: unknown): Validity {
  const check = validatorOf(name)
  if (check(data)) return { valid: true }
  const [error] = check.errors ?? []
  if (!error) throw new Error(`${name}: refused without an error`)
  return { valid: false, ...problemOf(error) }
}
