import { isDeepStrictEqual } from 'node:util'
import type { Exit, Report, RequirementResult, Undecided } from './report-schema.ts'
import { commonReason, isLeftOut, isLeftOutByOption, isMistake, count } from './reason.ts'
import { summarize, verdictOf } from './verdict.ts'

export interface ExitOptions {
  /** `--require-exercised`: a `must` that was not exercised counts like a failed one, unless it was left out. */
  readonly requireExercised?: boolean
  readonly notJudged?: string | undefined
}

/**
 * Decides how a run or `check` ends, from the report's own `strict`, `tpe` and `baseline`: 3 if the target could not be
 * judged (or was interrupted), else 1 for an unexpected failure, else 0. Code 2 is `withProblems`.
 */
export function decide(
  report: Undecided,
  options: ExitOptions = {},
): Exit & { readonly code: 0 | 1 | 3 } {
  if (options.notJudged !== undefined) return { code: 3, because: options.notJudged, outside: true }
  const cause = whyNotJudged(report)
  if (cause !== undefined) return { code: 3, because: cause }
  const deciding = decidingRequirements(report, options)
  const isStale = (report.run.baseline?.stale.length ?? 0) > 0
  if (deciding.length === 0 && !isStale) return { code: 0, because: success(report) }
  const isMissed = deciding.some((one) => one.outcome === 'not-exercised')
  const because = failureReasons(report, deciding).join('; ')
  return { code: 1, because, ...(isMissed && { requireExercised: true }) }
}

/** Decides, or decides again after a baseline: what kept the target from being judged stays. */
export function decided(report: Undecided | Report, options: ExitOptions = {}): Report {
  const { format, requirements, run, suite, summary, target, verdict } = report
  const notJudged = 'exit' in report ? outsideCause(report) : undefined
  const exit = decide(report, { notJudged, ...options })
  return { format, suite, target, run, exit, verdict, summary, requirements }
}

export function withProblems(report: Report, problems: readonly string[]): Report {
  return problems.length === 0
    ? report
    : { ...report, exit: { code: 2, because: problems.join('; ') } }
}

export function decidingRequirements(
  { requirements, run: { baseline, strict } }: Undecided,
  { requireExercised = false }: ExitOptions,
): RequirementResult[] {
  const expected = new Set(baseline?.expected)
  const stale = new Set(baseline?.stale.map((one) => one.id))
  return requirements.filter((result) => {
    const { id, level, outcome } = result
    if (outcome === 'failed')
      return stale.has(id) || ((level === 'must' || strict) && !expected.has(id))
    const isMissed = outcome === 'not-exercised' && !isLeftOut(result)
    return requireExercised && isMissed && level === 'must'
  })
}

export function decisive(report: Report): RequirementResult[] {
  return decidingRequirements(report, { requireExercised: report.exit.requireExercised === true })
}

export function outsideCause({ exit: { because, outside } }: Report): string | undefined {
  return outside === true ? because : undefined
}

function whyNotJudged(report: Undecided): string | undefined {
  const { requirements, run, verdict } = report
  if (run.interrupted) return 'the run was interrupted'
  const mistakes = requirements.filter(isMistake).length
  if (mistakes > 0)
    return `${count(mistakes, 'requirement')} could not be judged because of a bug in the suite; please report it, with seed ${run.seed}`
  if (verdict !== 'not-judged') return undefined
  const reason = commonReason(requirements)?.reason
  return `the target could not be judged${reason === undefined ? '' : ` (${reason})`}`
}

const checks = { must: 'required check', should: 'recommendation' } as const

function failureReasons(
  { run: { baseline } }: Undecided,
  deciding: readonly RequirementResult[],
): string[] {
  const { expected = [], file = 'the baseline', notExercised = [], stale = [] } = baseline ?? {}
  const isHeld = expected.length + stale.length + notExercised.length > 0
  const staleIds = new Set(stale.map((one) => one.id))
  const failed = deciding.filter((one) => one.outcome === 'failed')
  const fresh = failed.filter((one) => !staleIds.has(one.id))
  const of = (wanted: string): number => fresh.filter((one) => one.level === wanted).length
  const levels = (['must', 'should'] as const).filter((level) => of(level) > 0)
  const changed = failed.length - fresh.length
  const old = staleIds.size - changed
  const missed = deciding.length - failed.length
  const clauses: [number, string][] = [
    [
      fresh.length,
      `${levels.map((level) => count(of(level), checks[level])).join(' and ')} failed${isHeld ? ' that the baseline does not expect' : ''}`,
    ],
    [changed, `${count(changed, 'failure')} ${is(changed)} not as ${file} expects`],
    [old, `${count(old, 'entry', 'entries')} of ${file} ${is(old)} stale`],
    [
      missed,
      `${count(missed, checks.must)} ${missed === 1 ? 'was' : 'were'} not tested (--require-exercised)`,
    ],
  ]
  return clauses.flatMap(([number, clause]) => (number > 0 ? [clause] : []))
}

function success(report: Undecided): string {
  const { requirements, run, summary } = report
  const expected = run.baseline?.expected.length ?? 0
  const all = summary.must.failed + summary.should.failed
  if (expected > 0 && expected === all)
    return `${count(all, 'failure')}, ${all === 1 ? '' : 'all '}expected by ${run.baseline!.file}`
  const leftOut = requirements.filter(
    (result) => result.level === 'must' && isLeftOutByOption(result),
  ).length
  const notExercised = summary.must.notExercised - leftOut
  const rest = all - expected
  return [
    expected > 0
      ? `${expected} of ${count(all, 'failure')} expected by the baseline`
      : 'no required check failed',
    notExercised > 0 ? `, ${notExercised} not tested` : '',
    leftOut > 0 ? `, ${leftOut} left out` : '',
    rest > 0 ? `; ${count(rest, 'recommendation')} failed (not decisive)` : '',
  ].join('')
}

function is(number: number): string {
  return number === 1 ? 'is' : 'are'
}

/**
 * Contradictions within a report, one sentence each, found by computing verdict, summary and outcomes again. Empty for
 * a report that `conform` wrote and nobody changed.
 */
export function inconsistencies(report: Report): string[] {
  const { exit, requirements, run, summary, verdict } = report
  const found: string[] = []
  const computed = verdictOf(requirements, run)
  // `not-judged` is also right if the key was refused, which the requirements do not show.
  if (verdict !== computed && verdict !== 'not-judged')
    found.push(`verdict is ${verdict}, but its requirements make it ${computed}`)
  const counted = summarize(requirements)
  for (const level of ['must', 'should'] as const)
    if (!isDeepStrictEqual(summary[level], counted[level]))
      found.push(`summary.${level} does not count its requirements`)
  const least = decide(report).code
  if (exit.code < 2 && least > exit.code)
    found.push(`exit.code is ${exit.code}, but its requirements make it ${least}`)
  const seen = new Set<string>()
  for (const result of requirements) {
    const { failures, id } = result
    if ((result.outcome === 'failed') !== failures.length > 0)
      found.push(`${id} is ${result.outcome}, with ${failures.length} failures`)
    if (seen.has(id)) found.push(`${id} is listed twice`)
    seen.add(id)
  }
  return found
}
