import { catalogue } from '../../catalogue/catalogue.ts'
import { matchesId } from '../../harness/report/selection.ts'
import { didYouMean } from '../../harness/target/nearest.ts'
import { UserError } from '../../harness/user-error.ts'
import type { RunArguments } from './arguments.ts'

/** What commander cannot see: patterns without a requirement, and options that go together. Throws UserError. */
export function checkArguments(options: RunArguments): void {
  checkPatterns('--only', options.only)
  checkPatterns('--skip', options.skip)
  if (options.shard && options.seed === undefined) {
    throw new UserError('--shard: needs --seed, the same for all shards, so that their reports can be merged')
  }
  if (options.updateBaseline && options.baseline === undefined) {
    throw new UserError('--update-baseline: needs --baseline <file>, the file to write')
  }
}

function checkPatterns(option: string, patterns: readonly string[]): void {
  const ids = catalogue.map(({ id }) => id)
  for (const pattern of patterns) {
    if (ids.some((id) => matchesId(id, pattern))) continue
    throw new UserError(
      `${option} ${pattern}: no requirement has such an id${didYouMean(pattern, ids)} (conform list shows all)`,
    )
  }
}
