import { grantedRow } from '../../catalogue/catalogue.ts'
import { operation as operationOf } from '../../catalogue/operations.ts'
import type { Failure } from '../report/model.ts'
import { failuresOf, type PoisonedConnection } from './reused-failures.ts'
import type { Exchange, PreviousRequest } from './exchange.ts'
import { isExpected, matchPairs } from './answer.ts'
import { perRun, type Run } from './run.ts'
import type { SendOptions } from '../http/message.ts'
import { isThrottled } from './throttle.ts'

/** Sends the request of an exchange once more. */
export type SendAgain = (options: Pick<SendOptions, 'fresh' | 'after'>) => Promise<Exchange>

/** Requests that left a connection behind on which the next answer was wrong: by the requirement they were sent for. */
export const poisonedConnections = perRun(() => new Map<string, Failure[]>())

/** Answers that were as wrong on a fresh connection: nothing is to be learned from the next one of their kind. */
const provenOf = perRun(() => new Set<string>())

/** To a request that should be granted. */
const saysNothing: readonly number[] = [401, 403, 409, 429]

/** Whether the answer is certainly not what the request was sent for. */
function isWrong(exchange: Exchange): boolean {
  const { answer, noAnswer, purpose, probe } = exchange
  if (!answer) return noAnswer?.cause === 'malformed'
  if (isThrottling(exchange)) return false
  if (purpose.wanted) return !purpose.wanted(exchange)
  if (purpose.expects) return matchPairs(purpose.expects, answer) !== 'exact'
  const refused = answer.status >= 400 && answer.status < 500
  return probe.effect !== 'none' && refused && !saysNothing.includes(answer.status)
}

/** What was just made may not be there yet: a later attempt finds it by itself, whatever the connection (`settleMs`). */
function mayAppear({ objects, target }: Run, { answer, probe, sentAt }: Exchange): boolean {
  const { params, body } = probe
  const text = typeof body === 'string' ? body : ''
  const isNamed = (id: string): boolean => text.includes(id) || Object.values(params).includes(id)
  const since = sentAt - target.limits.settleMs
  return answer !== undefined && [...objects.madeAt].some(([id, at]) => at > since && isNamed(id))
}

/** What it began goes on by itself: sent again, it would begin another one that nobody knows of. */
function goesOn({ probe: { operation, effect } }: PreviousRequest): boolean {
  return effect === 'generates' && operation !== null && operationOf(operation).creates !== undefined
}

/** Whether the request may be sent again: it cannot have had an effect, or was refused. */
function mayRepeat({ probe, answer }: Exchange): boolean {
  return probe.effect === 'none' || (answer !== undefined && answer.status >= 400 && answer.status < 500)
}

/** The request alone has to be right on so many connections of its own before another one is to blame. */
const freshConnections = 3

/**
 * Gives the exchange that is to be judged. An answer that is wrong on a reused connection is asked for again on three fresh
 * ones, and then after the same previous request: if it is right by itself and wrong again after the other, that one is to
 * blame, and the right answer counts. Without that proof the answer varies by itself.
 */
export async function confirmOnFreshConnection(run: Run, exchange: Exchange, again: SendAgain): Promise<Exchange> {
  const { previousRequest, purpose, probe, answer } = exchange
  if (!previousRequest || !isWrong(exchange) || !mayRepeat(exchange) || mayAppear(run, exchange)) return exchange
  const kind = `${purpose.requirement ?? probe.operation} ${answer?.status}`
  if (provenOf(run).has(kind)) return exchange
  const fresh = await again({ fresh: true })
  if (!isRight(fresh)) {
    provenOf(run).add(kind)
    return exchange
  }
  if (goesOn(previousRequest)) return exchange
  for (let more = 1; more < freshConnections; more++) if (!isRight(await again({ fresh: true }))) return exchange
  if (!isWrong(await again({ after: previousRequest.request }))) return exchange
  attribute(run, previousRequest, { wrong: exchange, fresh })
  return fresh
}

function isRight(exchange: Exchange): boolean {
  return exchange.answer !== undefined && !isThrottling(exchange) && !isWrong(exchange)
}

function isThrottling({ answer, purpose }: Exchange): boolean {
  return answer !== undefined && isThrottled(answer) && !isExpected(purpose.expects, answer)
}

function isJudged({ plan }: Run, id: string): boolean {
  const entry = plan.get(id)
  return entry?.run === true && entry.leftOut === undefined
}

function attribute(
  run: Run,
  previousRequest: PreviousRequest,
  { wrong, fresh }: Pick<PoisonedConnection, 'wrong' | 'fresh'>,
): void {
  const { operation } = previousRequest.probe
  const own = [
    previousRequest.purpose.about ?? previousRequest.purpose.requirement,
    operation === null ? null : grantedRow[operation],
  ]
  const judged = own.find((id) => id !== null && isJudged(run, id)) ?? wrong.purpose.requirement
  const id = judged ?? (operation === null ? 'envelope/shape' : grantedRow[operation])
  const failures = poisonedConnections(run).get(id) ?? []
  poisonedConnections(run).set(id, failures)
  if (failures.length > 0 || !previousRequest.recorded) return
  failures.push(...failuresOf(run, id, previousRequest.recorded(), { previousRequest, wrong, fresh }))
}
