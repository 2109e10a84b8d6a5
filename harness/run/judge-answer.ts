import type { Evidence, Verdict } from '../journal/index.ts'
import { type CheckContext, answered, sentTwice } from './check-context.ts'
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
  type Run,
  tpeOf,
} from '../engine/index.ts'
import type { Pairs } from '../../catalogue/expected.ts'
import type { Failure, Reason } from '../report/index.ts'
import { type SchemaName, validate } from '../../schemas/validate.ts'

const bareRemark = '; the status is right, but this is not an error envelope: see envelope/shape'

export type Compared = 'held' | 'name' | 'broken' | { readonly why: string }

export function comparePairs(
  { run, control }: Pick<CheckContext, 'run' | 'control'>,
  exchange: Exchange,
  pairs: Pairs,
): Compared {
  const { isOwnLimit, response, throttled } = exchange
  if (!response)
    return control === 'granted' && exchange.unansweredTwice
      ? 'broken'
      : { why: describeResponse(exchange) }
  // Throttling says nothing about a fault, unless a scenario expects it.
  if (throttled && (isOwnLimit || !pairs.some(([status]) => status === response.status)))
    return { why: `throttled: ${describeResponse(exchange)} on every try` }
  const match = matchPairs(pairs, response)
  if (match === 'exact' || (match === 'family' && run.options.tpe === 'family')) return 'held'
  const isFull = pairs.some(([status]) => status === 507) ? undefined : storageFull(run, exchange)
  // A control would have shown that before.
  const isAlone = match === 'none' && control === 'none' && run.options.readOnly
  const why = isFull ?? (isAlone ? lacksRight(exchange) : undefined) ?? sentTwice(exchange)
  if (why !== undefined) return { why }
  return match === 'family' ? 'name' : 'broken'
}

function pairsFailure(
  context: CheckContext,
  exchange: Exchange,
  pairs: Pairs,
  what: string,
): Failure {
  const { response } = exchange
  if (!response) return context.failure(exchange, describePairs(pairs), what)
  const isFamily = matchPairs(pairs, response) === 'family'
  const isBare = tpeOf(response) === undefined && hasStatusOf(pairs, response)
  const remark = isFamily
    ? familyRemark(exchange, pairs)
    : isBare
      ? bareRemark
      : envelopeRemark(pairs, response)
  const isOtherName = isFamily || (remark === '' && hasStatusOf(pairs, response))
  return {
    ...context.failure(exchange, describePairs(pairs), what, describeResponse(exchange) + remark),
    toRefuse: true,
    ...(isOtherName && { at: '/tpe' }),
    ...(isBare && !isFamily && { noEnvelope: true }),
    onlyName: isFamily,
  }
}

export function failureOf(context: CheckContext, evidence: Evidence): Failure {
  const { exchange, what, expected, actual, at, path } = evidence
  context.again.shownBy = evidence.shownBy ?? null
  const failure =
    typeof expected === 'string'
      ? context.failure(exchange, expected, what, actual)
      : pairsFailure(context, exchange, expected, what)
  return { ...failure, ...(at !== undefined && { at }), ...(path && { path }) }
}

/** Throws if an answer has none of the accepted pairs. */
export function judgePairs(
  context: CheckContext,
  exchange: Exchange,
  pairs: Pairs,
  what: string,
): void {
  const failure = pairsFault(context, exchange, pairs, what)
  if (exchange.response) context.cases++
  if (failure) throw new Failed(failure)
}

/** Undefined if an answer has one of the accepted pairs; throws `NotExercised` if it says nothing. */
function pairsFault(
  context: CheckContext,
  exchange: Exchange,
  pairs: Pairs,
  what: string,
): Failure | undefined {
  const found = comparePairs(context, exchange, pairs)
  if (typeof found === 'object') throw new NotExercised(found.why)
  return found === 'held' ? undefined : pairsFailure(context, exchange, pairs, what)
}

function lacksRight({ probe, response }: Exchange): string | undefined {
  const isBarred = response?.status === 403 && tpeOf(response) === 'InsufficientAccessRights'
  return isBarred && probe.credential.full
    ? 'the full key lacks a right (403 InsufficientAccessRights): use a key with all rights'
    : undefined
}

/** Says that what this run made has filled the account: before, 507 is an answer like any other. */
function storageFull({ objects }: Run, exchange: Exchange): string | undefined {
  const { probe, response } = exchange
  const isFull = response?.status === 507 && tpeOf(response) !== undefined
  return isFull && objects.created.some(({ operation }) => operation === probe.operation)
    ? `the account of the full key is now full: answered ${describeResponse(exchange)}`
    : undefined
}

/** Why there is no answer to judge; undefined if there is one. */
export function whySilent(exchange: Exchange): Reason | undefined {
  if (exchange.throttled) return { reason: `throttled: ${describeResponse(exchange)} on every try` }
  return exchange.response ? undefined : { reason: describeResponse(exchange) }
}

/** What is wrong with an answer, or why it says nothing about the target. */
export type Finding = (Pick<Evidence, 'actual' | 'at'> & { readonly expected: string }) | Reason

export function grantedFinding(
  { run, requirement: { expects } }: Pick<CheckContext, 'run' | 'requirement'>,
  exchange: Exchange,
  expected: string,
): Finding | undefined {
  const { response } = exchange
  const isOneStatus = typeof expects === 'number'
  const fault = { expected: isOneStatus && expected === '2xx' ? String(expects) : expected }
  if (exchange.unansweredTwice) return fault
  const silent = whySilent(exchange)
  if (silent) return silent
  const reason = lacksRight(exchange) ?? storageFull(run, exchange)
  if (reason !== undefined) return { reason }
  const isRight = isGranted(response!) && (!isOneStatus || response!.status === expects)
  return isRight ? undefined : fault
}

function judgeFinding(
  context: CheckContext,
  exchange: Exchange,
  what: string,
  found: Finding | undefined,
): void {
  if (!found) return
  if ('reason' in found) throw new NotExercised(found)
  throw new Failed(failureOf(context, { exchange, what, ...found, shownBy: context.again.shownBy }))
}

/** Throws if an answer is not a success or has another status than required, or if two connections gave none. */
export function judgeGranted(
  context: CheckContext,
  exchange: Exchange,
  expected: string,
  what: string,
): void {
  const found = grantedFinding(context, exchange, expected)
  if (!found || !('reason' in found)) context.cases++
  judgeFinding(context, exchange, what, found)
}

export type BodySchema = Exclude<SchemaName, 'report' | 'target' | 'certificate' | 'baseline'>

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
 * Returns what is wrong with a body that is not JSON or does not fit the schema. Throws `NotExercised` for a success
 * larger than the read limit.
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

export function shapeFinding({ response }: Exchange, schema: BodySchema): Finding | undefined {
  const json = response!.json()
  if (!json.ok && json.unread && isGranted(response!)) return { reason: json.problem }
  return shapeFault(response!, schema)
}

/** Fails if the body does not have the documented shape; names the place and the problem. */
export function judgeShape(
  context: CheckContext,
  exchange: Exchange,
  schema: BodySchema,
  what: string,
): void {
  answered(exchange)
  judgeFinding(context, exchange, what, shapeFinding(exchange, schema))
}

/** Applies a rule's verdict: throws `Failed` with its evidence, or `NotExercised` if open. */
export function judgeVerdict(context: CheckContext, verdict: Verdict): void {
  if (verdict.outcome === 'open') throw new NotExercised(verdict.reason ?? verdict.why)
  context.cases += verdict.cases
  if (verdict.outcome !== 'broken') return
  let named: Failure | undefined
  for (const { exchange, what, expected, ...more } of verdict.evidence) {
    context.again.shownBy = more.shownBy ?? null
    context.again.before = more.before
    context.again.takes = more.takes ?? context.again.takes
    if (typeof expected !== 'string') {
      // The rule has shown that the state existed.
      context.control = 'granted'
      const failure = pairsFault(context, exchange, expected, what)
      // Another answer may be wrong in more than its name.
      if (failure && !failure.onlyName) throw new Failed(failure, named ? [named] : [])
      named ??= failure
      continue
    }
    const { actual, at, against } = more
    const before = against ? [context.failure(against, expected, `${what}, before`)] : []
    const failure = context.failure(exchange, expected, what, actual)
    throw new Failed(at === undefined ? failure : { ...failure, at }, before)
  }
  if (named) throw new Failed(named)
}

export function fits(exchange: Exchange, schema: SchemaName): boolean {
  const json = exchange.response?.json()
  return json?.ok === true && validate(schema, json.value).valid
}
