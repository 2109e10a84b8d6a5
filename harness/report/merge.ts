import { isDeepStrictEqual } from 'node:util'
import type { Report } from './model.ts'
import { UserError } from '../user-error.ts'
import { mergeResults } from './merge-results.ts'
import type { ReportFile } from './report-file.ts'
import type { Shard } from './shard.ts'
import { parseShard } from './shard.ts'
import { summarize } from './summary.ts'
import { bothVerdicts } from './verdict.ts'

/**
 * Joins the reports of all shards of a run into the report that the run would have given in one piece: its verdict, its
 * counts (`durationMs` is the sum, too), interrupted if any was. Expected failures are not taken over: the baseline is to
 * be held against the whole. Throws UserError where the parts are of different runs, or one is missing or doubled.
 */
export function mergeReports(files: readonly ReportFile[]): Report {
  const [first, ...others] = inOrder(files)
  for (const other of others) refuseDifference(first, other)
  const reports = [first, ...others].map((file) => file.report)
  const runs = reports.map((report) => report.run)
  const requirements = mergeResults([first, ...others])
  const run: Report['run'] = {
    ...first.report.run,
    startedAt: runs.map((part) => part.startedAt).reduce((a, b) => (Date.parse(b) < Date.parse(a) ? b : a)),
    durationMs: sum(runs, (part) => part.durationMs),
    nonce: [...new Set(runs.map((part) => part.nonce))].join('+'),
    requests: sum(runs, (part) => part.requests),
    throttled: sum(runs, (part) => part.throttled),
    concurrency: Math.max(...runs.map((part) => part.concurrency)),
    shard: null,
    baseline: null,
    interrupted: runs.some((part) => part.interrupted),
    created: runs.flatMap((part) => part.created),
  }
  const verdicts = bothVerdicts(requirements, run)
  return {
    ...first.report,
    run,
    verdict: verdicts[run.tpe],
    verdicts,
    summary: summarize(requirements, run.tpe),
    requirements,
  }
}

/** What must be the same in all parts, by the name that a refusal shows. */
const sameInAll: readonly (readonly [string, (report: Report) => unknown])[] = [
  ['suite.version', (report) => report.suite.version],
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

function inOrder(files: readonly ReportFile[]): [ReportFile, ...ReportFile[]] {
  const parts = files.map((file) => ({ file, shard: shardOfReport(file) }))
  const count = parts[0]?.shard.count ?? 0
  const ordered: ReportFile[] = []
  for (const { file, shard } of parts) {
    if (shard.count !== count) {
      throw new UserError(
        `${file.path}: is part ${shard.index}/${shard.count}, but ${files[0]!.path} is one of ${count}`,
      )
    }
    const double = ordered[shard.index - 1]
    if (double) throw new UserError(`${file.path}: is part ${shard.index}/${count}, and so is ${double.path}`)
    ordered[shard.index - 1] = file
  }
  const [first, ...others] = ordered
  const missing = Array.from({ length: count }, (_, index) => index).filter((index) => !ordered[index])
  if (missing.length > 0) {
    const parts = missing.map((index) => `${index + 1}/${count}`).join(', ')
    throw new UserError(`part ${parts} is missing; merge needs the reports of all ${count} shards`)
  }
  if (!first) throw new UserError('there is no report to merge')
  return [first, ...others]
}

function shardOfReport({ path, report }: ReportFile): Shard {
  if (report.run.shard === null) {
    throw new UserError(`${path}: is no shard (run.shard is null); merge takes the reports of runs with --shard`)
  }
  try {
    return parseShard(report.run.shard)
  } catch {
    throw new UserError(`${path}: run.shard: ${JSON.stringify(report.run.shard)} is no part such as 1/3`)
  }
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0)
}
