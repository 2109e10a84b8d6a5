import type { Counts, Failure, Outcome, Report, RequirementResult } from './report-schema.ts'
import type { TpeMode, Verdict } from './report-schema.ts'
import { member, parsedJson } from '../../schemas/json.ts'
import { isMistake } from './reason.ts'
import { isSelected, type Selection } from './selection.ts'

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
  const has = (outcome: Outcome, some = results): boolean =>
    some.some((result) => outcomeIn(result, mode) === outcome)
  const counted = countedRequirements(results, run)
  // Nobody chose what a recording shows: what it breaks is broken, however little else it shows.
  const isShown =
    has('passed', counted) || has('failed', counted) || (run.runs === 0 && has('failed'))
  if (run.keyRefused || !isShown) return 'not-judged'
  const musts = results.filter(({ level }) => level === 'must')
  if (has('failed', run.strict ? results : musts)) return 'non-conformant'
  const isPart = run.readOnly || run.interrupted || results.some(isMistake)
  return isPart || has('not-exercised', musts) ? 'passing' : 'conformant'
}

export function bothVerdicts(
  results: readonly RequirementResult[],
  run: RunFacts,
): Report['verdicts'] {
  return { exact: verdictOf(results, 'exact', run), family: verdictOf(results, 'family', run) }
}

/** At least one of these requirements must have passed or failed: those outside `envelope/`, or all if only those are selected. */
function countedRequirements(
  results: readonly RequirementResult[],
  selection: Selection,
): readonly RequirementResult[] {
  const isOutside = ({ operation }: RequirementResult): boolean => operation !== 'envelope'
  const selected = results.filter(({ id }) => isSelected(id, selection))
  const onlyEnvelope = selected.length > 0 && !selected.some(isOutside)
  return onlyEnvelope ? selected : results.filter(isOutside)
}

const memberOf = {
  passed: 'passed',
  failed: 'failed',
  'not-exercised': 'notExercised',
  'not-applicable': 'notApplicable',
} as const satisfies Record<Outcome, keyof Counts>

export function summarize(results: readonly RequirementResult[], mode: TpeMode): Report['summary'] {
  const of = (wanted: string) =>
    countOutcomes(
      results.filter(({ level }) => level === wanted),
      mode,
    )
  return { must: of('must'), should: of('should') }
}

export function countOutcomes(results: readonly RequirementResult[], mode: TpeMode): Counts {
  const counts: Counts = { passed: 0, failed: 0, notExercised: 0, notApplicable: 0 }
  for (const result of results) counts[memberOf[outcomeIn(result, mode)]] += 1
  return counts
}

/**
 * The outcome of a result as that mode sees it, whichever mode it was recorded in: the failures that it keeps
 * hold both. In `family` a requirement whose failures are all only family names has passed.
 */
export function outcomeIn({ failures, outcome }: RequirementResult, mode: TpeMode): Outcome {
  if (failures.some(({ familyOnly }) => mode === 'exact' || !familyOnly)) return 'failed'
  return outcome === 'failed' && failures.length > 0 ? 'passed' : outcome
}

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

/** A mark of what came back in a failure: enough to tell whether it is the same failure as before. */
export interface HttpResponse {
  /** Null if no answer came, or none belongs to the failure. */
  readonly status: number | null
  readonly tpe?: string
}

export function responseOf({ exchange }: Pick<Failure, 'exchange'>): HttpResponse {
  const response = exchange?.response
  if (response === undefined) return { status: null }
  const tpe = response.bodyEncoding === undefined ? tpeIn(response.body) : undefined
  return { status: response.status, ...(tpe !== undefined && { tpe }) }
}

/** The `tpe` of an error envelope; a body that was cut is no JSON any more, but its beginning still tells. */
function tpeIn(body: string): string | undefined {
  const value = parsedJson(body)
  if (value === undefined) return /^\s*\{\s*"tpe"\s*:\s*"([^"\\]*)"/.exec(body)?.[1]
  const tpe = member(value, 'tpe')
  return typeof tpe === 'string' ? tpe : undefined
}

/** The answers that make the requirement fail in that mode, each once. */
export function responsesOf(result: RequirementResult, mode: TpeMode): HttpResponse[] {
  if (outcomeIn(result, mode) !== 'failed') return []
  const counted = result.failures.filter(({ familyOnly }) => mode === 'exact' || !familyOnly)
  return counted
    .map(responseOf)
    .filter((one, at, all) => all.findIndex((other) => isSame(one, other)) === at)
}

export function isSame(one: HttpResponse, two: HttpResponse): boolean {
  return one.status === two.status && one.tpe === two.tpe
}

/** `404 NotFound`, `200`, `no answer`; several with `or` between. */
export function sayAnswers(responses: readonly HttpResponse[]): string {
  const say = ({ status, tpe = '' }: HttpResponse): string =>
    status === null ? 'no answer' : `${status} ${tpe}`.trimEnd()
  return responses.map(say).join(' or ')
}
