import type { BaselineEntry } from '../../harness/report/baseline.ts'
import { type RunOptions, rerunCommand, runOptionsOf } from '../../harness/engine/run.ts'
import { shellWord } from '../../harness/shell-word.ts'
import { isSecretName } from '../../harness/recording/redactor.ts'
import { labels } from '../../harness/target-file/resolve-key.ts'
import type { RunArguments } from './arguments.ts'
import { isRequirementId } from '../../catalogue/catalogue.ts'
import type { RequirementResult } from '../../harness/report/model.ts'
import { readReport } from '../../harness/report/json-file.ts'
import { UserError } from '../../harness/user-error.ts'
import { checkOutputs, reportFiles } from '../output/files.ts'
import { parseReportRequests } from '../output/report-request.ts'

/** Whether a report is asked for that shows every exchange: the others show those of failures, which the failures keep. */
export function keepsExchanges({ report }: RunArguments): boolean {
  return report.some((value) => /^(har|html)(=|$)/.test(value))
}

/**
 * Turns the options of the command line into those of a run.
 * @param exchangeLog where every exchange is written down; undefined: nowhere
 */
export function runOptions(
  options: RunArguments,
  baseUrl: string | undefined,
  expected: readonly BaselineEntry[],
  exchangeLog?: string,
): RunOptions {
  const log = exchangeLog === undefined ? {} : { exchangeLog }
  const again = rerunCommand({ ...options, baseUrl, ...(options.header && { headers: options.header }) })
  return runOptionsOf({ ...options, expected, ...log }, again + startOf(options))
}

/** Options that start the server of a rerun, without what they seem to hand over as a secret. */
function startOf({ start, wait }: RunArguments): string {
  const shown = start?.replaceAll(/(\w+)=('[^']*'|"[^"]*"|\S+)/g, (whole, name: string) =>
    isSecretName(name) ? `${name}=${labels.other}` : whole,
  )
  return [
    ...(shown === undefined ? [] : [` --start ${shellWord(shown)}`]),
    ...(wait === undefined ? [] : [` --wait ${wait}`]),
  ].join('')
}

/**
 * Replaces `--failed <report.json>` by `--only` of each id that failed in that report and, for a requirement about
 * every response, of those whose requests showed the failure. Throws UserError if nothing failed there.
 */
export function withFailedOnes(options: RunArguments): RunArguments {
  const { failed: path, only } = options
  if (path === undefined) return options
  const { report } = readReport(path)
  checkOutputs(reportFiles(parseReportRequests(options.report)), [{ path, what: 'the report that --failed names' }])
  const failed = report.requirements.filter(({ outcome }) => outcome === 'failed')
  const ids = failed.flatMap(neededBy)
  if (ids.length === 0) throw new UserError(`--failed ${path}: nothing failed in that report`)
  return { ...options, only: [...new Set([...only, ...ids])] }
}

/** The ids that show a failure again: its own, and of what is judged on the responses to others, theirs. */
export function neededBy({ id, failures }: RequirementResult): string[] {
  return [id, ...failures.flatMap(({ rerunIds = [] }) => rerunIds.filter(isRequirementId))]
}
