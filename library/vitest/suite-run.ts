import { complain, warnOf } from '../output.ts'
import { randomUUID } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { join } from 'node:path'
import { inject } from 'vitest'
import type { RunFacts } from '../../harness/run/index.ts'
import type { Report, RequirementResult } from '../../harness/report/index.ts'
import type { ConformanceOptions, Target, TargetJson } from '../options.ts'
import { type ConformanceRun, followRun } from '../run-conformance.ts'
import type { RunRequest } from '../start-run.ts'
import { startReference } from '../reference.ts'
import { UserError } from '../../harness/user-error.ts'

interface Found extends RunRequest {
  readonly close?: () => Promise<void>
}

/** A target, the path of a target file, or a function that returns either when the tests begin. */
export type GivenTarget = Target | TargetJson | string | (() => MadeTarget | Promise<MadeTarget>)
type MadeTarget = Target | TargetJson | string

/**
 * Finds the target: the given one, else `CONFORM_TARGET` (a file) and `CONFORM_BASE_URL`, else the embedded reference
 * server. The name is not `BASE_URL`, which Vite sets in tests.
 */
async function findTarget(
  given: GivenTarget | undefined,
  options: ConformanceOptions,
): Promise<Found> {
  const target = typeof given === 'function' ? await given() : given
  if (target !== undefined) return { target, options }
  const { CONFORM_TARGET: file, CONFORM_BASE_URL: url } = process.env
  const baseUrl = options.baseUrl ?? (url === '' ? undefined : url)
  const reached = { options: { ...options, baseUrl } }
  if (file) return { target: file, ...reached }
  if (baseUrl !== undefined) return { target: {}, ...reached }
  const reference = await startReference()
  // `conform` without a target judges the embedded reference too.
  const rerun = 'conform'
  return { target: reference.target, options, rerun, close: () => reference.close() }
}

/** Throws UserError in `jsdom` or `happy-dom`, which replace Node's classes. */
function requireNode(): void {
  if (!('window' in globalThis)) return
  throw new UserError(
    "conformance needs vitest's environment node: write // @vitest-environment node at the top of the test file",
  )
}

export interface Selected {
  readonly ids: readonly string[]
  readonly all: boolean
}

export interface RunEnded extends Handover {
  readonly facts: RunFacts | undefined
}

export function createSuiteRun(target: GivenTarget | undefined, options: ConformanceOptions) {
  const controller = new AbortController()
  const results = createResults()
  let close: Found['close']
  let run: ConformanceRun | undefined
  let exchangeLog: string | undefined
  let facts: RunFacts | undefined
  let followed: Promise<void> | undefined
  const follow = async (events: ConformanceRun, planned: () => void): Promise<void> => {
    for await (const event of events) {
      if (event.kind === 'planned') planned()
      if (event.kind === 'judged') results.set(event.result)
      if (event.kind === 'warned') warnOf(event.warning)
      if (event.kind !== 'ended') continue
      facts = event.facts
      for (const hint of facts.hints) complain(hint)
    }
    // Requirements cut short by the end of the run are only in the report.
    for (const result of (await events.report).requirements) results.set(result)
  }
  return {
    async start(selected: Selected): Promise<void> {
      requireNode()
      const folder = inject('conformExchanges')
      exchangeLog = folder === undefined ? undefined : join(folder, `${randomUUID()}.ndjson`)
      const found = await findTarget(target, { ...options, ...seedOf(options) })
      close = found.close
      const only = selected.all ? found.options.only : selected.ids
      const whole = { ...found.options, only, exchangeLog, signal: controller.signal }
      const begun = followRun({ ...found, options: whole })
      run = begun
      await new Promise<void>((resolve, reject) => {
        followed = follow(begun, resolve).catch((error: unknown) => {
          results.fail(error)
          reject(error instanceof Error ? error : new Error(String(error)))
        })
      })
    },
    result: (id: string) => results.get(id),
    cancel: (): void => controller.abort(),
    /** Settles when everything is cleaned up and closed; undefined if the run never began. */
    async end(): Promise<RunEnded | undefined> {
      try {
        await followed
        const report = await run?.report.catch(() => undefined)
        if (!report) return undefined
        return { report, facts, exchangeLog, recordingProblem: facts?.recordingProblem }
      } finally {
        await close?.()
      }
    },
  }
}

function seedOf(options: ConformanceOptions): { seed?: number } {
  const { CONFORM_SEED: text = '' } = process.env
  return text === '' || options.seed !== undefined ? {} : { seed: Number(text) }
}

function createResults() {
  const known = new Map<string, RequirementResult>()
  const told = new EventEmitter().setMaxListeners(0)
  let failed: { readonly error: unknown } | undefined
  return {
    set(result: RequirementResult): void {
      if (known.has(result.id)) return
      known.set(result.id, result)
      told.emit(`judged ${result.id}`, result)
    },
    fail(error: unknown): void {
      failed = { error }
      if (told.listenerCount('error') > 0) told.emit('error', error)
    },
    async get(id: string): Promise<RequirementResult> {
      const result = known.get(id)
      if (result) return result
      if (failed) throw failed.error
      const [judged] = (await once(told, `judged ${id}`)) as [RequirementResult]
      return judged
    },
  }
}

/** Message of a test file to the reporter, one per run. */
export interface Handover {
  readonly report: Report
  /** Its exchanges, one line of JSON each; absent if no report needs them. */
  readonly exchangeLog?: string
  readonly recordingProblem?: string
}
