import { setImmediate as afterEvents } from 'node:timers/promises'
import type { Colors } from 'picocolors/types'
import type { RequirementResult } from '../../harness/report/model.ts'
import { leftOut } from '../../harness/report/left-out.ts'
import type { RunFacts } from '../../harness/engine/facts.ts'
import type { RunOptions } from '../../harness/engine/run.ts'
import type { Interrupts } from '../interrupts.ts'
import { startEngine } from './engine.ts'
import type { FoundTarget } from './find-target.ts'
import { showProgress } from './progress.ts'
import { noFacts, type RunRecord } from './report-of.ts'

/** What was learned, and whether the worker is done: where it is not, it has to be left behind. */
export interface Judged {
  readonly record: RunRecord
  readonly done: boolean
}

/** What a run writes to while it goes on. */
export interface JudgeSettings {
  /** Folder for whatever the runner keeps during the run. */
  readonly cacheDir: string
  readonly interrupts: Interrupts
  readonly stream: NodeJS.WriteStream
  readonly colors: Colors
}

/** Judges a target in a worker, and gives what was learned: everything, or what was known when the run was interrupted. */
export async function judge(
  { target, readKey }: FoundTarget,
  options: RunOptions,
  settings: JudgeSettings,
): Promise<Judged> {
  const { cacheDir, interrupts, stream, colors } = settings
  const startedAt = new Date()
  const started = performance.now()
  const results = new Map<string, RequirementResult>()
  const progress = showProgress(stream, colors)
  const interrupted = new Promise<void>((resolve) => interrupts.onFirst(resolve))
  const overdue = new Promise<void>((resolve) => interrupts.onOverdue(resolve))
  try {
    const channel = `conform-${process.pid}-${options.nonce}`
    const start = () =>
      startEngine(
        { target, options, channel },
        {
          cacheDir,
          readKey,
          isUnwanted: () => interrupts.interrupted,
          onResult(result) {
            results.set(result.id, result)
            progress.result(result)
          },
        },
      )
    // A signal that came while the command line was being loaded is heard before the runner is, which takes as long.
    await afterEvents()
    // Nothing was sent as long as it starts: there is nothing to wait for.
    const engine = interrupts.interrupted ? undefined : await Promise.race([start(), interrupted])
    if (engine) interrupts.onFirst(() => engine.end('interrupted', leftOut('interrupted')))
    let done = false
    const ended = engine?.done.then((problem) => {
      done = true
      return problem
    })
    const problem = await Promise.race([ended, overdue])
    const facts = interruptedIf(interrupts.interrupted && !done, engine?.facts() ?? noFacts)
    const durationMs = performance.now() - started
    return {
      record: {
        target,
        options,
        startedAt,
        durationMs,
        results,
        facts,
        ...(typeof problem === 'string' ? { problem } : {}),
      },
      done,
    }
  } finally {
    progress.done()
  }
}

/** The worker may be too busy to say that it was told to end. */
function interruptedIf(interrupted: boolean, facts: RunFacts): RunFacts {
  if (!interrupted || facts.ended !== null) return facts
  return { ...facts, ended: { cause: 'interrupted', reason: leftOut('interrupted') } }
}
