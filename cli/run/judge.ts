import type { Colors } from 'picocolors/types'
import type { RequirementResult } from '../../spec/report.ts'
import { leftOut } from '../../spec/left-out.ts'
import type { RunOptions } from '../../harness/run/run.ts'
import { startEngine } from './engine.ts'
import type { FoundTarget } from './find-target.ts'
import { listenForInterrupts } from './interrupts.ts'
import { showProgress } from './progress.ts'
import type { RunRecord } from './report-of.ts'

/** Reports are written with what is known by then after an interrupt, in ms. */
const graceMs = 1_500

/** Judges a target in a worker, and gives what was learned: everything, or what was known when the run was interrupted. */
export async function judge(
  { target, readKey }: FoundTarget,
  options: RunOptions,
  stream: NodeJS.WriteStream,
  colors: Colors,
): Promise<RunRecord> {
  const startedAt = new Date()
  const started = performance.now()
  const results = new Map<string, RequirementResult>()
  const progress = showProgress(stream, colors)
  let end = (): void => undefined
  const interrupts = listenForInterrupts(graceMs, () => end())
  try {
    const channel = `conform-${process.pid}-${options.nonce}`
    const engine = await startEngine(
      { target, options, channel },
      {
        readKey,
        onResult(result) {
          results.set(result.id, result)
          progress.result(result)
        },
      },
    )
    end = () => engine.end('interrupted', leftOut('interrupted'))
    if (interrupts.interrupted) end()
    await Promise.race([engine.done, interrupts.overdue])
    const facts = engine.facts()
    const ended = { cause: 'interrupted', reason: leftOut('interrupted') } as const
    return {
      target,
      options,
      startedAt,
      durationMs: performance.now() - started,
      results,
      facts: facts && interrupts.interrupted && facts.ended === null ? { ...facts, ended } : facts,
    }
  } finally {
    progress.done()
    interrupts.stop()
  }
}
