import type { Exchange } from '../engine/exchange.ts'
import { pause } from '../engine/pause.ts'
import type { Run } from '../engine/run.ts'

/** When an attempt on what was just made is repeated, in ms after it was made: 1 s later, and when `settleMs` have passed. */
export function laterAttempts({ target }: Run): readonly number[] {
  const { settleMs } = target.limits
  return [...new Set([Math.min(1000, settleMs), settleMs])].filter((ms) => ms > 0)
}

/** Uses what was just made, and again while the target may still process it: gives the first answer that will do, else the last. */
export async function retryWhileSettling(
  run: Run,
  attempt: () => Promise<Exchange>,
  willDo: (exchange: Exchange) => boolean,
): Promise<Exchange> {
  const began = performance.now()
  let exchange = await attempt()
  for (const ms of laterAttempts(run)) {
    if (exchange.throttled || exchange.unansweredTwice || willDo(exchange)) break
    await pause(run, Math.max(0, began + ms - performance.now()))
    exchange = await attempt()
  }
  return exchange
}
