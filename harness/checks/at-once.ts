import type { CheckContext, Exchange, Probe, Run, SendAgain, SendHeld } from '../engine/index.ts'
import {
  Failed,
  holdPlaces,
  isThrottled,
  kindOfRequest,
  livenessProbe,
  lookAtCreation,
  NotExercised,
  operationName,
  sendOnce,
} from '../engine/index.ts'
import fc from 'fast-check'
import { seedFor } from './values.ts'

/** Cases of one requirement that are under way at once: a long list would otherwise be the longest road of a run. */
export const maxAtOnce = 5

/**
 * Judges each case, several at once. Once those that were begun have ended, the first failure in their order is thrown, else the
 * first of what else they throw (that one cannot be judged, as it may be because of what another was wrongly granted); no further
 * one is begun then.
 */
export async function judgeEach<T>(
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
export async function judgeAlso(
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
  const count = Math.min(size, run.target.limits.concurrency)
  const purpose = { requirement, role: 'probe' } as const
  const probes = await Promise.all(Array.from({ length: count }, async () => make()))
  const operation = probes[0] ? operationName(probes[0]) : ''
  run.client.breaker.check(operation)
  await run.client.throttle.pass(operation, run.life.signal)
  // A quick run has few requests to spare.
  const opens = !fresh && run.options.depth === 'full'
  await run.client.pacer.saveUp(opens ? 2 * count : count, run.life.signal)
  const first = await holdPlaces(run, count, async (sendHeld) => {
    if (opens) await openConnections(run, count, sendHeld)
    return Promise.all(probes.map((probe) => sendHeld(probe, purpose, { fresh })))
  })
  const again: SendAgain = async (options) =>
    sendOnce(run, await make(), purpose, { ...options, pace: 'paid-back' })
  const sent = await Promise.all(
    first.map(async (exchange) => {
      await lookAtCreation(run, exchange, again)
      if (!exchange.noResponse?.staleConnection) return exchange
      run.client.losses.retried++
      return { ...(await again({ fresh: true })), unanswered: exchange }
    }),
  )
  for (const exchange of sent) holdBack(run, exchange)
  return sent
}

/** The next request of the operation waits as long as a throttled answer asks for. */
export function holdBack({ client }: Run, { probe, response }: Exchange): void {
  if (response && isThrottled(response))
    client.throttle.hold(operationName(probe), response, 0, { kind: kindOfRequest(probe) })
}

/** Unless so many are open already: whoever had a place before has given its connection back. */
async function openConnections(run: Run, count: number, sendHeld: SendHeld): Promise<void> {
  const { idle } = run.client.transport
  if (!idle || idle() >= count) return
  const read = await livenessProbe(run)
  const purpose = {
    requirement: null,
    role: 'setup',
    skipPassive: run.target.absent[run.api.first] !== undefined,
  } as const
  await Promise.allSettled(Array.from({ length: count }, () => sendHeld(read, purpose)))
}

/** Over HTTP each shrink step is a request: after this many the smallest so far is shown. */
const maxShrinks = 40

/** Requirements of which a generated case is being judged: a quick run sends it besides the one that has a name. */
const generating = new WeakSet<CheckContext>()

export function isGenerating(context: CheckContext): boolean {
  return generating.has(context)
}

/**
 * Checks a property of generated input, as often as the run says, with a seed of the requirement's own: `check` throws
 * `Failed` if it does not hold. The smallest failure found is thrown, with fast-check's path to it. Anything else thrown
 * (`NotExercised`, the end of the run) ends the search at once and is thrown as it is: a search that was cut short is no pass.
 */
export async function property<T>(
  context: CheckContext,
  runs: 'refusalRuns' | 'grantedRuns',
  arbitrary: fc.Arbitrary<T>,
  check: (value: T) => Promise<unknown>,
): Promise<void> {
  generating.add(context)
  try {
    const seen = await firstFailure(samples(context, runs, arbitrary), check)
    if (seen) await smallest(seen, searchOf(context, runs), arbitrary, check)
  } finally {
    generating.delete(context)
  }
}

interface Search {
  readonly seed: number
  readonly numRuns: number
}

function searchOf(
  { run: { options }, requirement }: CheckContext,
  runs: 'refusalRuns' | 'grantedRuns',
): Search {
  return { seed: seedFor(options.seed, requirement.id), numRuns: options[runs] }
}

/** The values with which `property` begins. */
export function samples<T>(
  context: CheckContext,
  runs: 'refusalRuns' | 'grantedRuns',
  arbitrary: fc.Arbitrary<T>,
): readonly T[] {
  return fc.sample(arbitrary, searchOf(context, runs))
}

/** Several cases at once: most targets fail none. */
async function firstFailure<T>(
  values: readonly T[],
  check: (value: T) => Promise<unknown>,
): Promise<Failed | undefined> {
  try {
    await judgeEach(values, check)
    return undefined
  } catch (error) {
    if (error instanceof Failed) return error
    throw error
  }
}

/** Throws the smallest failure, looked for case by case; the one that was seen if it does not show again. */
async function smallest<T>(
  seen: Failed,
  search: Search,
  arbitrary: fc.Arbitrary<T>,
  check: (value: T) => Promise<unknown>,
): Promise<void> {
  let failed: Failed | undefined
  let isStopped = false
  let shrinks = 0
  const details = await fc.check(
    fc.asyncProperty(arbitrary, async (value) => {
      if (isStopped || (failed && shrinks++ >= maxShrinks)) return true
      try {
        await check(value)
        return true
      } catch (error) {
        if (!(error instanceof Failed)) {
          isStopped = true
          return true
        }
        failed = error
        return false
      }
    }),
    search,
  )
  if (failed)
    throw new Failed({
      ...failed.failure,
      ...(details.counterexamplePath ? { path: details.counterexamplePath } : {}),
    })
  // A failure that was found stays one, even if the search for a smaller one was cut short.
  throw seen
}
