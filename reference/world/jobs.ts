import { randomUUID } from 'node:crypto'
import { preloadedIds } from './preloaded.ts'
import type { Application, Job } from './store.ts'
import { countUp, type World } from './world.ts'

/** Ends a job: its data or its error, and the time. */
export function endJob(world: World, job: Job, fails: boolean): void {
  job.completedAt = world.clock.now()
  job.updatedAt = job.completedAt
  if (fails) {
    job.status = 'failed'
    job.error = 'The model gave no answer'
  } else {
    job.status = 'completed'
    job.data = { title: 'About tea', suggestion: `Begin with the leaf (${job.id.slice(0, 8)}).` }
  }
}

/** A job in progress that occupies nothing yet and never ends by itself. */
export function newJob(world: World, of: Pick<Job, 'applicationId' | 'account' | 'inputs' | 'takes'>): Job {
  const now = world.clock.now()
  const job: Job = {
    ...of,
    id: randomUUID(),
    createdAt: now,
    updatedAt: now,
    status: 'in_progress',
    readings: 0,
    read: false,
  }
  world.store.jobs.set(job.id, job)
  return job
}

/** Starts the application's next job, which runs on its own until its time is over; `takes`: ms. */
export function startJob(
  world: World,
  application: Application,
  inputs: string,
  takes = world.pace[application.pace],
): Job {
  const { broken, varied } = world.switches
  const job = newJob(world, { applicationId: application.id, account: application.account, inputs, takes })
  application.job = job
  application.firstJob ??= job
  application.jobs += 1
  const fails =
    application.fails ||
    varied('jobs/born-failed') ||
    (varied('jobs/fail-now-and-then') && countUp(world, 'jobs') % 3 === 0)
  if (varied('jobs/born-completed') || varied('jobs/born-failed') || varied('jobs/instant')) {
    endJob(world, job, fails)
    return job
  }
  if (broken('jobs.retrieve/200-outcome') && application.id === preloadedIds.application) return job
  if (broken('jobs.retrieve/200-outcome#slow') && application.pace === 'slow') return job
  if (broken('jobs.retrieve/200-outcome#failing') && application.fails) return job
  const timer = setTimeout(() => {
    world.timers.delete(timer)
    endJob(world, job, fails)
  }, takes)
  world.timers.add(timer)
  return job
}
