import { closest, distance } from 'fastest-levenshtein'
import { catalogue } from '../../catalogue/catalogue.ts'
import { matchesId } from '../../harness/report/selection.ts'
import { didYouMean } from '../../harness/target/nearest.ts'
import { UserError } from '../../harness/user-error.ts'
import type { RunArguments } from './arguments.ts'

/** A word that is this near to the name of a command was meant to be it. */
const slip = 2

/** What commander cannot see: patterns without a requirement, and options that go together. Throws UserError. */
export function checkArguments(baseUrl: string | undefined, options: RunArguments, commands: readonly string[]): void {
  const meant = commandMeant(baseUrl, commands)
  if (meant !== undefined) throw new UserError(`no such command, and no URL; did you mean conform ${meant}?`)
  checkPatterns('--only', options.only)
  checkPatterns('--skip', options.skip)
  if (options.shard && options.seed === undefined) {
    throw new UserError('--shard: needs --seed, the same for all shards, so that their reports can be merged')
  }
  if (options.updateBaseline && options.baseline === undefined) {
    throw new UserError('--update-baseline: needs --baseline <file>, the file to write')
  }
}

function commandMeant(word: string | undefined, commands: readonly string[]): string | undefined {
  if (word === undefined) return undefined
  const nearest = closest(word, commands)
  return distance(word, nearest) <= slip ? nearest : undefined
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
