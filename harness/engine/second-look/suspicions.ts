import { type Exchange, isWrong } from '../exchange.ts'
import { probeOf } from '../request.ts'
import { isBlocked } from '../pairs.ts'
import type { Outgoing } from '../retry.ts'
import type { Run } from '../run.ts'
import { type Middleware, sendOnce } from '../send.ts'
import type { SendAgain } from './connection-trial.ts'
import { confirmOnFreshConnection, mayBePoisoned } from './reused-connection.ts'
import { isSettling, waitUntilSettled } from './settling.ts'

/** Something else than its request that may have made an answer wrong, and how that is found out. */
interface Suspicion {
  /** Whether the answer may be wrong for that. */
  isRaised(run: Run, exchange: Exchange): boolean
  /** Asks again with one circumstance changed; gives the exchange that is to be judged. */
  look(run: Run, exchange: Exchange, again: SendAgain): Promise<Exchange>
}

/**
 * | suspicion | what is changed | how often | what it proves |
 * | an object that was just made is not there yet | time | each second of `settleMs` | the answer after that is judged |
 * | the connection, by what it carried before | a fresh connection | once, and nine or eighteen times to prove it | right on
 *   fresh ones and wrong after that request: that request fails; else the answers differ, and the wrong one is judged |
 *
 * Two more are looked at elsewhere, as they take more than the request: throttling, by probe and control in turn, and chance,
 * by all that failed at the end of the run (`at-end.ts`).
 */
const suspicions: readonly Suspicion[] = [
  {
    isRaised: (run, exchange) => mayBePoisoned(run, exchange) && isAwaited(run, exchange),
    look: waitUntilSettled,
  },
  {
    isRaised: (run, exchange) =>
      mayBePoisoned(run, exchange) && !isSettling(run, exchange) && !mayAppear(exchange),
    look: confirmOnFreshConnection,
  },
]

/** Whoever wants it to be granted asks again by themselves. */
function isAwaited(run: Run, exchange: Exchange): boolean {
  const { expects, isSuccess } = exchange.purpose
  return expects !== undefined && !isSuccess && !mayAppear(exchange) && isSettling(run, exchange)
}

/** A job may not be there yet: the next reading finds it by itself, whatever the connection. */
function mayAppear({ purpose, response }: Exchange): boolean {
  return purpose.role === 'poll' && response?.status === 404
}

async function lookAt(run: Run, exchange: Exchange, again: SendAgain): Promise<Exchange> {
  let judged = exchange
  for (const { isRaised, look } of suspicions)
    if (isRaised(run, judged)) judged = await look(run, judged, again)
  return judged
}

/** Asks again for an answer that may be wrong for another reason than its request. */
export const lookAgain: Middleware<Outgoing> = (next) => (outgoing) =>
  pastBlocks(async () => {
    const { run, source, purpose } = outgoing
    const exchange = await next(outgoing)
    const { unanswered } = exchange
    // What could not be read as HTTP was sent again; the connection is looked at nevertheless.
    const isGarbled = unanswered?.noResponse?.cause === 'malformed'
    if (exchange.throttled || !(isGarbled || isWrong(exchange))) return exchange
    const again: SendAgain = async (other) =>
      sendOnce(run, await probeOf(source), purpose, { ...other, source })
    const judged = await lookAt(run, isGarbled ? unanswered : exchange, again)
    return isGarbled ? exchange : judged
  })

/** How often a request that should be granted is sent, if a guardrail or a model error meets it now and then. */
const triesOfGranted = 3
/**
 * How often one that should be refused is sent then: more often, since nothing is generated, and requests of a run that take turns
 * may meet every block of a server that blocks one of so many.
 */
const triesOfRefused = 8

/** Sends a request again while a guardrail or a model error meets it, unless that is what it is sent for. */
export async function pastBlocks(send: () => Promise<Exchange>): Promise<Exchange> {
  let exchange = await send()
  const { probe, purpose } = exchange
  const isRefused =
    probe.effect === 'none' && purpose.expects !== undefined && purpose.isSuccess === undefined
  const isMet = (): boolean => !exchange.throttled && isBlocked(exchange, exchange.purpose.expects)
  for (let tries = isRefused ? triesOfRefused : triesOfGranted; tries > 1 && isMet(); tries--)
    exchange = await send()
  return exchange
}
