import type { Exchange, Probe, Purpose } from './exchange.ts'
import { probeOf, type Source } from './request.ts'
import { type Outgoing, sendWithPatience } from './retry.ts'
import type { GatedSend, Run } from './run.ts'
import type { Asked, AskOptions } from './second-look/asked.ts'
import { lookAgain } from './second-look/table.ts'
import { sendOnce } from './send.ts'

/**
 * The way of a request: `gate`, an object that it names allows it; `sendWithPatience`, what asks for patience or was lost is sent
 * again; `sendTry`, a place under the semaphore, at the rate asked for; `transmit`, the key of the moment, the socket, the record.
 * What is asked for here is then looked at: an answer that may be wrong for another reason than its request is asked for again.
 */

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

/** Sends it once the object that it names allows it; the request that this was asked for is the first that is sent. */
async function gate(outgoing: Outgoing): Promise<Exchange> {
  const { run, source, purpose } = outgoing
  const first = await probeOf(source)
  let unsent: Probe | undefined = first
  const once = (): Probe | Promise<Probe> => {
    const probe = unsent ?? probeOf(source)
    unsent = undefined
    return probe
  }
  return throughGate(run, first, purpose, (options) =>
    sendWithPatience({ ...outgoing, ...options, source: once }),
  )
}

/**
 * Asks for an answer that can be judged, once the object that the request names allows it.
 * @param options.isHeld whoever asks holds that object: nothing is to be waited for
 */
export async function ask(
  run: Run,
  source: Source,
  purpose: Purpose,
  { isHeld = false, ...options }: AskOptions & { readonly isHeld?: boolean } = {},
): Promise<Exchange> {
  const outgoing = { run, source, purpose, fresh: options.fresh ?? false }
  const same = () => (isHeld ? sendWithPatience : gate)(outgoing)
  const gated: Asked['gated'] = (probe, sent, send) =>
    isHeld ? send() : throughGate(run, probe, sent, send)
  const again: Asked['again'] = async (other) => {
    const probe = await probeOf(source)
    return gated(probe, purpose, () => sendOnce(run, probe, purpose, { ...other, source }))
  }
  return lookAgain({ ...options, ...outgoing, same, again, gated }, await same())
}

/** `ask` by whoever holds the object that the request names, or for one that names none. */
export const askHolding = (
  run: Run,
  source: Source,
  purpose: Purpose,
  options: AskOptions = {},
): Promise<Exchange> => ask(run, source, purpose, { ...options, isHeld: true })
