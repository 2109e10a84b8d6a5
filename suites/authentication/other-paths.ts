import { operation } from '../../catalogue/operations.ts'
import type { RefusalContext } from '../../harness/checks/refusals.ts'
import type { Probe } from '../../harness/engine/probe.ts'

/**
 * §4.4 names a second path for some operations. Whether a server has it is its own affair, but it must not serve there
 * without a key what it refuses on the other: any 4xx will do, and so will a redirect.
 */
export async function judgeOtherPaths({ context, operation: id }: RefusalContext, probe: Probe): Promise<void> {
  const { path, otherPaths } = operation(id)
  for (const other of [path, ...otherPaths]) {
    if (other === probe.path) continue
    const exchange = await context.send({ ...probe, path: other }, { unobserved: true })
    const status = exchange.answer?.status
    // What was not answered shows nothing, and the usual path is judged anyway.
    if (status === undefined || exchange.throttled) continue
    context.cases++
    if (status >= 300 && status < 500) continue
    context.fail(exchange, 'any 4xx except 429: the other path must not be served without a key either', withoutKey)
  }
}

const withoutKey = 'without an Authorization header'
