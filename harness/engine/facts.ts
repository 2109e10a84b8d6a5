import type { Created, NotServed } from '../report/model.ts'
import { hintsOf } from './hints.ts'
import type { EndCause } from './outcome.ts'
import type { Run } from './run.ts'

/** What a run learned besides the results. */
export interface RunFacts {
  readonly requests: number
  readonly throttled: number
  readonly created: readonly Created[]
  readonly notServed: readonly NotServed[]
  /** Every request with the full key that was answered was answered 401. */
  readonly keyRefused: boolean
  readonly ended: { readonly cause: EndCause; readonly reason: string } | null
  /** Ids of jobs that no reading showed ended. */
  readonly jobsInProgress: readonly string[]
  readonly recordingProblem: string | undefined
  /** Sentences that say what of the target or its file to look at, if they do not seem to be what was meant. */
  readonly hints: readonly string[]
}

export function factsOf(run: Run): RunFacts {
  const { recorder, throttle } = run.client
  const { ended } = run.life
  return {
    requests: recorder.count,
    throttled: throttle.count,
    created: run.objects.created.map((object) => ({ ...object, id: recorder.redact(object.id) })),
    notServed: run.hooks.flatMap((hook) => hook.notServed?.(run) ?? []),
    keyRefused: run.keys.isRefused,
    ended: ended ? { cause: ended.cause, reason: recorder.redact(ended.message) } : null,
    jobsInProgress: run.hooks.flatMap((hook) => hook.unfinished?.(run) ?? []).map((id) => recorder.redact(id)),
    recordingProblem: recorder.problem,
    hints: hintsOf(run).sentences.map((sentence) => recorder.redact(sentence)),
  }
}
