import type { Exchange, Probe } from '../engine/exchange.ts'
import { livenessProbe, operationName, sendWithStaleRetry } from '../engine/send.ts'
import type { Run } from '../engine/run.ts'
import { isThrottled } from '../engine/throttle.ts'

/** Cases of one requirement that are under way at once: a long list would otherwise be the longest road of a run. */
export const mostAtOnce = 5

/**
 * Judges each case, several at once; what the first of them in their order throws (a failure, or that it cannot be judged) is
 * thrown once those that were begun have ended, and no further one is begun.
 */
export async function judgeEach<T>(cases: readonly T[], judge: (value: T) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < cases.length; at += mostAtOnce) {
    const judged = await Promise.allSettled(cases.slice(at, at + mostAtOnce).map(judge))
    const failed = judged.find((one) => one.status === 'rejected')
    if (failed) throw failed.reason
  }
}

/** Requests that are sent together. */
interface Together {
  /** Most of them; no more than may be under way at once. */
  readonly size: number
  make(): Probe | Promise<Probe>
  readonly requirement: string
  /** Each on a connection of its own: for a target that closes connections without saying so. */
  readonly fresh?: boolean
}

/**
 * Sends several requests at the very same time: the places of the semaphore are taken first, and connections opened by
 * reads, so that a gap of a millisecond between a server's check and its set is met.
 */
export async function sendAtOnce(run: Run, { size, make, requirement, fresh = false }: Together): Promise<Exchange[]> {
  const count = Math.min(size, run.target.limits.concurrency)
  const probes = await Promise.all(Array.from({ length: count }, async () => make()))
  const operation = probes[0] ? operationName(probes[0]) : ''
  run.client.breaker.check(operation)
  await run.client.throttle.pass(operation, run.life.signal)
  const release = await run.client.semaphore.acquire(run.life.signal, { count, urgent: true })
  // One whose answer was lost may have had its effect: what `make` names anew gets another name.
  const options = { hasPlace: true, unpaced: true, fresh, again: make }
  try {
    // A quick run has few requests to spare.
    if (!fresh && run.options.depth === 'full') await openConnections(run, count)
    const sent = await Promise.all(
      probes.map((probe) => sendWithStaleRetry(run, probe, { requirement, role: 'probe' }, options)),
    )
    for (const exchange of sent) holdBack(run, exchange)
    return sent
  } finally {
    release()
  }
}

/** The next request of the operation waits as long as a throttled answer asks for. */
export function holdBack({ client }: Run, { probe, response }: Exchange): void {
  if (response && isThrottled(response)) client.throttle.hold(operationName(probe), response, 0)
}

/** Unless so many are open already: whoever had a place before has given its connection back. */
async function openConnections(run: Run, count: number): Promise<void> {
  const { idle } = run.client.transport
  if (!idle || idle() >= count) return
  const read = await livenessProbe(run)
  const purpose = {
    requirement: null,
    role: 'setup',
    skipPassive: run.target.absent[run.api.first] !== undefined,
  } as const
  const open = (): Promise<Exchange> => sendWithStaleRetry(run, read, purpose, { hasPlace: true, unpaced: true })
  await Promise.allSettled(Array.from({ length: count }, open))
}
