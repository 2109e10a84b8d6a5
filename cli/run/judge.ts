import { setImmediate as afterEvents } from 'node:timers/promises'
import type { Colors } from 'picocolors/types'
import type { RunEvent, RunFacts } from '../../harness/engine/events.ts'
import type { Judging } from '../../harness/engine/judging.ts'
import type { RunOptions } from '../../harness/engine/run.ts'
import { leftOut } from '../../harness/report/reason.ts'
import type { RequirementResult } from '../../harness/report/model.ts'
import type { Interrupts } from './interrupts.ts'
import type { FoundTarget } from './find-target.ts'
import { noFacts, type RunRecord } from '../../harness/engine/run-report.ts'
import { showProgress } from '../output/progress.ts'

/** What was learned, and whether the run came to its end: if not, it has to be left behind. */
export interface Judged {
  readonly record: RunRecord
  readonly done: boolean
}

/** What a run writes to while it goes on. */
export interface JudgeSettings {
  readonly interrupts: Interrupts
  readonly stream: NodeJS.WriteStream
  readonly colors: Colors
  readonly onEvent?: (event: RunEvent) => void
}

/** Judges a target and gives what was learned: everything, or what was known when the run was interrupted. */
export async function judge(
  { target, handler, readKey }: FoundTarget,
  options: RunOptions,
  settings: JudgeSettings,
): Promise<Judged> {
  const { interrupts } = settings
  const startedAt = new Date()
  const started = performance.now()
  const overdue = new Promise<void>((resolve) => interrupts.onOverdue(resolve))
  // Loading the suites takes a moment: a signal that comes meanwhile is heard before anything is sent.
  const { judgeTarget } = await import('../../suites/judge.ts')
  await afterEvents()
  const judging = interrupts.interrupted
    ? undefined
    : judgeTarget(target, options, {
        readDynamic: (name) => readKey(name),
        ...(handler && { handler }),
      })
  if (judging) interrupts.onFirst(() => judging.end('interrupted', leftOut('interrupted')))
  const { done, problem } = judging ? await follow(judging, overdue, settings) : { done: true }
  const durationMs = performance.now() - started
  const results: ReadonlyMap<string, RequirementResult> = judging?.results ?? new Map()
  const facts = interruptedIf(interrupts.interrupted && judging === undefined, judging?.facts() ?? noFacts)
  return { record: { target, options, startedAt, durationMs, results, facts, ...problem }, done }
}

/** What is known of a target that was not there to be judged. */
export function neverJudged({ target }: FoundTarget, options: RunOptions, ended: RunFacts['ended']): Judged {
  const facts = { ...noFacts, ended }
  return {
    record: { target, options, startedAt: new Date(), durationMs: 0, results: new Map(), facts },
    done: true,
  }
}

interface Followed {
  readonly done: boolean
  readonly problem?: Pick<RunRecord, 'problem'>
}

/** Shows how the run goes on, until it ends or is overdue. */
async function follow(
  { events, done }: Judging,
  overdue: Promise<void>,
  { stream, colors, onEvent }: JudgeSettings,
): Promise<Followed> {
  const progress = await showProgress(stream, colors)
  const show = async (): Promise<void> => {
    for await (const event of events) {
      onEvent?.(event)
      if (event.kind === 'judged') progress.result(event.result)
    }
  }
  const ended = async (): Promise<Followed> => {
    try {
      await Promise.all([show(), done])
      return { done: true }
    } catch (error) {
      return { done: true, problem: { problem: error instanceof Error ? error.message : String(error) } }
    }
  }
  try {
    return await Promise.race([ended(), overdue.then(() => ({ done: false }))])
  } finally {
    progress.done()
  }
}

/** A run that was not begun does not know that it was interrupted. */
function interruptedIf(unbegun: boolean, facts: RunFacts): RunFacts {
  return unbegun ? { ...facts, ended: { cause: 'interrupted', reason: leftOut('interrupted') } } : facts
}
