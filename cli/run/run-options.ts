import type { BaselineEntry } from '../../harness/report/baseline.ts'
import { type RunOptions, rerunCommand, runOptionsOf } from '../../harness/engine/run.ts'
import { shellWord } from '../../harness/recording/curl.ts'
import { isSecretName } from '../../harness/target-file/map-keys.ts'
import { labels } from '../../harness/target-file/resolve-key.ts'
import type { RunArguments } from './arguments.ts'

/** Whether a report is asked for that shows every exchange: the others show those of failures, which the failures keep. */
export function keepsExchanges({ report }: RunArguments): boolean {
  return report.some((value) => /^(har|html)(=|$)/.test(value))
}

/**
 * What the command line decided, in the form that a run takes.
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

/** What a rerun starts, without what it seems to hand over as a secret. */
function startOf({ start, wait }: RunArguments): string {
  const shown = start?.replaceAll(/(\w+)=('[^']*'|"[^"]*"|\S+)/g, (whole, name: string) =>
    isSecretName(name) ? `${name}=${labels.other}` : whole,
  )
  return [
    ...(shown === undefined ? [] : [` --start ${shellWord(shown)}`]),
    ...(wait === undefined ? [] : [` --wait ${wait}`]),
  ].join('')
}
