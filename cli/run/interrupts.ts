/** What a signal does, from the first moment of the process: the first one ends a run, a second one the process at once. */
export interface Interrupts {
  readonly interrupted: boolean
  /** Calls back at the first signal; at once if it has come. */
  onFirst(call: () => void): void
  /**
   * What is done a second after the first signal, if the run has not ended by itself. Until this is said the process ends
   * soon: there is nothing to report.
   */
  onOverdue(call: () => void): void
  /** For whatever is no run: signals do what they do without us, also one that has come. */
  restoreDefaultSignals(): void
  /** The run is over. */
  stop(): void
}
