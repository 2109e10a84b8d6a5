import type { Exchange } from '../../harness/engine/exchange.ts'
import { isPlanned, type Run } from '../../harness/engine/run.ts'
import { observeConflicts } from './observe-conflicts.ts'
import { jobsOf } from './job-tracker.ts'
import { failingLifecycle, mainLifecycle } from './lifecycle.ts'
import { noEffect } from './no-effect.ts'

const conflicts = [
  'jobs.create/409-job-in-progress',
  'jobs.create/409-released',
  'jobs.create/409-per-application',
  'jobs.create/409-atomic',
] as const
const failing = 'jobs.retrieve/200-failed'

/** Rows that are judged on all jobs of a run. */
const ofJobs = [
  ...['jobs.create/202-created', 'jobs.retrieve/200-job', 'jobs.retrieve/200-identity'],
  ...['jobs.retrieve/200-created-at', 'jobs.retrieve/200-outcome', 'jobs.retrieve/200-stable'],
] as const satisfies readonly string[]

/** Makes the jobs on which the last rows are judged, in every state that the target declares. */
export async function seeEveryJob(run: Run): Promise<void> {
  const { application, failingApplication } = run.target.resources
  const planned = (id: string): boolean => run.plan.get(id)?.run === true
  const wanted: (() => Promise<unknown>)[] = []
  if (application && !run.options.readOnly && ofJobs.some(planned)) wanted.push(() => mainLifecycle(run))
  if (conflicts.some((id) => isPlanned(run, id))) wanted.push(() => observeConflicts(run))
  if (isPlanned(run, 'jobs.create/4xx-no-effect')) wanted.push(() => noEffect(run))
  if (failingApplication && isPlanned(run, failing)) wanted.push(() => failingLifecycle(run))
  await Promise.allSettled(wanted.map((see) => see()))
}

/** Granted creations whose requests had no fault, besides the control. */
export function faultlessCreations(run: Run): readonly Exchange[] {
  const faultless: readonly (string | null)[] = [...conflicts, failing, 'jobs.create/4xx-no-effect']
  return jobsOf(run).creations.filter(({ purpose }) => faultless.includes(purpose.requirement))
}
