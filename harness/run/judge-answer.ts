import { type CheckContext, answered } from './check-context.ts'
import {
  describePairs,
  describeResponse,
  envelopeRemark,
  type Exchange,
  Failed,
  familyRemark,
  hasStatusOf,
  type HttpResponse,
  isGranted,
  matchPairs,
  NotExercised,
  Throttled,
  tpeOf,
} from '../engine/index.ts'
import type { Pairs } from '../../catalogue/expected.ts'
import { type SchemaName, validate } from '../../schemas/validate.ts'

const bareRemark = '; the status is right, but this is no error envelope: see envelope/shape'

/** Judges an answer by the pairs that the spec asks for. A failure of the name only is kept; any other failure is thrown. */
export function judgePairs(
  context: CheckContext,
  exchange: Exchange,
  pairs: Pairs,
  what: string,
): void {
  const { response } = exchange
  if (!response) {
    if (context.control !== 'granted' || !exchange.unansweredTwice)
      throw new NotExercised(describeResponse(exchange))
    context.fail(exchange, describePairs(pairs), what)
  }
  // Throttling says nothing of a fault, unless it is what a scenario asks for.
  const isAsked = pairs.some(([status]) => status === response.status)
  if (exchange.throttled && !isAsked)
    throw new Throttled(`${describeResponse(exchange)} on every try`)
  context.cases++
  const match = matchPairs(pairs, response)
  if (match === 'exact' || (match === 'family' && context.run.options.tpe === 'family')) return
  if (!pairs.some(([status]) => status === 507)) requireStorage(context, exchange)
  // A control would have told that before.
  if (match === 'none' && context.control === 'none' && context.run.options.readOnly)
    requireRight(exchange)
  const isBare = tpeOf(response) === undefined && hasStatusOf(pairs, response)
  const remark =
    match === 'family'
      ? familyRemark(exchange, pairs)
      : isBare
        ? bareRemark
        : envelopeRemark(pairs, response)
  const isOtherName = match === 'family' || (remark === '' && hasStatusOf(pairs, response))
  const failure = {
    ...context.failure(exchange, describePairs(pairs), what, describeResponse(exchange) + remark),
    toRefuse: true as const,
    asked: pairs.flat().map(String),
    ...(isOtherName ? { at: '/tpe' } : {}),
  }
  if (match === 'none') throw new Failed(isBare ? { ...failure, noEnvelope: true } : failure)
  const { onlyName: kept } = context
  if (kept.length === 0) kept.push({ ...failure, onlyName: true })
}

/** Throws `NotExercised` if the full key lacks the right: that is no fault of the server. */
function requireRight({ probe, response }: Exchange): void {
  if (
    !probe.credential.full ||
    response?.status !== 403 ||
    tpeOf(response) !== 'InsufficientAccessRights'
  )
    return
  throw new NotExercised(
    'the full key lacks a right (403 InsufficientAccessRights): use a key with all rights',
  )
}

/** Throws `NotExercised` if what this run made has filled the account: before, 507 is an answer like any other. */
function requireStorage({ run }: CheckContext, exchange: Exchange): void {
  const { probe, response } = exchange
  if (response?.status !== 507 || tpeOf(response) === undefined) return
  if (run.objects.created.some(({ operation }) => operation === probe.operation))
    throw new NotExercised(
      `the account of the full key is full by now: answered ${describeResponse(exchange)}`,
    )
}

/** Throws if an answer is no success, or not of the status that the requirement gives, or if two connections gave none. */
export function judgeGranted(
  context: CheckContext,
  exchange: Exchange,
  expected: string,
  what: string,
): void {
  const { expects } = context.requirement
  const expectedText =
    typeof expects === 'number' && expected === '2xx' ? String(expects) : expected
  if (exchange.unansweredTwice) context.fail(exchange, expectedText, what)
  answered(exchange)
  const { response } = exchange
  requireRight(exchange)
  requireStorage(context, exchange)
  context.cases++
  const other = typeof expects === 'number' && response.status !== expects
  if (!isGranted(response) || other) context.fail(exchange, expectedText, what)
}

export type BodySchema = Exclude<SchemaName, 'report' | 'target' | 'certificate' | 'baseline'>

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
 * Tells what is wrong with a body that is not JSON or does not fit the schema; undefined if it fits. Of a success that is more
 * than is read of an answer nobody knows the shape: throws `NotExercised`.
 */
export function shapeFault(response: HttpResponse, schema: BodySchema) {
  const json = response.json()
  const expected = `a JSON body with the members and types of ${named[schema]}`
  if (!json.ok && json.unread && isGranted(response)) throw new NotExercised(json.problem)
  if (!json.ok) return { expected, actual: `${response.status}, but ${json.problem}` }
  const found = validate(schema, json.value)
  return found.valid
    ? undefined
    : { expected, actual: `${response.status}, but ${found.problem}`, at: found.place }
}

/** Fails if the body has not the shape that the spec shows; the failure names the place and the problem. */
export function judgeShape(
  context: CheckContext,
  exchange: Exchange,
  schema: BodySchema,
  what: string,
): void {
  answered(exchange)
  const fault = shapeFault(exchange.response, schema)
  if (!fault) return
  const { actual, expected, ...place } = fault
  throw new Failed({ ...context.failure(exchange, expected, what, actual), ...place })
}

export function fits(exchange: Exchange, schema: SchemaName): boolean {
  const json = exchange.response?.json()
  return json?.ok === true && validate(schema, json.value).valid
}
