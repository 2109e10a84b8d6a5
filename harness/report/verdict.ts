import type {
  Counts,
  Failure,
  Outcome,
  Report,
  RequirementResult,
  Verdict,
} from './report-schema.ts'
import { member, parsedJson } from '../../schemas/json.ts'
import { isMistake } from './reason.ts'
import { isSelected, type Selection } from './selection.ts'

export interface RunFacts extends Pick<Report['run'], 'only' | 'skip' | 'readOnly'> {
  readonly strict?: boolean
  readonly interrupted: boolean
  readonly keyRefused?: boolean
  readonly runs?: number
}

/**
 * The verdict of the results. An interrupted or read-only run is never `conformant`. If only `envelope/` is selected,
 * those requirements alone count.
 */
export function verdictOf(results: readonly RequirementResult[], run: RunFacts): Verdict {
  const has = (outcome: Outcome, some = results): boolean =>
    some.some((result) => result.outcome === outcome)
  const counted = countedRequirements(results, run)
  // A recording is not selective: what it breaks is broken, however little else it shows.
  const isShown =
    has('passed', counted) || has('failed', counted) || (run.runs === 0 && has('failed'))
  if (run.keyRefused || !isShown) return 'not-judged'
  const musts = results.filter((result) => result.level === 'must')
  if (has('failed', run.strict ? results : musts)) return 'non-conformant'
  const isPart = run.readOnly || run.interrupted || results.some(isMistake)
  return isPart || has('not-exercised', musts) ? 'passing' : 'conformant'
}

function countedRequirements(
  results: readonly RequirementResult[],
  selection: Selection,
): readonly RequirementResult[] {
  const isOutside = (result: RequirementResult): boolean => result.operation !== 'envelope'
  const selected = results.filter((result) => isSelected(result.id, selection))
  const onlyEnvelope = selected.length > 0 && !selected.some(isOutside)
  return onlyEnvelope ? selected : results.filter(isOutside)
}

const memberOf = {
  passed: 'passed',
  failed: 'failed',
  'not-exercised': 'notExercised',
  'not-applicable': 'notApplicable',
} as const satisfies Record<Outcome, keyof Counts>

export function summarize(results: readonly RequirementResult[]): Report['summary'] {
  const of = (wanted: string): Counts => {
    const counts: Counts = { passed: 0, failed: 0, notExercised: 0, notApplicable: 0 }
    for (const { level, outcome } of results) if (level === wanted) counts[memberOf[outcome]] += 1
    return counts
  }
  return { must: of('must'), should: of('should') }
}

export interface HttpResponse {
  readonly status: number | null
  readonly tpe?: string
}

export function responseOf(failure: Pick<Failure, 'exchange'>): HttpResponse {
  const response = failure.exchange?.response
  if (response === undefined) return { status: null }
  const tpe = response.bodyEncoding === undefined ? tpeIn(response.body) : undefined
  return { status: response.status, ...(tpe !== undefined && { tpe }) }
}

/** The `tpe` of an error envelope; a truncated body does not parse, but its beginning may show it. */
function tpeIn(body: string): string | undefined {
  const value = parsedJson(body)
  if (value === undefined) return /^\s*\{\s*"tpe"\s*:\s*"([^"\\]*)"/.exec(body)?.[1]
  const tpe = member(value, 'tpe')
  return typeof tpe === 'string' ? tpe : undefined
}

export function responsesOf(result: RequirementResult): HttpResponse[] {
  return result.failures
    .map(responseOf)
    .filter((one, at, all) => all.findIndex((other) => isSame(one, other)) === at)
}

export function isSame(one: HttpResponse, two: HttpResponse): boolean {
  return one.status === two.status && one.tpe === two.tpe
}

/** For example `404 NotFound`, `200`, `no answer`, joined by `or`. */
export function sayAnswers(responses: readonly HttpResponse[]): string {
  const say = ({ status, tpe = '' }: HttpResponse): string =>
    status === null ? 'no answer' : `${status} ${tpe}`.trimEnd()
  return responses.map(say).join(' or ')
}
