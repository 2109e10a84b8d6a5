import { createEventQueue } from '../harness/engine/index.ts'
import type { ConformanceEvent, ConformanceOptions, Target, TargetJson } from './options.ts'
import type { Report, RunRequest } from './start-run.ts'

/** A run under way: its events as they come, to be read once, and its report at the end. */
export interface ConformanceRun extends AsyncIterable<ConformanceEvent> {
  /**
   * Rejects with a `UserError` if an option or the target is wrong, or a key is missing: one sentence that names the place.
   * Reading the events throws the same.
   */
  readonly report: Promise<Report>
}

/**
 * Judges a target: no output, no signal handler, no process exit. The run goes on whether its events are read or not.
 * @param target a target object, or the path of a target file
 */
export function runConformance(
  target: Target | TargetJson | string,
  options: ConformanceOptions = {},
): ConformanceRun {
  return followRun({ target, options })
}

/** Judges for a front that says how a failure is repeated. */
export function followRun(request: RunRequest): ConformanceRun {
  const queue = createEventQueue<ConformanceEvent>()
  // Loads the engine when it is needed: a target file imports `defineTarget` alone.
  const report = import('./start-run.ts').then(({ startRun }) =>
    startRun(request, (event) => queue.push(event)),
  )
  report.then(
    () => queue.close(),
    // A caller who only reads events must not get an unhandled rejection.
    (error: unknown) => queue.close(error instanceof Error ? error : new Error(String(error))),
  )
  return { report, [Symbol.asyncIterator]: () => queue[Symbol.asyncIterator]() }
}
