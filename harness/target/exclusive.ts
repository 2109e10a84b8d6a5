import type { Scenario, Target } from './model.ts'

/** True if the scenario needs the target to itself: it changes a state that other requests would meet. */
export function isExclusive({ before, after, repeat }: Scenario): boolean {
  return before.length > 0 || after.length > 0 || repeat !== undefined
}

/** Requirements whose scenario needs the target to itself: they run alone, after everything else. */
export function exclusiveIds({ scenarios }: Pick<Target, 'scenarios'>): ReadonlySet<string> {
  const alone = Object.entries(scenarios).filter(([, scenario]) => isExclusive(scenario))
  return new Set(alone.map(([id]) => id))
}
