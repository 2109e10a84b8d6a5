import fc from 'fast-check'
import { type Exchange, Failed, NotExercised, type Probe, type Run } from '../engine/index.ts'
import { type CheckContext, maxAtOnce } from '../run/index.ts'
import { seedFor } from './values.ts'

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
  /** Requested number, limited by concurrency. */
  readonly size: number
  make(): Probe | Promise<Probe>
  readonly requirement: string
  /** Each on a new connection: for a target that closes connections without notice. */
  readonly fresh?: boolean
}

/** Sends several requests at the same moment; a quick run has none to spare for opening connections first. */
export function sendAtOnce(
  run: Run,
  { size, make, requirement, fresh = false }: Together,
): Promise<Exchange[]> {
  const opens = !fresh && run.options.depth === 'full'
  const count = Math.min(size, run.target.limits.concurrency)
  return run.client.sendAtOnce(count, make, { requirement, role: 'probe' }, { fresh, opens })
}

/** Over HTTP each shrink step is a request; the smallest input so far is shown. */
const maxShrinks = 40

type Runs = 'refusalRuns' | 'grantedRuns'

/**
 * Checks a property on generated input, with the run's number of cases and the requirement's own seed: `check` throws
 * `Failed` if it does not hold. Throws the smallest failure, with fast-check's path. Any other exception
 * (`NotExercised`, the end of the run) ends the search and is thrown: an incomplete search is not a pass.
 */
export async function property<T>(
  context: CheckContext,
  runs: Runs,
  arbitrary: fc.Arbitrary<T>,
  check: (value: T) => Promise<unknown>,
): Promise<void> {
  try {
    // Several at once: most targets fail none.
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
