import { type Exchange, isWrong } from '../exchange.ts'
import { pause } from '../outcome.ts'
import type { Run } from '../run.ts'
import type { SendAgain } from './connection-trial.ts'

/** True if the request names what the run made less than `settleMs` ago, and its answer may only mean that it is not there yet. */
export function isSettling(run: Run, { probe, response, sentAt }: Exchange): boolean {
  const status = response?.status ?? 0
  if (status < 400 || status > 499 || [401, 403, 429].includes(status)) return false
  const body = typeof probe.body === 'string' ? probe.body : ''
  const named = new Set(Object.values(probe.params))
  const since = sentAt - run.target.limits.settleMs
  return [...run.objects.madeAt].some(
    ([id, at]) => at > since && (named.has(id) || body.includes(id)),
  )
}

/** Interval at which an object that was just made is asked for again, in ms. */
const retryEveryMs = 1000

/** Asks again until the answer is right, or what the request names has had its time. */
export async function waitUntilSettled(
  run: Run,
  exchange: Exchange,
  again: SendAgain,
): Promise<Exchange> {
  let last = exchange
  while (isWrong(last) && isSettling(run, last)) {
    await pause(run, retryEveryMs)
    last = await again({})
  }
  return last
}
