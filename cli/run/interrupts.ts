/** Signals of the process from its first moment: the first one ends a run, a second one the process at once. */
export interface Interrupts {
  /** Aborted by the first one. */
  readonly signal: AbortSignal
  /**
   * Sets what is done a second after the first signal, if the run has not ended by itself. Until this is said the process ends
   * soon: there is nothing to report.
   */
  onOverdue(call: () => void): void
  /** Gives signals their usual effect again, also one that came already: for commands that are no run. */
  restoreDefaultSignals(): void
  /** Stops listening, as the run is over. */
  stop(): void
}

/** Ends at the first signal that asks the process to end: for what goes on until then. */
export function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.once(signal, () => resolve())
  })
}

/** An interrupted run that has not ended by itself after this long is left behind, in ms. */
const graceMs = 1_000

/** The interrupts of one run among several: a signal ends the run, not the process. */
export function createRunInterrupts() {
  const first = new AbortController()
  let overdue: () => void = () => undefined
  let timer: NodeJS.Timeout | undefined
  return {
    signal: first.signal,
    interrupt() {
      timer ??= setTimeout(() => overdue(), graceMs)
      first.abort()
    },
    onOverdue(call: () => void) {
      overdue = call
    },
    restoreDefaultSignals: () => undefined,
    stop: () => clearTimeout(timer),
  } satisfies Interrupts & { interrupt(): void }
}
