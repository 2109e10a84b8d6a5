import { Command, Option } from 'commander'
import pc from 'picocolors'
import type { Report, TpeMode } from '../harness/report/model.ts'
import type { Gates } from '../harness/report/apply-gates.ts'
import { applyGates } from '../harness/report/apply-gates.ts'
import { exitCode } from '../harness/report/exit-code.ts'
import { mergeReports } from '../harness/report/merge.ts'
import { readReport } from '../harness/report/report-file.ts'
import { UserError } from '../harness/user-error.ts'
import { renderTerminal } from '../reporters/terminal.ts'
import { failureExchanges } from './output/failure-exchanges.ts'
import type { ReportRequest } from './output/report-request.ts'
import { formatNames, parseReportRequests, takesStdout } from './output/report-request.ts'
import { writeReports } from './output/write-reports.ts'

export interface MergeArguments extends Gates {
  readonly report: readonly string[]
}

export function mergeCommand(): Command {
  return new Command('merge')
    .description('join the reports of all shards of a run into one, with its verdict and exit code')
    .argument('<report.json...>', 'the JSON reports of the shards')
    .addOption(
      new Option('--report <format>[=<path>]', 'write a report; repeatable, - is stdout')
        .argParser((value, before: string[]) => [...before, value])
        .default([], 'none'),
    )
    .option('--baseline <file>', 'expected failures, held against the whole')
    .option('--strict', 'a failed should counts like a failed must')
    .addOption(new Option('--tpe <mode>', 'which verdict decides').choices(['exact', 'family'] satisfies TpeMode[]))
    .action(async (files: string[], options: MergeArguments) => {
      const requests = mergeRequests(options.report)
      const report = mergeFiles(files, options, new Date())
      const people = takesStdout(requests) ? process.stderr : process.stdout
      const problems = await writeReports(requests, report, () => failureExchanges(report))
      people.write(renderTerminal(report, pc))
      if (problems.length > 0) throw new UserError(problems.join('\n'))
      process.exitCode = exitCode(report)
    })
}

/** The report of the whole, as the options decide it; throws UserError where the files are not the parts of one run. */
export function mergeFiles(files: readonly string[], gates: Gates, now: Date): Report {
  return applyGates(mergeReports(files.map(readReport)), gates, now)
}

/** Reports hold the exchanges of failures only, of which no HAR of the run can be made. */
export function mergeRequests(values: readonly string[]): ReportRequest[] {
  const har = values.find((value) => /^har(=|$)/.test(value))
  if (har !== undefined) throw new UserError(`--report ${har}: merge writes no HAR; each shard writes its own`)
  return parseReportRequests(
    values,
    formatNames.filter((name) => name !== 'har'),
  )
}
