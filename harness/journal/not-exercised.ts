import { plainReason, type Reason } from '../report/index.ts'

/** A state that a check needs cannot be brought about, for this reason. */
export class NotExercised extends Error {
  override readonly name: string = 'NotExercised'
  readonly reason: Reason
  constructor(reason: string | Reason) {
    const whole = plainReason(reason)
    super(whole.reason)
    this.reason = whole
  }
}

export class Throttled extends NotExercised {
  constructor(what: string) {
    super(`throttled: ${what}`)
  }
}
