import type { Exchange, Probe, Purpose } from './exchange.ts'
import { probeOf, type Source } from './request.ts'
import { isBlocked } from './response.ts'
import { type Outgoing, retry } from './retry.ts'
import { confirmOnFreshConnection } from './reused-connection.ts'
import type { GatedSend, Run } from './run.ts'
import { type Middleware, sendOnce, sendTry } from './send.ts'

/**
 * The client is a chain. `gate`: an object that the request names allows it. `lookAgain`: an answer that may be wrong for
 * another reason than its request is asked for again. `retry`: what asks for patience or was lost is sent again. `pace`: a place
 * under the semaphore, at the rate asked for. `transmit`: the key of the moment, the socket, the record.
 */

/** Lets the hooks of the suites hold a request back until the object that it names allows it; at once if none has anything to say. */
const gate: Middleware<Outgoing> = (next) => async (outgoing) => {
  const { run, source, purpose } = outgoing
  const first = await probeOf(source)
  let unsent: Probe | undefined = first
  const once = (): Probe | Promise<Probe> => {
    const probe = unsent ?? probeOf(source)
    unsent = undefined
    return probe
  }
  return throughGate(run, first, purpose, (options) =>
    next({ ...outgoing, ...options, source: once }),
  )
}

/** Sends once the hooks of the suites allow it, at once if none has anything to say. */
export function throughGate(
  run: Run,
  probe: Probe,
  purpose: Purpose,
  send: GatedSend,
): Promise<Exchange> {
  for (const hook of run.hooks) {
    const intercepted = hook.intercept?.(run, probe, purpose, (options) =>
      send({ ...options, isGated: true }),
    )
    if (intercepted) return intercepted
  }
  return send()
}

/** Checks an answer that may be wrong because of what went before it on the connection, and sends what was blocked again. */
const lookAgain: Middleware<Outgoing> = (next) => (outgoing) =>
  pastBlocks(async () => {
    const { run, source, purpose } = outgoing
    const exchange = await next(outgoing)
    if (exchange.throttled) return exchange
    const again = async (other: Parameters<typeof sendOnce>[3]): Promise<Exchange> =>
      sendOnce(run, await probeOf(source), purpose, { ...other, source })
    const { unanswered } = exchange
    const isGarbled = unanswered?.noResponse?.cause === 'malformed' && unanswered.previousRequest
    if (!isGarbled) return confirmOnFreshConnection(run, exchange, again)
    await confirmOnFreshConnection(run, unanswered, again)
    return exchange
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

const sendPastGate = lookAgain(retry(sendTry))

/** The whole chain. */
export const send = gate(sendPastGate)

/** `send` for a request that waits for no object. */
export function sendWithRetries(
  run: Run,
  source: Source,
  purpose: Purpose,
  options: Pick<Outgoing, 'fresh' | 'isGated'> = {},
): Promise<Exchange> {
  return sendPastGate({ ...options, run, source, purpose })
}

/** `send`, of a request that names a declared application among others. */
export function sendThroughGate(run: Run, source: Source, purpose: Purpose): Promise<Exchange> {
  return send({ run, source, purpose })
}
