import type { Pairs } from '../../catalogue/requirement.ts'
import { hasStatusOf, isGranted, tpeOf, describePairs, envelopeRemark, matchPairs } from './response.ts'
import type { Exchange } from './exchange.ts'
import { Failed, NotExercised } from './outcome.ts'
import { describeResponse, familyRemark } from './describe.ts'
import { answered, type CheckContext, familyOnlyOf } from './check-context.ts'
import { type SchemaName, validate } from '../../schemas/validate.ts'

const bareRemark = '; the status is right, but this is no error envelope: see envelope/shape'

/** Judges an answer by the pairs that the spec asks for. A failure of the name only is kept; any other failure is thrown. */
export function judgePairs(context: CheckContext, exchange: Exchange, pairs: Pairs, what: string): void {
  const { response } = exchange
  if (!response) {
    if (context.control !== 'granted' || !exchange.unansweredTwice) throw new NotExercised(describeResponse(exchange))
    context.fail(exchange, describePairs(pairs), what)
  }
  context.cases++
  const match = matchPairs(pairs, response)
  if (match === 'exact') return
  const isBare = tpeOf(response) === undefined && hasStatusOf(pairs, response)
  const remark =
    match === 'family' ? familyRemark(exchange, pairs) : isBare ? bareRemark : envelopeRemark(pairs, response)
  const isOtherName = match === 'family' || (remark === '' && hasStatusOf(pairs, response))
  const failure = {
    ...context.failure(exchange, describePairs(pairs), what, describeResponse(exchange) + remark),
    toRefuse: true as const,
    asked: pairs.flat().map(String),
    ...(isOtherName ? { at: '/tpe' } : {}),
  }
  if (match === 'none') throw new Failed(isBare ? { ...failure, noEnvelope: true } : failure)
  const kept = familyOnlyOf(context)
  if (kept.length === 0) kept.push({ ...failure, familyOnly: true })
}

/**
 * Throws if an answer is no success, or not of the status that the requirement gives, or if two connections gave none: 403
 * InsufficientAccessRights to the full key only says that the key lacks the right.
 */
export function judgeGranted(context: CheckContext, exchange: Exchange, expected: string, what: string): void {
  const { expects } = context.requirement
  const wanted = typeof expects === 'number' && expected === '2xx' ? String(expects) : expected
  if (exchange.unansweredTwice) context.fail(exchange, wanted, what)
  answered(exchange)
  const { response } = exchange
  if (response.status === 403 && tpeOf(response) === 'InsufficientAccessRights' && exchange.probe.credential.full) {
    throw new NotExercised('the full key lacks the right: answered 403 InsufficientAccessRights')
  }
  context.cases++
  const other = typeof expects === 'number' && response.status !== expects
  if (!isGranted(response) || other) context.fail(exchange, wanted, what)
}

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
