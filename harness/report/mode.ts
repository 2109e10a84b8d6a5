import type { Outcome, RequirementResult, TpeMode } from './model.ts'

/**
 * The outcome of a result as that mode sees it, whichever mode it was recorded in: the failures that it keeps
 * hold both. In `family` a requirement whose failures are all only family names has passed.
 */
export function outcomeIn(result: RequirementResult, mode: TpeMode): Outcome {
  if (result.failures.some((failure) => mode === 'exact' || !failure.familyOnly)) return 'failed'
  if (result.outcome === 'failed' && result.failures.length > 0) return 'passed'
  return result.outcome
}

/** The same result with the outcome of that mode; its failures stay. */
export function inMode<Id extends string>(result: RequirementResult<Id>, mode: TpeMode): RequirementResult<Id> {
  const outcome = outcomeIn(result, mode)
  if (outcome === result.outcome) return result
  const { reason: _reason, ...rest } = result
  return { ...rest, outcome }
}

/** Requirements that fail in `exact` and pass in `family`: their code names are only family names (§7.2). */
export function familyNamesOnly(results: readonly RequirementResult[]): RequirementResult[] {
  return results.filter((result) => outcomeIn(result, 'exact') === 'failed' && outcomeIn(result, 'family') !== 'failed')
}
