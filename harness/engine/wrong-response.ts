import { isExpected, matchPairs } from './response.ts'
import type { Exchange } from './exchange.ts'
import { isThrottled } from './throttle.ts'

/** To a request that should be granted. */
const saysNothing: readonly number[] = [401, 403, 409, 429]

/** Whether the answer is certainly not what the request was sent for. */
export function isWrong(exchange: Exchange): boolean {
  const { response, noResponse, purpose, probe } = exchange
  if (!response) return noResponse?.cause === 'malformed'
  if (isThrottling(exchange)) return false
  if (purpose.isSuccess) return !purpose.isSuccess(exchange)
  if (purpose.expects) return matchPairs(purpose.expects, response) !== 'exact'
  return probe.effect !== 'none' && isRefusedByClient(response.status) && !saysNothing.includes(response.status)
}

export function isRight(exchange: Exchange): boolean {
  return exchange.response !== undefined && !isThrottling(exchange) && !isWrong(exchange)
}

export function isThrottling({ response, purpose }: Exchange): boolean {
  return response !== undefined && isThrottled(response) && !isExpected(purpose.expects, response)
}

/** Whether the request may be sent again: it cannot have had an effect, or was refused. */
export function mayRepeat({ probe, response }: Exchange): boolean {
  return probe.effect === 'none' || (response !== undefined && isRefusedByClient(response.status))
}

function isRefusedByClient(status: number): boolean {
  return status >= 400 && status < 500
}
