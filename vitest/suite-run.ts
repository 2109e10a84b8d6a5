import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { inject } from 'vitest'
import type { RunFacts } from '../harness/engine/facts.ts'
import type { RequirementResult } from '../harness/report/model.ts'
import type { ConformanceOptions } from '../library/options.ts'
import { type ConformanceRun, followRun } from '../library/run-conformance.ts'
import type { RunRequest } from '../library/start-run.ts'
import { terminalText } from '../reporters/escape/terminal.ts'
import { findTarget, type Found } from './find-target.ts'
import type { Handover } from './handover.ts'
import { createResults } from './results.ts'

/** Ids of the tests that vitest is going to run. */
export interface Selected {
  readonly ids: readonly string[]
  /** True if no filter leaves any out. */
  readonly all: boolean
}

/** The run behind the tests of one `describeConformance`. */
export interface SuiteRun {
  /** Begins to judge what is selected; rejects if options or target are wrong. */
  start(selected: Selected): Promise<void>
  /** The result of a selected requirement, once it is judged. */
  result(id: string): Promise<RequirementResult>
  /** Ends the run: vitest was told to stop. */
  cancel(): void
  /** Settles when everything is cleaned up and closed; undefined if the run never began. */
  end(): Promise<Ended | undefined>
}

export interface Ended extends Handover {
  readonly facts: RunFacts | undefined
}

export function createSuiteRun(target: RunRequest['target'] | undefined, options: ConformanceOptions): SuiteRun {
  const controller = new AbortController()
  const results = createResults()
  let found: Found | undefined
  let run: ConformanceRun | undefined
  let exchangeLog: string | undefined
  let facts: RunFacts | undefined
  let told: Promise<void> | undefined
  const follow = async (events: ConformanceRun, planned: () => void): Promise<void> => {
    for await (const event of events) {
      if (event.kind === 'planned') planned()
      if (event.kind === 'judged') results.set(event.result)
      if (event.kind === 'warned') process.stderr.write(`conform: warning: ${event.warning}\n`)
      if (event.kind !== 'ended') continue
      facts = event.facts
      for (const hint of facts.hints) process.stderr.write(`conform: ${terminalText(hint)}\n`)
    }
    // Only the report has what the end of the run cut short.
    for (const result of (await events.report).requirements) results.set(result)
  }
  return {
    async start(selected) {
      exchangeLog = logFile()
      found = await findTarget(target, { ...options, ...seedOf(options) })
      const only = selected.all ? {} : { only: selected.ids }
      const log = exchangeLog === undefined ? {} : { exchangeLog }
      const whole = { ...found.options, ...only, ...log, signal: controller.signal }
      run = followRun({ ...found, options: whole })
      const begun = run
      await new Promise<void>((resolve, reject) => {
        told = follow(begun, resolve).catch((error: unknown) => {
          results.fail(error)
          reject(error instanceof Error ? error : new Error(String(error)))
        })
      })
    },
    result: (id) => results.get(id),
    cancel: () => controller.abort(),
    async end() {
      try {
        await told
        const report = await run?.report.catch(() => undefined)
        if (!report) return undefined
        const { recordingProblem } = facts ?? {}
        return {
          report,
          facts,
          ...(exchangeLog === undefined ? {} : { exchangeLog }),
          ...(recordingProblem === undefined ? {} : { recordingProblem }),
        }
      } finally {
        await found?.close()
      }
    },
  }
}

/** Exchanges are written down if the reporter wants them. */
function logFile(): string | undefined {
  const folder = inject('conformExchanges')
  return folder === undefined ? undefined : join(folder, `${randomUUID()}.ndjson`)
}

/** The seed of the environment, with which a failure names itself. */
function seedOf({ seed }: ConformanceOptions): { seed?: number } {
  const { CONFORM_SEED: text = '' } = process.env
  return text === '' || seed !== undefined ? {} : { seed: Number(text) }
}
