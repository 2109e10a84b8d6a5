import { catalogue } from '../../catalogue/catalogue.ts'
import { matchesId, patternProblem } from '../../harness/report/selection.ts'
import type { RequirementResult } from '../../harness/report/model.ts'
import { UserError } from '../../harness/user-error.ts'
import type { RunArguments } from '../run/arguments.ts'
import { neededBy } from '../run/failed-before.ts'
import { idMeant } from '../../harness/target/nearest.ts'

/** What a run of a session judges: what the command line selects, what failed, or these ids and patterns. */
export type Selection = 'all' | 'failed' | readonly string[]

/** Throws UserError if no requirement has such an id. */
export function selectionOf(pattern: string): Selection {
  const problem = patternProblem(pattern)
  if (problem !== undefined) throw new UserError(problem)
  if (catalogue.some(({ id }) => matchesId(id, pattern))) return [pattern]
  throw new UserError(`no requirement is called ${pattern}${idMeant(pattern)}`)
}

/**
 * The options of a run that judges a part again: what the failures of that part need, with the inputs that they had. No report
 * is written for a part.
 */
export function optionsFor(
  selection: Selection,
  options: RunArguments,
  failed: readonly RequirementResult[],
): RunArguments {
  if (selection === 'all') return options
  const chosen =
    selection === 'failed' ? failed : failed.filter(({ id }) => selection.some((pattern) => matchesId(id, pattern)))
  const only = new Set([...(selection === 'failed' ? [] : selection), ...chosen.flatMap(neededBy)])
  const seed = chosen.flatMap(({ failures }) => failures).at(0)?.seed
  const { shard: _, ...rest } = options
  return { ...rest, only: [...only], skip: [], report: [], ...(seed === undefined ? {} : { seed }) }
}
