import type { RunArguments } from './arguments.ts'
import type { BaselineEntry } from '../../harness/report/index.ts'
import { type RunOptions, rerunCommand, runOptionsOf } from '../../harness/engine/index.ts'
import { chosenByOf } from './chosen-ids.ts'
import { isSecretName } from '../../harness/recording/index.ts'
import { labels } from '../../harness/target-file/index.ts'
import { shellWord } from '../../harness/shell-word.ts'

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
  return [
    ...(shown === undefined ? [] : [` --start ${shellWord(shown)}`]),
    ...(wait === undefined ? [] : [` --wait ${wait}`]),
  ].join('')
}
