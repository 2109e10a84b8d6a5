/** What a signal does to a run: the first ends it, a second ends the process at once. */
export interface Interrupts {
  /** Settles `graceMs` after the first signal: by then reports are to be written with what is known. */
  readonly overdue: Promise<void>
  readonly interrupted: boolean
  /** Calls back at the first signal; at once where it has come. */
  onFirst(call: () => void): void
  stop(): void
}

const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const

export function listenForInterrupts(graceMs: number): Interrupts {
  let interrupted = false
  let timer: NodeJS.Timeout | undefined
  let told = (): void => undefined
  let overdue = (): void => undefined
  const settled = new Promise<void>((resolve) => (overdue = resolve))
  const onSignal = (signal: NodeJS.Signals): void => {
    // eslint-disable-next-line no-restricted-properties -- a second signal waits for nothing
    if (interrupted) process.exit(exitCodes[signal as keyof typeof exitCodes])
    interrupted = true
    timer = setTimeout(overdue, graceMs)
    told()
  }
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
  return {
    overdue: settled,
    get interrupted() {
      return interrupted
    },
    onFirst(call) {
      told = call
      if (interrupted) call()
    },
    stop() {
      clearTimeout(timer)
      process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
    },
  }
}
