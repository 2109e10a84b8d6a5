import { catalogue } from '../../spec/catalogue.ts'
import { matchesId } from '../../spec/selection.ts'
import { didYouMean } from '../../harness/target/nearest.ts'
import { UserError } from '../../harness/user-error.ts'
import type { RunArguments } from './arguments.ts'

/** What commander cannot see: patterns without a requirement, and options that go together. Throws UserError. */
export function checkArguments(options: RunArguments): void {
  for (const [name, patterns] of [
    ['--only', options.only],
    ['--skip', options.skip],
  ] as const) {
    for (const pattern of patterns) {
      if (catalogue.some(({ id }) => matchesId(id, pattern))) continue
      const near = didYouMean(
        pattern,
        catalogue.map(({ id }) => id),
      )
      throw new UserError(`${name} ${pattern}: no requirement has such an id${near} (conform list shows all)`)
    }
  }
  if (options.shard && options.seed === undefined) {
    throw new UserError('--shard: needs --seed, the same for all shards, so that their reports can be merged')
  }
  if (options.updateBaseline && options.baseline === undefined) {
    throw new UserError('--update-baseline: needs --baseline <file>, the file to write')
  }
}
