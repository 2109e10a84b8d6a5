import type { Pairs } from '../../catalogue/answers.ts'
import { hasStatusOf, isGranted, tpeOf, describePairs, envelopeRemark, matchPairs } from './answer.ts'
import type { Exchange } from './exchange.ts'
import { Failed, NotExercised } from './outcome.ts'
import { describeAnswer, familyRemark } from './describe.ts'
import { answered, type CheckContext } from './check-context.ts'

const bareRemark = '; the status is right, but this is no error envelope: see envelope/shape'

/** Judges an answer by the pairs that the spec asks for. A failure of the name only is kept; any other failure is thrown. */
export function judgePairs(context: CheckContext, exchange: Exchange, pairs: Pairs, what: string): void {
  const { answer } = exchange
  if (!answer) {
    if (context.control !== 'granted' || !exchange.unansweredTwice) throw new NotExercised(describeAnswer(exchange))
    context.fail(exchange, describePairs(pairs), what)
  }
  context.cases++
  const match = matchPairs(pairs, answer)
  if (match === 'exact') return
  const isBare = tpeOf(answer) === undefined && hasStatusOf(pairs, answer)
  const remark =
    match === 'family' ? familyRemark(exchange, pairs) : isBare ? bareRemark : envelopeRemark(pairs, answer)
  const isOtherName = match === 'family' || (remark === '' && hasStatusOf(pairs, answer))
  const failure = {
    ...context.failure(exchange, describePairs(pairs), what, describeAnswer(exchange) + remark),
    ...(isOtherName ? { at: '/tpe' } : {}),
  }
  if (match === 'none') throw new Failed(isBare ? { ...failure, noEnvelope: true } : failure)
  if (context.familyOnly.length === 0) context.familyOnly.push({ ...failure, familyOnly: true })
}

/**
 * Throws if an answer is no success, or not of the status that the row gives, or if two connections gave none: 403
 * InsufficientAccessRights to the full key only says that the key lacks the right.
 */
export function judgeGranted(context: CheckContext, exchange: Exchange, expected: string, what: string): void {
  const { gives } = context.row
  const wanted = typeof gives === 'number' && expected === '2xx' ? String(gives) : expected
  if (exchange.unansweredTwice) context.fail(exchange, wanted, what)
  answered(exchange)
  const { answer } = exchange
  if (answer.status === 403 && tpeOf(answer) === 'InsufficientAccessRights' && exchange.probe.credential.full) {
    throw new NotExercised('the full key lacks the right: answered 403 InsufficientAccessRights')
  }
  context.cases++
  const other = typeof gives === 'number' && answer.status !== gives
  if (!isGranted(answer) || other) context.fail(exchange, wanted, what)
}
