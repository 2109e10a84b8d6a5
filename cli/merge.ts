import { warnOf } from './output/say.ts'
import { Command, Option } from 'commander'
import type { Report, TpeMode } from '../harness/report/model.ts'
import { type Gates, applyGates } from '../harness/report/exit-code.ts'
import { foreignBaselineFile } from '../harness/report/baseline.ts'
import { mergeReports } from '../harness/report/merge.ts'
import { readReport } from '../harness/report/json-file.ts'
import { UserError } from '../harness/user-error.ts'
import { checkOutputs, reportFiles } from './output/files.ts'
import { failureExchanges } from './output/run-folder.ts'
import { finish } from './output/write-reports.ts'
import { reportOption } from './run/arguments.ts'
import { type ReportRequest, formatNames, parseReportRequests, takesStdout } from './output/report-request.ts'

export interface MergeArguments extends Gates {
  readonly report: readonly string[]
}

const mergedFormats = formatNames.filter((name) => name !== 'har')

export function mergeCommand(): Command {
  return new Command('merge')
    .description('join the reports of all shards of a run into one, with its verdict and exit code')
    .argument('<report.json...>', 'the JSON reports of the shards')
    .addOption(reportOption(mergedFormats))
    .option('--baseline <file>', 'expected failures, compared with the joined report')
    .option('--strict', 'a failed should counts like a failed must')
    .addOption(new Option('--tpe <mode>', 'which verdict decides').choices(['exact', 'family'] satisfies TpeMode[]))
    .action(async (files: string[], options: MergeArguments) => {
      const requests = mergeRequests(options.report)
      const inputs = files.map((path) => ({ path, what: `${path}, one of the parts` }))
      const { baseline: path } = options
      checkOutputs(reportFiles(requests), path === undefined ? inputs : [...inputs, { path, what: 'the baseline' }])
      const report = mergeFiles(files, options, new Date())
      const people = takesStdout(requests) ? process.stderr : process.stdout
      for (const warning of foreignBaselineFile(options.baseline, report.run.tpe, report.target)) {
        warnOf(warning)
      }
      await finish(report, { requests, exchanges: () => failureExchanges(report), people })
    })
}

/** The report of the whole, as the options decide it; throws UserError if the files are not the parts of one run. */
export function mergeFiles(files: readonly string[], gates: Gates, now: Date): Report {
  return applyGates(mergeReports(files.map(readReport)), gates, now)
}

/** Reports hold the exchanges of failures only: they are not enough for a HAR of the run. */
export function mergeRequests(values: readonly string[]): ReportRequest[] {
  const har = values.find((value) => /^har(=|$)/.test(value))
  if (har !== undefined) throw new UserError(`--report ${har}: merge writes no HAR; each shard writes its own`)
  return parseReportRequests(values, mergedFormats)
}
