import type { Interrupts } from '../run/interrupts.ts'

/** An interrupted run that has not ended by itself after this long is left behind, in ms. */
const graceMs = 1_000

/** The interrupts of one run among several: a signal ends the run, not the process. */
export interface RunInterrupts extends Interrupts {
  interrupt(): void
}

export function createRunInterrupts(): RunInterrupts {
  const told: (() => void)[] = []
  let came = false
  let overdue: () => void = () => undefined
  let timer: NodeJS.Timeout | undefined
  return {
    get interrupted() {
      return came
    },
    interrupt() {
      if (came) return
      came = true
      timer = setTimeout(() => overdue(), graceMs)
      for (const call of told) call()
    },
    onFirst(call) {
      told.push(call)
      if (came) call()
    },
    onOverdue(call) {
      overdue = call
    },
    restoreDefaultSignals: () => undefined,
    stop: () => clearTimeout(timer),
  }
}
