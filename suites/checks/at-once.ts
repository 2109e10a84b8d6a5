import { type Client, type Given, orElse } from '../../harness/client/index.ts'
import type { Exchange, Probe } from '../../harness/journal/index.ts'
import { maxAtOnce } from '../../harness/run/index.ts'
import type { CaseVerdict, Judged } from './rules.ts'

/** Acts on several at once. Once those in progress have ended, throws the first exception in order. */
export async function inBatches<T, R>(
  all: readonly T[],
  act: (one: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  for (let at = 0; at < all.length; at += maxAtOnce)
    for (const one of await Promise.allSettled(all.slice(at, at + maxAtOnce).map(act))) {
      if (one.status === 'rejected') throw one.reason
      results.push(one.value)
    }
  return results
}

/** A further case: if it cannot be judged, the requirement does not pass, but its other cases are still judged. */
export const furtherCase = (
  client: Client,
  judge: () => Promise<CaseVerdict | undefined>,
): Promise<Judged> =>
  orElse(
    client,
    async (): Promise<Judged> => (await judge()) ?? { outcome: 'held', cases: 0 },
    ({ reason }): Judged => ({ outcome: 'open', why: reason, isFurther: true }),
  )

interface Together {
  readonly size: number
  make(): Probe | Promise<Probe>
  readonly requirement: string
  /** Each on a new connection: for a target that closes connections without notice. */
  readonly fresh?: boolean
}

/** Sends several requests at the same moment. A full run opens the connections with other requests first. */
export function sendAtOnce(
  client: Client,
  given: Given,
  { size, make, requirement, fresh = false }: Together,
): Promise<Exchange[]> {
  const opens = !fresh && given.options.depth === 'full'
  const count = Math.min(size, given.target.limits.concurrency)
  return client.sendAtOnce(count, make, { requirement, role: 'probe' }, { fresh, opens })
}
