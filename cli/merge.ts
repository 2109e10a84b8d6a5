import { warnOf } from '../library/output/say.ts'
import { Command } from '@commander-js/extra-typings'
import type { Gates, Report } from '../harness/report/index.ts'
import {
  applyGates,
  foreignBaselineFile,
  mergeReports,
  readReport,
} from '../harness/report/index.ts'
import { UserError } from '../harness/user-error.ts'
import { formatFiles, plannedReports } from '../library/output/files.ts'
import { failureExchanges, finish } from '../library/output/write-reports.ts'
import { addGates } from './run/arguments.ts'

/** Reports hold the exchanges of failures only: they are not enough for a HAR of the run. */
const { har: _, ...mergedFiles } = formatFiles

export function mergeCommand() {
  const command = new Command('merge')
    .description('join the reports of all shards of a run into one, with its verdict and exit code')
    .argument('<report.json...>', 'the JSON reports of the shards')
  return addGates(
    command,
    Object.keys(mergedFiles),
    'expected failures, compared with the joined report',
  ).action(async (files, options) => {
    const har = options.report.find((value) => value.split('=')[0] === 'har')
    if (har !== undefined)
      throw new UserError(`--report ${har}: merge writes no HAR; each shard writes its own`)
    const parts = Object.fromEntries(files.map((path) => [`${path}, one of the parts`, path]))
    const inputs = { ...parts, 'the baseline': options.baseline }
    const { requests, people } = plannedReports(options.report, inputs, mergedFiles)
    const report = mergeFiles(files, options, new Date())
    for (const warning of foreignBaselineFile(options.baseline, report.run.tpe, report.target))
      warnOf(warning)
    await finish(report, { requests, exchanges: () => failureExchanges(report), people })
  })
}

/** The report of the whole, as the options decide it; throws UserError if the files are not the parts of one run. */
export function mergeFiles(files: readonly string[], gates: Gates, now: Date): Report {
  return applyGates(mergeReports(files.map(readReport)), gates, now)
}
