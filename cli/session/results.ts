import type { Report, RequirementResult } from '../../harness/report/index.ts'
import { isLeftOutByOption, matchesId } from '../../harness/report/index.ts'
import type { RunArguments } from '../run/arguments.ts'
import { neededBy } from '../run/options.ts'

/** Differences from when these requirements were judged before. */
export type Changes = NonNullable<ReturnType<ReturnType<typeof createResults>['add']>>

/** Keeps what is known of each requirement from the runs so far. */
export function createResults() {
  /** The last result of each that passed or failed: one that could not be judged changes nothing. */
  const known = new Map<string, RequirementResult>()
  let order: readonly string[] = []
  const compared = (results: readonly RequirementResult[]) => {
    const before = (id: string) => known.get(id)?.outcome
    const idsOf = (fits: (result: RequirementResult) => boolean) =>
      results.filter(fits).map(({ id }) => id)
    return {
      newlyFailed: idsOf(({ id, outcome }) => outcome === 'failed' && before(id) !== 'failed'),
      newlyPassed: idsOf(({ id, outcome }) => outcome === 'passed' && before(id) === 'failed'),
      /** Failed before, and was not judged now. */
      lost: idsOf(({ id, outcome }) => outcome === 'not-exercised' && before(id) === 'failed'),
      stillFailed: idsOf(({ id, outcome }) => outcome === 'failed' && before(id) === 'failed')
        .length,
    }
  }
  return {
    /** Failed when it was last judged, in the order of the catalogue. */
    get failed() {
      return order
        .flatMap((id) => known.get(id) ?? [])
        .filter(({ outcome }) => outcome === 'failed')
    },
    /** Takes in a run; undefined if it was the first one. */
    add({ requirements }: Report) {
      const isFirst = known.size === 0
      const looked = requirements.filter((result) => !isLeftOutByOption(result))
      const changes = compared(looked)
      order = requirements.map(({ id }) => id)
      for (const result of looked) {
        if (result.outcome === 'passed' || result.outcome === 'failed') known.set(result.id, result)
      }
      return isFirst ? undefined : changes
    },
  }
}

/** Selection of a run of a session: what the command line selects, what failed, or these ids and patterns. */
export type Selection = 'all' | 'failed' | readonly string[]

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
    selection === 'failed'
      ? failed
      : failed.filter(({ id }) => selection.some((pattern) => matchesId(id, pattern)))
  const only = new Set([...(selection === 'failed' ? [] : selection), ...chosen.flatMap(neededBy)])
  const seed = chosen.flatMap(({ failures }) => failures).at(0)?.seed
  const { shard: _, ...rest } = options
  return { ...rest, only: [...only], skip: [], report: [], seed: seed ?? rest.seed }
}
