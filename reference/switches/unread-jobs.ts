import type { Switches } from './switches.ts'

/** ms after which a job ends that nobody read often enough. */
const usualMs = 30_000
/**
 * The same if the answer to a creation may be lost, so that nobody knows of the job: everyone waits for its end, and one that is
 * known is read at once.
 */
const lostAnswersMs = 3000

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

/** ms that a job waits at most to be read, from its creation on. */
export function unreadMsOf({ broken, varied }: Switches): number {
  if (defects.some(broken)) return 0
  return varied('connection/closed-unannounced') ? lostAnswersMs : usualMs
}
