import type { Exchange, Probe, Purpose } from './exchange.ts'
import { probeOf, type Source } from './request.ts'
import { type Outgoing, retry } from './retry.ts'
import type { GatedSend, Run } from './run.ts'
import { lookAgain } from './second-look/suspicions.ts'
import { type Middleware, sendTry } from './send.ts'

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
