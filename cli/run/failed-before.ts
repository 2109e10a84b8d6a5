import { isRequirementId } from '../../catalogue/catalogue.ts'
import type { RequirementResult } from '../../harness/report/model.ts'
import { readReport } from '../../harness/report/json-file.ts'
import { UserError } from '../../harness/user-error.ts'
import { checkOutputs, reportFiles } from '../output/check-outputs.ts'
import { parseReportRequests } from '../output/report-request.ts'
import type { RunArguments } from './arguments.ts'

/**
 * The same options with `--failed <report.json>` as `--only` of each id that failed in that report and, for a requirement about
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

/** The ids that show a failure again: its own, and of what is judged on the answers to others, theirs. */
export function neededBy({ id, failures }: RequirementResult): string[] {
  return [id, ...failures.flatMap(({ rerun }) => idsIn(rerun))]
}

/** What an `again` line selects. */
function idsIn(rerun: string): string[] {
  return [...rerun.matchAll(/--only '?([^\s']+)'?/g)].flatMap(([, id = '']) => (isRequirementId(id) ? [id] : []))
}
