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
export function newJob(world: World, applicationId: string, account: string): Job {
  const now = world.clock.now()
  const job: Job = {
    id: randomUUID(),
    account,
    applicationId,
    createdAt: now,
    updatedAt: now,
    status: 'in_progress',
    readings: 0,
  }
  world.store.jobs.set(job.id, job)
  return job
}

/** Starts the application's next job, which runs on its own until its time is over. */
export function startJob(world: World, application: Application): Job {
  const { broken, varied } = world.switches
  const job = newJob(world, application.id, application.account)
  application.job = job
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
  const timer = setTimeout(() => {
    world.timers.delete(timer)
    endJob(world, job, fails)
  }, world.pace[application.pace])
  world.timers.add(timer)
  return job
}

/** Whether the application has a job in progress (§8.3). */
export function isBusy(world: World, application: Application): boolean {
  const { broken } = world.switches
  const inProgress = application.job?.status === 'in_progress'
  if (broken('jobs.create/409-released')) return application.jobs > 0
  if (broken('jobs.create/409-released#slow') && application.pace === 'slow') return application.jobs > 0
  if (broken('jobs.create/409-per-application')) {
    return [...world.store.applications.values()].some((each) => each.job?.status === 'in_progress')
  }
  return inProgress
}
