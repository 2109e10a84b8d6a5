import type { ConformanceEvent, ConformanceOptions, Target, TargetJson } from './options.ts'
import type { Report, RunRequest } from './start-run.ts'

/** A run in progress: its events, to be read once, and its report. */
export interface ConformanceRun extends AsyncIterable<ConformanceEvent> {
  /**
   * Rejects with a `UserError` (one sentence) if an option or the target is wrong, or a key is missing. Reading the
   * events throws the same error.
   */
  readonly report: Promise<Report>
}

/**
 * Judges a target, without output, signal handlers or process exit. The run goes on whether its events are read or not.
 * @param target a target object, or the path of a target file
 */
export function runConformance(
  target: Target | TargetJson | string,
  options: ConformanceOptions = {},
): ConformanceRun {
  return followRun({ target, options })
}

export function followRun(request: RunRequest): ConformanceRun {
  const waiting: ConformanceEvent[] = []
  let isOver = false
  let wake = (): void => undefined
  // Loads the engine on demand: a target file imports only `defineTarget`.
  const report = import('./start-run.ts').then((one) =>
    one.startRun(request, (event) => {
      waiting.push(event)
      wake()
    }),
  )
  const end = (): void => {
    isOver = true
    wake()
  }
  // A caller who only reads events must not get an unhandled rejection.
  report.then(end, end)
  return {
    report,
    async *[Symbol.asyncIterator]() {
      for (;;) {
        for (let event = waiting.shift(); event; event = waiting.shift()) yield event
        if (isOver) return void (await report)
        await new Promise<void>((resolve) => (wake = resolve))
      }
    },
  }
}
