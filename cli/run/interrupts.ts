/** What a signal does to a run: the first ends it, a second ends the process at once. */
export interface Interrupts {
  /** Settles `graceMs` after the first signal: by then reports are to be written with what is known. */
  readonly overdue: Promise<void>
  readonly interrupted: boolean
  stop(): void
}

const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const

export function listenForInterrupts(graceMs: number, onFirst: () => void): Interrupts {
  let interrupted = false
  let overdue = (): void => undefined
  const settled = new Promise<void>((resolve) => (overdue = resolve))
  const onSignal = (signal: NodeJS.Signals): void => {
    if (interrupted) process.exit(exitCodes[signal as 'SIGINT'])
    interrupted = true
    setTimeout(overdue, graceMs)
    onFirst()
  }
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
  return {
    overdue: settled,
    get interrupted() {
      return interrupted
    },
    stop: () => void process.off('SIGINT', onSignal).off('SIGTERM', onSignal),
  }
}
