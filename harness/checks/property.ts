import fc from 'fast-check'
import type { CheckContext } from '../engine/check-context.ts'
import { Failed } from '../engine/outcome.ts'
import { judgeEach } from './at-once.ts'
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
  check: (value: T) => Promise<unknown>,
): Promise<void> {
  const {
    run: { options },
    requirement,
  } = context
  const search = { seed: seedFor(options.seed, requirement.id), numRuns: options[runs] }
  generating.add(context)
  try {
    const seen = await firstFailure(fc.sample(arbitrary, search), check)
    if (seen) await smallest(seen, search, arbitrary, check)
  } finally {
    generating.delete(context)
  }
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
  search: { readonly seed: number; readonly numRuns: number },
  arbitrary: fc.Arbitrary<T>,
  check: (value: T) => Promise<unknown>,
): Promise<void> {
  let failed: Failed | undefined
  let isStopped = false
  let shrinks = 0
  const details = await fc.check(
    fc.asyncProperty(arbitrary, async (value) => {
      if (isStopped || (failed && shrinks++ >= mostShrinks)) return true
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
    throw new Failed({ ...failed.failure, ...(details.counterexamplePath ? { path: details.counterexamplePath } : {}) })
  // A failure that was found stays one, even if the search for a smaller one was cut short.
  throw seen
}
