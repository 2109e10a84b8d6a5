import { isDeepStrictEqual } from 'node:util'
import { catalogue } from '../../catalogue/catalogue.ts'
import { requirementsDigest } from '../../catalogue/digests.ts'
import { UserError } from '../user-error.ts'
import { inconsistencies } from './consistency.ts'
import { decided, outsideCause } from './exit-code.ts'
import { mergeResults } from './merge-results.ts'
import { mergeRuns } from './merge-runs.ts'
import type { Report } from './model.ts'
import type { ReportFile } from './report-file.ts'
import { inOrder } from './shard-order.ts'
import { summarize } from './summary.ts'
import { bothVerdicts, verdictOf } from './verdict.ts'

/**
 * Joins the reports of all shards of a run into the report that the run would have given in one piece: its verdict, its
 * counts (`durationMs` is the sum, too), interrupted if any was. Nothing that a part says of its own results is believed:
 * verdict, summary and exit code are computed again. Expected failures are not taken over: the baseline is to be held
 * against the whole. Throws UserError if a part contradicts itself, if the parts are of different runs, or if one is
 * missing or doubled.
 */
export function mergeReports(files: readonly ReportFile[]): Report {
  const [first, ...others] = inOrder(files)
  for (const file of [first, ...others]) refuseContradiction(file)
  for (const other of others) refuseDifference(first, other)
  const all = [first, ...others]
  const reports = all.map((file) => file.report)
  refuseForeignRows(first)
  const requirements = mergeResults(all)
  const run = mergeRuns(reports)
  const verdicts = bothVerdicts(requirements, { ...run, keyRefused: reports.some(wasRefused) })
  const notJudged = reports.map(outsideCause).find((cause) => cause !== undefined)
  return decided(
    {
      ...first.report,
      run,
      verdict: verdicts[run.tpe],
      verdicts,
      summary: summarize(requirements, run.tpe),
      requirements,
    },
    { notJudged },
  )
}

/** What must be the same in all parts, by the name that a refusal shows. */
const sameInAll: readonly (readonly [string, (report: Report) => unknown])[] = [
  ['suite.name', (report) => report.suite.name],
  ['suite.version', (report) => report.suite.version],
  ['suite.specVersion', (report) => report.suite.specVersion],
  ['suite.specDigest', (report) => report.suite.specDigest],
  ['suite.requirementsDigest', (report) => report.suite.requirementsDigest],
  ['target.baseUrl', (report) => report.target.baseUrl],
  ['target.digest', (report) => report.target.digest],
  ['run.seed', (report) => report.run.seed],
  ['run.runs', (report) => report.run.runs],
  ['run.strict', (report) => report.run.strict],
  ['run.readOnly', (report) => report.run.readOnly],
  ['run.tpe', (report) => report.run.tpe],
  ['run.only', (report) => report.run.only],
  ['run.skip', (report) => report.run.skip],
  ['run.insecure', (report) => report.run.insecure],
]

function refuseDifference(first: ReportFile, other: ReportFile): void {
  for (const [name, of] of sameInAll) {
    const [one, two] = [of(first.report), of(other.report)]
    if (isDeepStrictEqual(one, two)) continue
    throw new UserError(
      `${other.path}: ${name} is ${JSON.stringify(two)}, but ${JSON.stringify(one)} in ${first.path}; ` +
        'only the shards of one run can be merged',
    )
  }
}

/** A part whose summary, verdict or ids do not follow from its requirements was changed by somebody. */
function refuseContradiction({ path, report }: ReportFile): void {
  const [problem] = inconsistencies(report)
  if (problem !== undefined) throw new UserError(`${path}: contradicts itself: ${problem}`)
}

/** Parts that name the requirements of this suite must hold exactly those; all parts hold the same ones. */
function refuseForeignRows({ path, report }: ReportFile): void {
  if (report.suite.requirementsDigest !== requirementsDigest()) return
  const ids = new Set(report.requirements.map(({ id }) => id))
  const missing = catalogue.find(({ id }) => !ids.has(id))
  if (missing) throw new UserError(`${path}: requirements: ${missing.id} is missing`)
  if (ids.size > catalogue.length) throw new UserError(`${path}: requirements: holds ids that are no requirement`)
}

/** Every request of the part with the full key was answered 401, which its requirements alone do not tell. */
function wasRefused({ requirements, run, verdict }: Report): boolean {
  return verdict === 'not-judged' && verdictOf(requirements, run.tpe, run) !== 'not-judged'
}
