import { isExpected, matchPairs } from './answer.ts'
import type { Exchange } from './exchange.ts'
import { isThrottled } from './throttle.ts'

/** To a request that should be granted. */
const saysNothing: readonly number[] = [401, 403, 409, 429]

/** Whether the answer is certainly not what the request was sent for. */
export function isWrong(exchange: Exchange): boolean {
  const { answer, noAnswer, purpose, probe } = exchange
  if (!answer) return noAnswer?.cause === 'malformed'
  if (isThrottling(exchange)) return false
  if (purpose.wanted) return !purpose.wanted(exchange)
  if (purpose.expects) return matchPairs(purpose.expects, answer) !== 'exact'
  return probe.effect !== 'none' && isRefusedByClient(answer.status) && !saysNothing.includes(answer.status)
}

export function isRight(exchange: Exchange): boolean {
  return exchange.answer !== undefined && !isThrottling(exchange) && !isWrong(exchange)
}

export function isThrottling({ answer, purpose }: Exchange): boolean {
  return answer !== undefined && isThrottled(answer) && !isExpected(purpose.expects, answer)
}

/** Whether the request may be sent again: it cannot have had an effect, or was refused. */
export function mayRepeat({ probe, answer }: Exchange): boolean {
  return probe.effect === 'none' || (answer !== undefined && isRefusedByClient(answer.status))
}

function isRefusedByClient(status: number): boolean {
  return status >= 400 && status < 500
}
