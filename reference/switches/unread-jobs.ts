import type { Switches } from './switches.ts'

/**
 * Under these a job has to end by itself, since nobody reads it in progress: its id or its readings do not arrive, or look like
 * something else.
 */
const defects = [
  ...['jobs.create/202-created#answer-lost', 'jobs.create/202-created#no-id'],
  ...['jobs.create/202-retrievable', 'jobs.create/202-retrievable#late'],
  ...['jobs.retrieve/200-job#no-answer', 'jobs.retrieve/200-job#closed', 'jobs.retrieve/200-job#no-http'],
  ...['jobs.retrieve/200-job#status', 'jobs.retrieve/200-identity#one-id'],
  // The job of an application that was just created is read when all else is judged, and would block every other one until then.
  'jobs.create/409-per-application',
]

/** Whether some jobs are never read in progress. */
export function leavesJobsUnread({ broken, varied }: Switches): boolean {
  return varied('connection/closed-unannounced') || defects.some(broken)
}
