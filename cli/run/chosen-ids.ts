import { isRequirementId } from '../../catalogue/catalogue.ts'
import {
  isLeftOutByOption,
  readReport,
  type RequirementResult,
} from '../../harness/report/index.ts'
import { UserError } from '../../harness/user-error.ts'
import { plannedReports } from '../output/report-requests.ts'
import type { RunArguments } from './arguments.ts'

/** The option that chooses requirements by what a report says of them; undefined if none does. */
export function chosenByOf({
  failed,
  untested,
}: RunArguments): '--failed' | '--untested' | undefined {
  if (failed !== undefined) return '--failed'
  return untested === undefined ? undefined : '--untested'
}

/**
 * Replaces `--failed` and `--untested <report.json>` by `--only` of each id that failed, or was not tested, in that report. An
 * id that an option had left out was not meant to be tested. Throws UserError if there is none.
 */
export function withChosenIds(options: RunArguments): RunArguments {
  const by = chosenByOf(options)
  const path = options.failed ?? options.untested
  if (by === undefined || path === undefined) return options
  if (options.failed !== undefined && options.untested !== undefined)
    throw new UserError('--failed and --untested: give one of the two')
  const { report } = readReport(path)
  plannedReports(options.report, { [`the report that ${by} names`]: path })
  const ids = report.requirements.flatMap((result) => {
    const isMeant =
      by === '--failed'
        ? result.outcome === 'failed'
        : result.outcome === 'not-exercised' && !isLeftOutByOption(result)
    return isMeant ? neededBy(result) : []
  })
  const nothing = by === '--failed' ? 'nothing failed' : 'everything was tested'
  if (ids.length === 0) throw new UserError(`${by} ${path}: ${nothing} in that report`)
  return { ...options, only: [...new Set([...options.only, ...ids])] }
}

/** The ids that show a failure again: its own, and of what is judged on the responses to others, theirs. */
export function neededBy({ id, failures }: RequirementResult): string[] {
  return [id, ...failures.flatMap(({ rerunIds = [] }) => rerunIds.filter(isRequirementId))]
}
