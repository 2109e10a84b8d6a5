import type { Created } from '../report/model.ts'
import { isEnded } from '../../suites/jobs/job-book.ts'
import type { EndCause } from './outcome.ts'
import type { Run } from './run.ts'

/** What a run learned besides the results: sent to whoever writes the report. */
export interface RunFacts {
  readonly requests: number
  readonly throttled: number
  readonly created: readonly Created[]
  /** Every request with the full key that was answered was answered 401. */
  readonly keyRefused: boolean
  readonly ended: { readonly cause: EndCause; readonly reason: string } | null
  /** Jobs that no reading showed ended. */
  readonly jobsInProgress: readonly string[]
  readonly recordingProblem: string | undefined
}

export function factsOf(run: Run): RunFacts {
  const { sent, refused } = run.keyUse
  return {
    requests: run.recorder.count,
    throttled: run.throttle.count,
    created: run.created.map((object) => ({ ...object, id: run.redactor.text(object.id) })),
    keyRefused: !run.keys.hasFull || (sent > 0 && sent === refused),
    ended: run.ended ? { cause: run.ended.cause, reason: run.redactor.text(run.ended.message) } : null,
    jobsInProgress: run.jobs.all.filter((job) => !isEnded(job.readings.at(-1))).map(({ id }) => run.redactor.text(id)),
    recordingProblem: run.recorder.problem,
  }
}
