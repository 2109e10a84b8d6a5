/**
 * Reports are written with what is known by then after an interrupt, in ms. The run is to end within 2 s on a busy machine
 * too, if ending what is under way and writing may take some hundred each.
 */
const graceMs = 1_000
/** The same before there is anything to report: loading what reports takes some hundred ms more. */
const graceBeforeMs = 500
const exitCodes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 }
const signals = Object.keys(exitCodes)

/**
 * Listens for SIGINT, SIGTERM and SIGHUP. Loaded before anything else: the command line takes up to some seconds to be compiled,
 * and a signal must not go unheard for so long.
 * @returns {import('../cli/run/interrupts.ts').Interrupts}
 */
export function listenForInterrupts() {
  let came
  let timer
  let overdue
  const told = []
  let isOver = false
  const onSignal = (signal) => {
    // The reports are written, and nothing is left to be ended but the process.
    if (isOver) process.exit()
    // A second signal waits for nothing.
    if (came !== undefined) process.exit(exitCodes[signal])
    came = signal
    timer = overdue === undefined ? setTimeout(endWithNothing, graceBeforeMs) : setTimeout(overdue, graceMs)
    for (const call of told) call()
  }
  for (const signal of signals) process.on(signal, onSignal)
  return {
    get interrupted() {
      return came !== undefined
    },
    onFirst(call) {
      told.push(call)
      if (came !== undefined) call()
    },
    onOverdue(call) {
      overdue = call
      if (came === undefined) return
      clearTimeout(timer)
      timer = setTimeout(call, graceMs)
    },
    restoreDefaultSignals() {
      clearTimeout(timer)
      for (const signal of signals) process.off(signal, onSignal)
      if (came !== undefined) process.kill(process.pid, came)
    },
    stop() {
      clearTimeout(timer)
      isOver = true
    },
  }
}

/** A report names its target: without one none can be written. */
function endWithNothing() {
  process.stderr.write('conform: interrupted before the target was read: nothing was judged, no report is written\n')
  process.exit(3)
}
