import type { Report, RequirementResult, TpeMode, Verdict, Counts, Outcome } from './model.ts'
import { isMistake, isLeftOut } from './reason.ts'
import { isSelected, type Selection } from './selection.ts'

/** Options that a verdict takes into account besides the results. */
interface RunFacts extends Pick<Report['run'], 'only' | 'skip' | 'readOnly'> {
  /** A failed `should` counts like a failed `must`. */
  readonly strict?: boolean
  /** Ended before its end: by a signal, or because the target stopped answering. */
  readonly interrupted: boolean
  /** Every request with the full key was answered 401. */
  readonly keyRefused?: boolean
  /** 0: nothing was sent, and a recording is judged. */
  readonly runs?: number
}

/**
 * The verdict of the results in that mode. A run that was interrupted or read only has the verdict of what was learned,
 * never `conformant`. If nothing but `envelope/` is selected, those requirements alone make it a judgement.
 */
export function verdictOf(
  results: readonly RequirementResult[],
  mode: TpeMode,
  run: RunFacts,
): Verdict {
  const isBroken = results.some((result) => outcomeIn(result, mode) === 'failed')
  // Nobody chose what a recording shows: what it breaks is broken, however little else it shows.
  const isShown =
    countedRequirements(results, run).some((result) => isJudged(result, mode)) ||
    (run.runs === 0 && isBroken)
  if (run.keyRefused || !isShown) return 'not-judged'
  const musts = results
    .filter((result) => result.level === 'must')
    .map((result) => outcomeIn(result, mode))
  const shoulds = results
    .filter((result) => result.level === 'should')
    .map((result) => outcomeIn(result, mode))
  if (musts.includes('failed') || (run.strict && shoulds.includes('failed')))
    return 'non-conformant'
  if (run.readOnly || run.interrupted || musts.includes('not-exercised') || results.some(isMistake))
    return 'passing'
  return 'conformant'
}

export function bothVerdicts(
  results: readonly RequirementResult[],
  run: RunFacts,
): Report['verdicts'] {
  return { exact: verdictOf(results, 'exact', run), family: verdictOf(results, 'family', run) }
}

function isJudged(result: RequirementResult, mode: TpeMode): boolean {
  const outcome = outcomeIn(result, mode)
  return outcome === 'passed' || outcome === 'failed'
}

/** At least one of these requirements must have passed or failed: those outside `envelope/`, or all if only those are selected. */
function countedRequirements(
  results: readonly RequirementResult[],
  selection: Selection,
): RequirementResult[] {
  const outside = results.filter((result) => result.operation !== 'envelope')
  const selected = results.filter((result) => isSelected(result.id, selection))
  const onlyEnvelope =
    selected.length > 0 && selected.every((result) => result.operation === 'envelope')
  return onlyEnvelope ? selected : outside
}

/** A shard to which nothing was dealt that counts for a verdict: it has none, and that is no fault of the target's. */
export function isEmptyShard(report: Pick<Report, 'run' | 'requirements'>): boolean {
  if (report.run.shard === null) return false
  return countedRequirements(report.requirements, report.run).every(
    (result) => result.outcome === 'not-applicable' || isLeftOut(result),
  )
}

const member = {
  passed: 'passed',
  failed: 'failed',
  'not-exercised': 'notExercised',
  'not-applicable': 'notApplicable',
} as const satisfies Record<Outcome, keyof Counts>

/** How many requirements of each level had each outcome in that mode. */
export function summarize(results: readonly RequirementResult[], mode: TpeMode): Report['summary'] {
  const of = (level: string) =>
    countOutcomes(
      results.filter((result) => result.level === level),
      mode,
    )
  return { must: of('must'), should: of('should') }
}

export function countOutcomes(results: readonly RequirementResult[], mode: TpeMode): Counts {
  const counts: Counts = { passed: 0, failed: 0, notExercised: 0, notApplicable: 0 }
  for (const result of results) counts[member[outcomeIn(result, mode)]] += 1
  return counts
}

/**
 * The outcome of a result as that mode sees it, whichever mode it was recorded in: the failures that it keeps
 * hold both. In `family` a requirement whose failures are all only family names has passed.
 */
export function outcomeIn(result: RequirementResult, mode: TpeMode): Outcome {
  if (result.failures.some((failure) => mode === 'exact' || !failure.familyOnly)) return 'failed'
  if (result.outcome === 'failed' && result.failures.length > 0) return 'passed'
  return result.outcome
}

/** Gives the result the outcome of that mode; its failures stay. */
export function inMode<Id extends string>(
  result: RequirementResult<Id>,
  mode: TpeMode,
): RequirementResult<Id> {
  const outcome = outcomeIn(result, mode)
  if (outcome === result.outcome) return result
  const { reason: _reason, ...rest } = result
  return { ...rest, outcome }
}

/** Requirements that fail in `exact` and pass in `family`: their code names are only family names (§7.2). */
export function familyNamesOnly(results: readonly RequirementResult[]): RequirementResult[] {
  return results.filter(
    (result) => outcomeIn(result, 'exact') === 'failed' && outcomeIn(result, 'family') !== 'failed',
  )
}
