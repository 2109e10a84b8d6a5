import type { Exchange, Probe, Purpose } from './exchange.ts'
import { probeOf } from './request.ts'
import { type Outgoing, sendWithPatience } from './retry.ts'
import type { GatedSend, Run } from './run.ts'

/** Sends once the hooks allow it; at once if none applies. */
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

/** Sends with retries once the object allows it, starting with the given request. */
export async function sendGated(outgoing: Outgoing): Promise<Exchange> {
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
