import type { Exchange, Purpose } from './exchange.ts'
import type { Probe } from './probe.ts'
import type { Run } from './run.ts'

/** What a suite adds to the engine: what it knows of an object that requests share, such as the jobs of an application. */
export interface RunHook {
  /**
   * Sends a probe when the object that it names allows it; undefined if this hook has nothing to say about the probe.
   * May throw `NotExercised`.
   */
  admit?(run: Run, probe: Probe, purpose: Purpose, send: () => Promise<Exchange>): Promise<Exchange> | undefined
  /** Sees every exchange that was answered, also those that were not admitted here. */
  observe?(run: Run, exchange: Exchange): void
  /** Waits for what the run began. Called at its end, but not if it was ended before. */
  finish?(run: Run): Promise<void>
  /** Ids of what has not ended, for the last lines of a report. */
  unfinished?(run: Run): readonly string[]
}
