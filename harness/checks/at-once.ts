import fc from 'fast-check'
import {
  type Exchange,
  Failed,
  holdPlaces,
  isThrottled,
  livenessProbe,
  NotExercised,
  operationName,
  type Probe,
  type Run,
  type SendHeld,
  sendOnce,
} from '../engine/index.ts'
import { type CheckContext, maxAtOnce } from '../run/index.ts'
import { seedFor } from './values.ts'

/**
 * Judges each case, several at once. Once those that were begun have ended, the first failure in their order is thrown, else the
 * first of what else they throw (that one cannot be judged, as it may be because of what another was wrongly granted); no further
 * one is begun then.
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
 * Judges a further case. What keeps it from being judged keeps the requirement from passing, but not from being judged by its
 * other cases.
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
  /** Most of them; no more than may be under way at once. */
  readonly size: number
  make(): Probe | Promise<Probe>
  readonly requirement: string
  /** Each on a connection of its own: for a target that closes connections without saying so. */
  readonly fresh?: boolean
}

/**
 * Sends several requests at the very same time: the places of the semaphore are taken first, and connections opened by
 * reads, so that a gap of a millisecond between a server's check and its set is met. One that met a connection which the target
 * had closed is made anew, with another name, and sent after them.
 */
export async function sendAtOnce(
  run: Run,
  { size, make, requirement, fresh = false }: Together,
): Promise<Exchange[]> {
  const { client, life, target } = run
  const count = Math.min(size, target.limits.concurrency)
  const purpose = { requirement, role: 'probe' } as const
  const probes = await Promise.all(Array.from({ length: count }, async () => make()))
  const operation = probes[0] ? operationName(probes[0]) : ''
  client.breaker.check(operation)
  await client.throttle.pass(operation, life.signal)
  // A quick run has few requests to spare.
  const opens = !fresh && run.options.depth === 'full'
  await client.pacer.saveUp(opens ? 2 * count : count, life.signal)
  const first = await holdPlaces(run, count, async (sendHeld) => {
    if (opens) await openConnections(run, count, sendHeld)
    return Promise.all(probes.map((probe) => sendHeld(probe, purpose, { fresh })))
  })
  const sent = await Promise.all(
    first.map(async (exchange) => {
      if (!exchange.noResponse?.staleConnection) return exchange
      client.losses.retried++
      const options = { fresh: true, pace: 'paid-back' } as const
      return { ...(await sendOnce(run, await make(), purpose, options)), unanswered: exchange }
    }),
  )
  for (const exchange of sent) holdBack(run, exchange)
  return sent
}

/** The next request of the operation waits as long as a throttled answer asks for. */
export function holdBack({ client }: Run, { probe, response }: Exchange): void {
  if (response && isThrottled(response)) client.throttle.hold(operationName(probe), response, 0)
}

/** Unless so many are open already: whoever had a place before has given its connection back. */
async function openConnections(run: Run, count: number, sendHeld: SendHeld): Promise<void> {
  const { idle } = run.client.transport
  if (!idle || idle() >= count) return
  const read = await livenessProbe(run)
  const skipPassive = run.target.absent[run.api.first] !== undefined
  const purpose = { requirement: null, role: 'setup', skipPassive } as const
  await Promise.allSettled(Array.from({ length: count }, () => sendHeld(read, purpose)))
}

/** Over HTTP each shrink step is a request: after this many the smallest so far is shown. */
const maxShrinks = 40

type Runs = 'refusalRuns' | 'grantedRuns'

/**
 * Checks a property of generated input, as often as the run says, with a seed of the requirement's own: `check` throws
 * `Failed` if it does not hold. The smallest failure found is thrown, with fast-check's path to it. Anything else thrown
 * (`NotExercised`, the end of the run) ends the search at once and is thrown as it is: a search that was cut short is no pass.
 */
export async function property<T>(
  context: CheckContext,
  runs: Runs,
  arbitrary: fc.Arbitrary<T>,
  check: (value: T) => Promise<unknown>,
): Promise<void> {
  try {
    // Several cases at once: most targets fail none.
    await tryEach(samples(context, runs, arbitrary), check)
  } catch (error) {
    if (!(error instanceof Failed)) throw error
    throw await smallest(error, searchOf(context, runs), arbitrary, check)
  }
}

const searchOf = ({ run: { options }, requirement }: CheckContext, runs: Runs) => ({
  seed: seedFor(options.seed, requirement.id),
  numRuns: options[runs],
})

export const samples = <T>(
  context: CheckContext,
  runs: Runs,
  arbitrary: fc.Arbitrary<T>,
): readonly T[] => fc.sample(arbitrary, searchOf(context, runs))

/**
 * The smallest failure, looked for case by case; the one that was seen if it does not show again, or the search for a smaller
 * one was cut short.
 */
async function smallest<T>(
  seen: Failed,
  search: ReturnType<typeof searchOf>,
  arbitrary: fc.Arbitrary<T>,
  check: (value: T) => Promise<unknown>,
): Promise<Failed> {
  let failed: Failed | undefined
  let isStopped = false
  let shrinks = 0
  const { counterexamplePath: path } = await fc.check(
    fc.asyncProperty(arbitrary, async (value) => {
      if (isStopped || (failed && shrinks++ >= maxShrinks)) return true
      try {
        await check(value)
        return true
      } catch (error) {
        if (error instanceof Failed) failed = error
        else isStopped = true
        return isStopped
      }
    }),
    search,
  )
  return failed ? new Failed({ ...failed.failure, ...(path ? { path } : {}) }) : seen
}
