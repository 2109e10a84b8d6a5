import type { Exchange } from '../engine/exchange.ts'
import { pause } from '../engine/pause.ts'
import type { Run } from '../engine/run.ts'

/** When what was just made is looked at once more, in ms after it was made: 1 s later, and when `settleMs` have passed. */
export function laterLooks({ target }: Run): readonly number[] {
  const { settleMs } = target.limits
  return [...new Set([Math.min(1000, settleMs), settleMs])].filter((ms) => ms > 0)
}

/** Looks at what was just made, and again while it may not be settled: the first answer that will do, else the last. */
export async function lookWhileSettling(
  run: Run,
  look: () => Promise<Exchange>,
  willDo: (exchange: Exchange) => boolean,
): Promise<Exchange> {
  const began = performance.now()
  let exchange = await look()
  for (const ms of laterLooks(run)) {
    if (exchange.throttled || willDo(exchange)) break
    await pause(run, Math.max(0, began + ms - performance.now()))
    exchange = await look()
  }
  return exchange
}
