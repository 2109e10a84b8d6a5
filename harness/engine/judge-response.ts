import type { Pairs } from '../../catalogue/pairs.ts'
import { hasStatusOf, isGranted, tpeOf, describePairs, envelopeRemark, matchPairs } from './response.ts'
import type { Exchange } from './exchange.ts'
import { Failed, NotExercised } from './outcome.ts'
import { describeResponse, familyRemark } from './describe.ts'
import { answered, type CheckContext, familyOnlyOf } from './check-context.ts'

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
