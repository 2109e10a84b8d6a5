import { type SchemaName, validate } from '../../schemas/validate.ts'
import { isGranted } from '../engine/answer.ts'
import type { Exchange } from '../engine/exchange.ts'
import { NotExercised } from '../engine/outcome.ts'
import { answered, type CheckContext } from '../engine/check-context.ts'

/**
 * Fails if the body is not JSON or does not fit the schema; the failure names the place and the problem. Of a success
 * that is more than is read of an answer nobody knows the shape.
 */
export function judgeShape(context: CheckContext, exchange: Exchange, schema: SchemaName, what: string): void {
  answered(exchange)
  const json = exchange.answer.json()
  const expected = `a JSON body that fits ${schema}`
  if (!json.ok && json.unread && isGranted(exchange.answer)) throw new NotExercised(json.problem)
  if (!json.ok) context.fail(exchange, expected, what, `${exchange.answer.status}, but ${json.problem}`)
  const found = validate(schema, json.value)
  if (!found.valid) context.fail(exchange, expected, what, `${exchange.answer.status}, but ${found.problem}`)
}

/** True if the body is JSON and fits the schema. */
export function fits(exchange: Exchange, schema: SchemaName): boolean {
  const json = exchange.answer?.json()
  return json?.ok === true && validate(schema, json.value).valid
}
