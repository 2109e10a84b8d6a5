import { type SchemaName, validate } from '../../schemas/validate.ts'
import { isGranted } from '../engine/response.ts'
import type { Exchange } from '../engine/exchange.ts'
import { Failed, NotExercised } from '../engine/outcome.ts'
import { answered, type CheckContext } from '../engine/check-context.ts'

type BodySchema = Exclude<SchemaName, 'report' | 'target' | 'certificate'>

/** Names of bodies, in words for a reader; the section beside it says where its members are shown. */
const named: Readonly<Record<BodySchema, string>> = {
  'llm-tool-completion': 'a chat completion with an llm tool',
  job: 'a job',
  'created-job': 'a created job',
  'pdf-content': 'the content of a PDF',
  'error-envelope': 'an error envelope',
  'chat-completion': 'a chat completion',
  'medical-entities': 'a list of medical entities',
}

/**
 * Fails if the body is not JSON or does not fit the schema; the failure names the place and the problem. Of a success
 * that is more than is read of an answer nobody knows the shape.
 */
export function judgeShape(context: CheckContext, exchange: Exchange, schema: BodySchema, what: string): void {
  answered(exchange)
  const json = exchange.response.json()
  const expected = `a JSON body with the members and types of ${named[schema]}`
  if (!json.ok && json.unread && isGranted(exchange.response)) throw new NotExercised(json.problem)
  if (!json.ok) context.fail(exchange, expected, what, `${exchange.response.status}, but ${json.problem}`)
  const found = validate(schema, json.value)
  if (found.valid) return
  const failure = context.failure(exchange, expected, what, `${exchange.response.status}, but ${found.problem}`)
  throw new Failed({ ...failure, at: found.place })
}

/** True if the body is JSON and fits the schema. */
export function fits(exchange: Exchange, schema: SchemaName): boolean {
  const json = exchange.response?.json()
  return json?.ok === true && validate(schema, json.value).valid
}
