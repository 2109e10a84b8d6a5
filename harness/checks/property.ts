import fc from 'fast-check'
import type { CheckContext } from '../engine/check-context.ts'
import { Failed } from '../engine/outcome.ts'
import { seedFor } from './seed.ts'

/** Over HTTP each shrink step is a request: after this many the smallest so far is shown. */
const mostShrinks = 40

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
  check: (value: T) => Promise<void>,
): Promise<void> {
  const {
    run: { options },
    row,
  } = context
  generating.add(context)
  let failed: Failed | undefined
  let stopped: { reason: unknown } | undefined
  let shrinks = 0
  const details = await fc.check(
    fc.asyncProperty(arbitrary, async (value) => {
      if (stopped || (failed && shrinks++ >= mostShrinks)) return true
      try {
        await check(value)
        return true
      } catch (error) {
        if (!(error instanceof Failed)) {
          stopped = { reason: error }
          return true
        }
        failed = error
        return false
      }
    }),
    { seed: seedFor(options.seed, row.id), numRuns: options[runs] },
  )
  generating.delete(context)
  if (failed)
    throw new Failed({ ...failed.failure, ...(details.counterexamplePath ? { path: details.counterexamplePath } : {}) })
  // A failure that was found stays one, even if the search for a smaller one was cut short.
  if (stopped) throw stopped.reason
}
