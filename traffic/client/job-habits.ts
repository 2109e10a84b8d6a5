import type { JobRemark } from './finding.ts'
import { atOnceMs, type Call } from './retries.ts'

interface SeenJob {
  /** The creation; undefined if it was not seen. */
  readonly created: Call | undefined
  status: string
  /** Readings in progress that another one followed, and the pauses between them in ms. */
  polls: number
  waitedMs: number
  last?: Call
  /** Somebody asked for it, whatever the answer was. */
  isAsked?: boolean
  /** Readings after the one that showed its end. */
  afterEnd: number
}

/** So many pauses tell how a client polls, and so many readings of an ended job are no chance. */
const leastPolls = 2
const leastAfterEnd = 3
/** Most jobs that are remembered. */
const mostKept = 10_000

const isOver = (status: string): boolean => status === 'completed' || status === 'failed'

/** Follows the jobs of a client: how it waits for them, and whether it reads them. @param tell of the request `at` */
export function createJobHabits(tell: (remark: JobRemark, at: Call) => void) {
  const jobs = new Map<string, SeenJob>()
  const remember = (id: string, job: SeenJob): SeenJob => {
    jobs.set(id, job)
    const [[oldest, forgotten] = []] = jobs
    if (jobs.size > mostKept && oldest !== undefined && forgotten) close(oldest, forgotten)
    return job
  }
  const newJob = (status: string, created?: Call): SeenJob => ({
    ...{ created, status },
    ...{ polls: 0, waitedMs: 0, afterEnd: 0 },
  })
  const judgePolls = ({ last, polls, waitedMs }: SeenJob): void => {
    if (last && polls >= leastPolls && waitedMs < polls * atOnceMs)
      tell({ rule: 'polling', readings: polls + 1 }, last)
  }
  const close = (id: string, job: SeenJob): void => {
    jobs.delete(id)
    if (!isOver(job.status)) judgePolls(job)
    if (job.created && job.isAsked !== true) tell({ rule: 'unread-job' }, job.created)
  }
  return {
    created(id: string, status: string, at: Call): void {
      remember(id, newJob(status, at))
    },
    /** A reading. @param status undefined if it was not granted */
    read(id: string, status: string | undefined, at: Call): void {
      const job = jobs.get(id) ?? remember(id, newJob('in_progress'))
      job.isAsked = true
      if (status === undefined) return
      if (isOver(job.status)) {
        if (job.last && ++job.afterEnd >= leastAfterEnd)
          tell({ rule: 'ended-job', status: job.status }, at)
      } else if (job.last) {
        job.polls++
        // One that was long by chance counts for two at most.
        job.waitedMs += Math.min(Math.max(0, at.sentAt - job.last.endedAt), 2 * atOnceMs)
      }
      const isEnd = !isOver(job.status) && isOver(status)
      job.status = status
      job.last = at
      if (isEnd) judgePolls(job)
    },
    /** Whether that job has not been seen to end. */
    isInProgress: (id: string): boolean => {
      const job = jobs.get(id)
      return job !== undefined && !isOver(job.status)
    },
    end(): void {
      for (const [id, job] of jobs) close(id, job)
    },
  }
}
