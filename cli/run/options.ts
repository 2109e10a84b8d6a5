import { isRequirementId } from '../../catalogue/catalogue.ts'
import {
  isLeftOutByOption,
  readReport,
  type RequirementResult,
  type BaselineEntry,
} from '../../harness/report/index.ts'
import { UserError } from '../../harness/user-error.ts'
import { plannedReports } from '../../library/output/files.ts'
import type { RunArguments } from './arguments.ts'
import { type RunOptions, rerunCommand, runOptionsOf } from '../../harness/engine/index.ts'
import { isSecretName } from '../../harness/recording/index.ts'
import { labels } from '../../harness/target/index.ts'
import { shellWord } from '../../harness/shell-word.ts'

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
  const again = rerunCommand({ ...options, baseUrl, headers: options.header })
  const chosenBy = chosenByOf(options)
  const endsTarget = options.start !== undefined
  const given = { ...options, expected, exchangeLog, chosenBy, endsTarget }
  return runOptionsOf(given, again + startOf(options))
}

/** A variable, a path or a file, such as a server takes for its TLS key: it opens nothing by itself. */
const isPlaceOfKey = /^["']?(?:\$|[./~])|\.(?:pem|key|p12|pfx|json|txt)["']?$/i

/** Options that start the server of a rerun, without what they seem to hand over as a secret. */
function startOf({ start, wait }: RunArguments): string {
  const shown = start
    ?.replaceAll(/(\w+)=('[^']*'|"[^"]*"|\S+)/g, (whole, name: string) =>
      isSecretName(name) ? `${name}=${labels.other}` : whole,
    )
    .replaceAll(/(--?[\w-]+\s+)(?!-)('[^']*'|"[^"]*"|\S+)/g, (whole, name: string, value: string) =>
      isSecretName(name) && !isPlaceOfKey.test(value) ? name + labels.other : whole,
    )
    // The password of a URL, if it is written there.
    .replaceAll(/(\w:\/\/[^\s:@/'"]*:)(?!\$)[^\s@/'"]+(?=@)/g, `$1${labels.other}`)
  return [
    ...(shown === undefined ? [] : [` --start ${shellWord(shown)}`]),
    ...(wait === undefined ? [] : [` --wait ${wait}`]),
  ].join('')
}
