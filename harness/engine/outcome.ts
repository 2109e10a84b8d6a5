import type { Failure } from '../report/model.ts'

/** A requirement that could not be judged: the reason, in words for the author of the target file. */
export class NotExercised extends Error {
  override readonly name: string = 'NotExercised'
}

/** Why a run ended before its time. */
export type EndCause = 'interrupted' | 'bail' | 'unreachable' | 'throttled' | 'redirect' | 'setup' | 'key'

/** The run is over: whatever was under way is dropped, what remains is not exercised. */
export class RunEnded extends NotExercised {
  override readonly name = 'RunEnded'
  override readonly cause: EndCause
  constructor(cause: EndCause, reason: string) {
    super(reason)
    this.cause = cause
  }
}

/** A requirement that the target does not keep, with its evidence: the failure, and more of the same kind. */
export class Failed extends Error {
  override readonly name = 'Failed'
  readonly failure: Failure
  readonly more: readonly Failure[]
  constructor(failure: Failure, more: readonly Failure[] = []) {
    super(failure.message)
    this.failure = failure
    this.more = more
  }
}
