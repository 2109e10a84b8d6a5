import { plainReason, type Reason } from '../report/index.ts'

/** A check could not cause a state that it needs, for this reason. */
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
