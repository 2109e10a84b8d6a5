import type {
  Counts,
  Failure,
  Outcome,
  Report,
  RequirementResult,
  Verdict,
  Exit,
  Undecided,
} from '../../schemas/report.ts'
import { member, parsedJson } from '../../schemas/json.ts'
import { isMistake, commonReason, isLeftOut, isLeftOutByOption, count } from './reason.ts'
import { isDeepStrictEqual } from 'node:util'
import { readFileSync } from 'node:fs'
import {
  type CatalogueRequirement,
  type RequirementId,
  requirementsDigest,
  specDigest,
  specVersion,
} from '../../catalogue/catalogue.ts'
import { packageFile } from '../../schemas/validate.ts'

export type CatalogueResult = RequirementResult<RequirementId>

interface Found {
  readonly target: Report['target']
  readonly run: Report['run']
  readonly requirements: RequirementResult[]
  /** Why the target could not be judged, if so. */
  readonly notJudged?: string | undefined
}

/**
 * A report: what was found, and what follows from it.
 * @param judged what the verdict depends on besides, or instead of, `run`
 */
export function assembleReport(found: Found, judged: Partial<RunFacts> = {}): Report {
  const { target, run, requirements, notJudged } = found
  const suite = {
    name: 'ai-content-conformance',
    version: suiteVersion(),
    specVersion,
    specDigest,
    requirementsDigest: requirementsDigest(),
  }
  const verdict = verdictOf(requirements, { ...run, ...judged })
  const summary = summarize(requirements)
  const format = 'conformance-report/1'
  return decided({ format, suite, target, run, requirements, verdict, summary }, { notJudged })
}

export const noRun: Report['run'] = {
  startedAt: '',
  durationMs: 0,
  seed: 0,
  runs: 0,
  nonce: '',
  requests: 0,
  throttled: 0,
  concurrency: 0,
  strict: false,
  readOnly: false,
  tpe: 'exact',
  only: [],
  skip: [],
  baseline: null,
  insecure: false,
  ca: false,
  proxy: null,
  interrupted: false,
  depth: 'full',
  credentialProbes: 'all',
  notServed: [],
  created: [],
  cleanup: { removed: 0, left: [] },
}

export function suiteVersion(): string {
  return (JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as { version: string })
    .version
}

type RunFacts = Pick<Report['run'], 'only' | 'skip' | 'readOnly' | 'interrupted'> &
  Partial<Pick<Report['run'], 'strict' | 'runs'>> & { readonly keyRefused?: boolean }

/**
 * The verdict of the results. An interrupted or read-only run is never `conformant`. If only `envelope/` is selected,
 * those requirements alone count.
 */
export function verdictOf(results: readonly RequirementResult[], run: RunFacts): Verdict {
  const has = (outcome: Outcome, some = results): boolean =>
    some.some((result) => result.outcome === outcome)
  const selected = results.filter((result) => isSelected(result.id, run))
  const isEnvelope = selected.length > 0 && selected.every((one) => one.operation === 'envelope')
  const counted = isEnvelope ? selected : results.filter((one) => one.operation !== 'envelope')
  // A recording is not selective: what it breaks is broken, however little else it shows.
  const isShown =
    has('passed', counted) || has('failed', counted) || (run.runs === 0 && has('failed'))
  if (run.keyRefused || !isShown) return 'not-judged'
  const musts = results.filter((result) => result.level === 'must')
  if (has('failed', run.strict ? results : musts)) return 'non-conformant'
  const isPart = run.readOnly || run.interrupted || results.some(isMistake)
  return isPart || has('not-exercised', musts) ? 'passing' : 'conformant'
}

/** The result of a requirement: what was found, or that nothing was judged. */
export function resultOf(
  { id, operation, level, section, statement }: CatalogueRequirement,
  found: Pick<CatalogueResult, 'outcome'> & Partial<CatalogueResult>,
): CatalogueResult {
  const about = { id, operation, level, section, statement, outcome: found.outcome }
  return { ...about, control: 'none', cases: 0, durationMs: 0, failures: [], ...found }
}

const memberOf = {
  passed: 'passed',
  failed: 'failed',
  'not-exercised': 'notExercised',
  'not-applicable': 'notApplicable',
} as const satisfies Record<Outcome, keyof Counts>

export function summarize(results: readonly RequirementResult[]): Report['summary'] {
  const none: Counts = { passed: 0, failed: 0, notExercised: 0, notApplicable: 0 }
  const summary = { must: { ...none }, should: { ...none } }
  for (const { level, outcome } of results) summary[level][memberOf[outcome]] += 1
  return summary
}

export interface Selection {
  readonly only: readonly string[]
  readonly skip: readonly string[]
}

export function isSelected(id: string, selection: Selection): boolean {
  if (selection.only.length > 0 && !selection.only.some((pattern) => matchesId(id, pattern)))
    return false
  return !selection.skip.some((pattern) => matchesId(id, pattern))
}

const longestPattern = 256

/**
 * Whether the pattern matches the whole id; `*` matches any characters, including `/`. An overlong one, which a report
 * cannot hold, matches nothing.
 */
export function matchesId(id: string, pattern: string): boolean {
  if (pattern.length > longestPattern) return false
  const [first = '', ...parts] = pattern.split('*')
  const last = parts.pop()
  if (last === undefined) return id === pattern
  if (!id.startsWith(first) || !id.endsWith(last)) return false
  let at = first.length
  for (const part of parts) {
    const found = id.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return at + last.length <= id.length
}

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
  const { requirements, run, verdict } = report
  if (run.interrupted)
    return { code: 3, because: `the run was interrupted${howMuchUntested(requirements)}` }
  const mistakes = requirements.filter(isMistake).length
  if (mistakes > 0)
    return {
      code: 3,
      because: `${count(mistakes, 'requirement')} could not be judged because of a bug in the suite; please report it, with seed ${run.seed} (NODE_DEBUG=conform prints the stack)`,
    }
  if (verdict === 'not-judged') {
    const selected = requirements.filter((one) => isSelected(one.id, run))
    const reason = (commonReason(selected) ?? commonReason(requirements))?.reason
    const why = reason === undefined ? '' : ` (${reason})`
    return { code: 3, because: `the target could not be judged${why}` }
  }
  const deciding = decidingRequirements(report, options)
  const isStale = (run.baseline?.stale.length ?? 0) > 0
  if (deciding.length === 0 && !isStale) return { code: 0, because: success(report) }
  const isMissed = deciding.some((one) => one.outcome === 'not-exercised')
  const because = failureReasons(report, deciding).join('; ')
  return { code: 1, because, ...(isMissed && { requireExercised: true }) }
}

/** `; 3 of 8 required checks were not tested`, if any. */
export function howMuchUntested(results: readonly RequirementResult[]): string {
  const required = results.filter(
    (one) => one.level === 'must' && one.outcome !== 'not-applicable' && !isLeftOutByOption(one),
  )
  const untested = required.filter((one) => one.outcome === 'not-exercised').length
  return untested === 0 ? '' : `; ${untested} of ${required.length} required checks were not tested`
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

function decidingRequirements(report: Undecided, options: ExitOptions): RequirementResult[] {
  const { baseline, strict } = report.run
  const expected = new Set(baseline?.expected)
  const stale = new Set(baseline?.stale.map((one) => one.id))
  return report.requirements.filter((result) => {
    const { id, level, outcome } = result
    if (outcome === 'failed')
      return stale.has(id) || ((level === 'must' || strict) && !expected.has(id))
    const isMissed = outcome === 'not-exercised' && !isLeftOut(result)
    return options.requireExercised === true && isMissed && level === 'must'
  })
}

export function decisive(report: Report): RequirementResult[] {
  return decidingRequirements(report, { requireExercised: report.exit.requireExercised === true })
}

export function outsideCause(report: Report): string | undefined {
  return report.exit.outside === true ? report.exit.because : undefined
}

const checks = { must: 'required check', should: 'recommendation' } as const

function failureReasons(report: Undecided, deciding: readonly RequirementResult[]): string[] {
  const {
    expected = [],
    file = 'the baseline',
    notExercised = [],
    stale = [],
  } = report.run.baseline ?? {}
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
  return responses
    .map((one) => (one.status === null ? 'no answer' : `${one.status} ${one.tpe ?? ''}`.trimEnd()))
    .join(' or ')
}
