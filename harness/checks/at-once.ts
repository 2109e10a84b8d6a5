import { type Exchange, Failed, NotExercised, type Probe, type Run } from '../engine/index.ts'
import { type CheckContext, maxAtOnce } from '../run/index.ts'

/**
 * Judges the cases, several at once. When those in progress have ended, throws the first failure in order, else the
 * first other exception (a case that cannot be judged, perhaps because of another that was wrongly accepted). No
 * further case is started then.
 */
export async function tryEach<T>(
  cases: readonly T[],
  judge: (value: T) => Promise<unknown>,
): Promise<void> {
  for (let at = 0; at < cases.length; at += maxAtOnce) {
    const judged = await Promise.allSettled(cases.slice(at, at + maxAtOnce).map(judge))
    const thrown = judged.flatMap((one) =>
      one.status === 'rejected' ? [one.reason as unknown] : [],
    )
    if (thrown.length > 0) throw thrown.find((error) => error instanceof Failed) ?? thrown[0]
  }
}

/**
 * Judges a further case. If it cannot be judged, the requirement does not pass, but its other cases are still judged.
 */
export async function tryAlso(
  { run, open }: CheckContext,
  judge: () => Promise<unknown>,
): Promise<void> {
  open.plan(1)
  try {
    await judge()
    open.settle(1)
  } catch (error) {
    if (!(error instanceof NotExercised) || run.life.ended) throw error
    open.leave(error.message)
  }
}

interface Together {
  readonly size: number
  make(): Probe | Promise<Probe>
  readonly requirement: string
  /** Each on a new connection: for a target that closes connections without notice. */
  readonly fresh?: boolean
}

/** Sends several requests at the same moment. A full run opens the connections with other requests first. */
export function sendAtOnce(
  run: Run,
  { size, make, requirement, fresh = false }: Together,
): Promise<Exchange[]> {
  const opens = !fresh && run.options.depth === 'full'
  const count = Math.min(size, run.target.limits.concurrency)
  return run.client.sendAtOnce(count, make, { requirement, role: 'probe' }, { fresh, opens })
}
