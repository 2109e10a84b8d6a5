import { conflictStory } from './conflict-story.ts'
import { lifecycleOf } from './lifecycle.ts'
import type { Exchange } from '../../harness/engine/exchange.ts'
import { isPlanned, type Run } from '../../harness/engine/run.ts'
import { jobsOf } from './job-tracker.ts'

const conflicts = [
  'jobs.create/409-job-in-progress',
  'jobs.create/409-released',
  'jobs.create/409-per-application',
  'jobs.create/409-atomic',
] as const
const failing = 'jobs.retrieve/200-failed'

/** Waits for whatever else in this run creates jobs and shows them in other states. */
export async function seeAllStates(run: Run): Promise<void> {
  if (conflicts.some((id) => isPlanned(run, id))) await conflictStory(run).catch(() => undefined)
  const { failingApplication } = run.target.resources
  if (failingApplication && isPlanned(run, failing)) {
    await lifecycleOf(run, 'failingApplication', failingApplication, failing).catch(() => undefined)
  }
}

/** Granted creations of those jobs, whose requests had no fault. */
export function otherCreations(run: Run): readonly Exchange[] {
  const valid: readonly (string | null)[] = [...conflicts, failing]
  return jobsOf(run).creations.filter(({ purpose }) => valid.includes(purpose.requirement))
}
