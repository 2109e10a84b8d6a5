import { program } from '../output/program.ts'
import { isRequirementId } from '../../catalogue/catalogue.ts'
import {
  isLeftOut,
  readReport,
  type RequirementResult,
  type BaselineEntry,
} from '../../harness/report/index.ts'
import { existsSync } from 'node:fs'
import { UserError } from '../../harness/user-error.ts'
import { plannedReports } from '../../library/output/files.ts'
import type { RunArguments } from './arguments.ts'
import { lastReportOf } from './last-report.ts'
import type { RunOptions } from '../../harness/client/index.ts'
import { runOptionsOf } from '../../harness/run/index.ts'
import { rerunCommand } from '../../harness/journal/index.ts'
import { isSecretName } from '../../harness/recording/index.ts'
import { labels } from '../../harness/target/index.ts'
import { shellWord } from '../../harness/shell-word.ts'

/**
 * Replaces `--failed` by `--only` for each id that failed, or was left out by an interrupt or `--bail`, in the given
 * report or the last run of this target. Throws UserError if there is none.
 */
export function withFailed(baseUrl: string | undefined, options: RunArguments): RunArguments {
  const { failed, only, report: outputs, target } = options
  if (failed === undefined) return options
  const isNamed = typeof failed === 'string' && failed !== ''
  const path = isNamed ? failed : lastReportOf({ baseUrl, target })
  if (!isNamed && !existsSync(path))
    throw new UserError(
      '--failed: no earlier run of this target was found; run it first, or give its JSON report',
    )
  const { report } = readReport(path)
  plannedReports(outputs, { 'the report of --failed': path })
  const ids = report.requirements
    .filter(
      (result) =>
        result.outcome === 'failed' ||
        isLeftOut(result, 'interrupted') ||
        isLeftOut(result, '--bail'),
    )
    .flatMap(neededBy)
  if (ids.length === 0)
    throw new UserError(
      `--failed: nothing failed in ${isNamed ? path : 'the last run of this target'}`,
    )
  return { ...options, only: [...new Set([...only, ...ids])] }
}

/** The ids that reproduce a failure: its own, and for passive requirements those whose responses showed it. */
export function neededBy(result: RequirementResult): string[] {
  return [
    result.id,
    ...result.failures.flatMap(({ rerunIds = [] }) => rerunIds.filter(isRequirementId)),
  ]
}

/**
 * Converts command line options to run options.
 * @param exchangeLog where exchanges are logged, if anywhere
 */
export function runOptions(
  options: RunArguments,
  baseUrl: string | undefined,
  expected: readonly BaselineEntry[],
  exchangeLog?: string,
): RunOptions {
  const again = rerunCommand({
    ...options,
    program: program(process),
    baseUrl,
    headers: options.header,
  })
  const chosenBy = options.failed === undefined ? undefined : ('--failed' as const)
  const endsTarget = options.start !== undefined
  const given = { ...options, expected, exchangeLog, chosenBy, endsTarget }
  return runOptionsOf(given, again + startOf(options))
}

/** A variable, a path or a file name, such as a server's TLS key: not a secret itself. */
const isPlaceOfKey = /^["']?(?:\$|[./~])|\.(?:pem|key|p12|pfx|json|txt)["']?$/i

function startOf(options: RunArguments): string {
  const shown = options.start
    ?.replaceAll(/(\w+)=('[^']*'|"[^"]*"|\S+)/g, (whole, name: string) =>
      isSecretName(name) ? `${name}=${labels.other}` : whole,
    )
    .replaceAll(/(--?[\w-]+\s+)(?!-)('[^']*'|"[^"]*"|\S+)/g, (whole, name: string, value: string) =>
      isSecretName(name) && !isPlaceOfKey.test(value) ? name + labels.other : whole,
    )
    // The password in a URL.
    .replaceAll(/(\w:\/\/[^\s:@/'"]*:)(?!\$)[^\s@/'"]+(?=@)/g, `$1${labels.other}`)
  return [
    ...(shown === undefined ? [] : [` --start ${shellWord(shown)}`]),
    ...(options.wait === undefined ? [] : [` --wait ${options.wait}`]),
  ].join('')
}
