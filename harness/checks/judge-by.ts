import type { Pairs } from '../../catalogue/expected.ts'
import { type CheckContext, Failed, judgePairs, NotExercised } from '../engine/index.ts'
import type { Evidence, Verdict } from '../history/index.ts'

const isPairs = (expected: Evidence['expected']): expected is Pairs => typeof expected !== 'string'

/** Ends the judging of a requirement as a rule says: throws `Failed` with its evidence, or `NotExercised` if it is open. */
export function judgeVerdict(context: CheckContext, verdict: Verdict): void {
  if (verdict.outcome === 'open') throw new NotExercised(verdict.why)
  context.cases += verdict.cases
  if (verdict.outcome === 'held') return
  for (const { exchange, what, expected, ...more } of verdict.evidence) {
    context.shownBy = more.shownBy ?? null
    context.before = more.before
    context.takes = more.takes ?? context.takes
    if (isPairs(expected)) {
      // That the state was there is what the rule has shown.
      context.control = 'granted'
      judgePairs(context, exchange, expected, what)
      continue
    }
    const { actual, at, against } = more
    const before = against ? [context.failure(against, expected, `${what}, before`)] : []
    const failure = context.failure(exchange, expected, what, actual)
    throw new Failed(at === undefined ? failure : { ...failure, at }, before)
  }
}
