import type { RunEvent } from '../../harness/engine/events.ts'
import type { Report } from '../../harness/report/model.ts'
import type { Target } from '../../harness/target/model.ts'
import { UserError } from '../../harness/user-error.ts'
import type { Exchanges } from '../../reporters/view/evidence.ts'
import type { People } from '../output/finish.ts'
import type { RunArguments } from '../run/arguments.ts'
import type { FoundTarget } from '../run/find-target.ts'
import { oneRun, type RunEnd } from '../run/one-run.ts'
import { createResults, type Changes } from './results.ts'
import { createRunInterrupts, type RunInterrupts } from '../run/interrupts.ts'
import { optionsFor, type Selection } from './selection.ts'
import { type FileWatch, watchFiles } from './watch-files.ts'
import { watchTarget } from './watch-target.ts'

/** A run of a session, as it begins. */
export interface Begun {
  /** Why: `the target file changed`. */
  readonly why: string
  readonly selection: Selection
}

/** The same at its end. */
export interface Ended extends Begun {
  readonly report: Report
  /** Undefined after the first run. */
  readonly changes: Changes | undefined
}

/** What a session reports to what shows it. */
export interface SessionFront {
  /** Where the report of each run goes. */
  readonly people: People
  begun(run: Begun): void
  found?(found: FoundTarget): void
  event?(event: RunEvent): void
  /** What a run sent, before it is told to have ended. */
  sent?(exchanges: Exchanges): Promise<void>
  ended(run: Ended): void
  /** A run that could not begin: what is wrong, and what to do about it. */
  problem(sentence: string): void
  /** The target takes no requests; it is run again when it does. */
  gone(): void
}

/** Several runs of one target, one at a time. */
export interface Session {
  readonly isRunning: boolean
  readonly failed: number
  /** Runs that part; a run that goes on is ended first. */
  run(selection: Selection, why: string): void
  /** Ends the run that goes on. */
  interrupt(): void
  /** Settles when no run goes on. */
  idle(): Promise<void>
  /** Ends everything; settles when the run has ended. */
  close(): Promise<void>
}

/**
 * Runs what `conform` with these options runs, whenever it is told to, when a file that the target is read from changes, and
 * when the target comes back after a restart. What runs by itself is what ran last.
 */
export function createSession(baseUrl: string | undefined, options: RunArguments, front: SessionFront): Session {
  const results = createResults()
  let next: Begun | undefined
  let last: Selection = 'all'
  let running: Promise<void> | undefined
  let interrupts: RunInterrupts | undefined
  let files: FileWatch | undefined
  let watching = new AbortController()
  let isClosed = false

  const again = (why: string): void => run(last === 'failed' && results.failed.length === 0 ? 'all' : last, why)

  function run(selection: Selection, why: string): void {
    if (isClosed) return
    next = { selection, why }
    interrupts?.interrupt()
    running ??= runAll()
  }

  async function runAll(): Promise<void> {
    try {
      for (let begun = next; begun !== undefined && !isClosed; begun = next) {
        next = undefined
        await runOne(begun)
      }
    } finally {
      running = undefined
    }
  }

  async function runOne(begun: Begun): Promise<void> {
    watching.abort()
    last = begun.selection
    interrupts = createRunInterrupts()
    let target: Target | undefined
    front.begun(begun)
    try {
      const end = await oneRun(baseUrl, optionsFor(begun.selection, options, results.failed), {
        interrupts,
        people: front.people,
        onFound(found) {
          target = found.target
          watch(found.inputs.map(({ path }) => path))
          front.found?.(found)
        },
        onEvent: (event) => front.event?.(event),
        ...(front.sent && { onSent: (exchanges) => front.sent!(exchanges) }),
      })
      front.ended({ ...begun, report: end.report, changes: results.add(end.report) })
      if (target) lookAt(target, end)
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      if (!target && options.target !== undefined) watch([options.target])
      front.problem(error.message)
    } finally {
      interrupts.stop()
      interrupts = undefined
    }
  }

  function watch(paths: readonly string[]): void {
    files?.close()
    files = isClosed ? undefined : watchFiles(paths, (path) => again(`${path} changed`))
  }

  function lookAt(target: Target, { cause }: RunEnd): void {
    // The embedded reference ends with its run.
    if (isClosed || next || (baseUrl === undefined && options.target === undefined)) return
    watching = new AbortController()
    const { signal } = watching
    const onBack = (): void => again('the target answers again')
    void watchTarget(target, cause === 'unreachable', { signal, onGone: () => front.gone(), onBack })
  }

  return {
    get isRunning() {
      return running !== undefined
    },
    get failed() {
      return results.failed.length
    },
    run,
    interrupt: () => interrupts?.interrupt(),
    idle: async () => running,
    async close() {
      isClosed = true
      files?.close()
      watching.abort()
      interrupts?.interrupt()
      await running
    },
  }
}
