import { countedRows } from './counted-rows.ts'
import type { Report, RequirementResult, TpeMode, Verdict } from './model.ts'
import { isMistake } from './reason.ts'
import { outcomeIn } from './mode.ts'

/** What a verdict takes into account besides the results. */
export interface RunFacts extends Pick<Report['run'], 'only' | 'skip' | 'readOnly'> {
  /** A failed `should` counts like a failed `must`. */
  readonly strict?: boolean
  /** Ended before its end: by a signal, or because the target stopped answering. */
  readonly interrupted: boolean
  /** Every request with the full key was answered 401. */
  readonly keyRefused?: boolean
}

/**
 * The verdict of the results in that mode. A run that was interrupted or read only has the verdict of what was learned,
 * never `conformant`. If nothing but `envelope/` is selected, those rows alone make it a judgement.
 */
export function verdictOf(results: readonly RequirementResult[], mode: TpeMode, run: RunFacts): Verdict {
  if (run.keyRefused || !countedRows(results, run).some((result) => isJudged(result, mode))) return 'not-judged'
  const musts = results.filter((result) => result.level === 'must').map((result) => outcomeIn(result, mode))
  const shoulds = results.filter((result) => result.level === 'should').map((result) => outcomeIn(result, mode))
  if (musts.includes('failed') || (run.strict && shoulds.includes('failed'))) return 'non-conformant'
  if (run.readOnly || run.interrupted || musts.includes('not-exercised') || results.some(isMistake)) return 'passing'
  return 'conformant'
}

export function bothVerdicts(results: readonly RequirementResult[], run: RunFacts): Report['verdicts'] {
  return { exact: verdictOf(results, 'exact', run), family: verdictOf(results, 'family', run) }
}

function isJudged(result: RequirementResult, mode: TpeMode): boolean {
  const outcome = outcomeIn(result, mode)
  return outcome === 'passed' || outcome === 'failed'
}
