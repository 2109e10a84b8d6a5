import { endOf, readingsInProgress } from './clock.ts'
import type { Job } from './store.ts'
import type { World } from './world.ts'

/** Ends a job: its data or its error, and the time. `at`: ms since the epoch. */
export function endJob(job: Job, at: number): void {
  job.completedAt = at
  job.updatedAt = at
  if (job.fails) {
    job.status = 'failed'
    job.error = 'The model gave no answer'
  } else {
    job.status = 'completed'
    job.data = { title: 'About tea', suggestion: `Begin with the leaf (${job.id.slice(0, 8)}).` }
  }
}

/** Ends the jobs whose end has come. No timer does: nobody can tell before a request asks. */
export function endJobs({ running, clock, pace }: World): void {
  for (const job of running) {
    const at = endOf(job, pace.unread)
    if (clock.now() < at) continue
    running.delete(job)
    endJob(job, at)
  }
}

/** Notes that a job is read: one in progress ends no sooner than this has happened often enough. */
export function noteReading({ clock }: World, job: Job): void {
  job.read = true
  if (job.status !== 'in_progress') return
  job.readingsInProgress += 1
  if (job.readingsInProgress === readingsInProgress) job.seenAt ??= clock.now()
}
