// TypeScript augments a module only if the module is imported, also in declarations.
import 'vitest'
import { levels, terminalText } from '../../reporters/text.ts'
import { afterAll, beforeAll, describe, type RunnerTestCase, test, vi, inject } from 'vitest'
import { checkOptions, type ConformanceOptions, type Target, type TargetJson } from '../options.ts'
import { catalogue, type CatalogueRequirement } from '../../catalogue/catalogue.ts'
import { groupBy } from '../../harness/group-by.ts'
import {
  isMistake,
  isSelected,
  type RequirementResult,
  sections,
  type Report,
} from '../../harness/report/index.ts'
import { evidence } from '../../reporters/view/evidence.ts'
import { complain, warnOf } from '../output.ts'
import { randomUUID } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { join } from 'node:path'
import type { RunFacts } from '../../harness/run/index.ts'
import { type ConformanceRun, followRun } from '../run-conformance.ts'
import type { RunRequest } from '../start-run.ts'
import { startReference } from '../reference.ts'
import { UserError } from '../../harness/user-error.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder for the exchanges of each run; provided by the reporter if a report needs them. */
    conformExchanges: string | undefined
  }
  interface TaskMeta {
    conformance?: Handover[]
  }
}

const most = 3
const labelWidth = 10

/** A failure of the target, without a place in the test file, since vitest would show the same lines for each. */
class ConformanceError extends Error {
  override readonly name = 'ConformanceError'
  constructor(message: string) {
    super(message)
    this.stack = `ConformanceError: ${message}`
  }
}

function failureMessage(result: RequirementResult): string {
  const { failures, id, level, section, statement } = result
  const blocks = failures.slice(0, most).map((failure) => {
    const again = `CONFORM_SEED=${failure.seed} npx vitest run -t '${id} '`
    const lines = evidence(failure)
    const at = lines.findIndex((line) => line.label === 'again')
    return [...lines.slice(0, at), { label: 'in vitest', text: again }, ...lines.slice(at)]
      .map((line) => line.label.padEnd(labelWidth) + terminalText(line.text, Infinity))
      .join('\n')
  })
  const rest = failures.length > most ? [`and ${failures.length - most} more, in the reports`] : []
  return [`${statement} (${levels[level]}, ${sections(section)})`, ...blocks, ...rest].join('\n\n')
}

function skipNote(result: RequirementResult): string {
  if (result.reason !== undefined) return terminalText(result.reason)
  const [first] = result.failures
  return terminalText(
    `failed, but only recommended: expected ${first?.expected}, received ${first?.actual}`,
  )
}

export interface DescribeOptions extends Omit<ConformanceOptions, 'signal' | 'exchangeLog'> {
  /** Name of the group of tests; default `conformance`. */
  readonly name?: string
}

interface Group {
  readonly requirements: readonly CatalogueRequirement[]
  readonly tasks: readonly unknown[]
}

/**
 * Makes each requirement a test, grouped by operation, such as `jobs.create/202-created …`. Only those that vitest will
 * run are judged, with their controls, concurrently.
 * @param target a target object, the path of a target file, or a function that returns one of these when the tests
 * begin; default: `CONFORM_TARGET` (a file) or `CONFORM_BASE_URL`, then the
 * embedded reference server
 */
export function describeConformance(target?: GivenTarget, options: DescribeOptions = {}): void {
  const { name = 'conformance', ...rest } = options
  const { strict = false } = rest
  checkOptions(rest)
  const run = createSuiteRun(target, rest)
  const groups: Group[] = []
  let selected: Selected = { ids: [], all: true }
  let asked = 0
  const quiet = new Set<string>()
  // These tests do nothing but wait for results: vitest's concurrency limit would only show the results later.
  vi.setConfig({ maxConcurrency: Infinity })
  describe(name, { timeout: 0, retry: 0 }, () => {
    beforeAll(async () => {
      selected = selectedOf(groups)
      await run.start(selected).catch(mistake)
    }, 0)
    for (const requirements of byOperation(rest)) {
      const { tasks } = describe(
        requirements[0]!.operation,
        { concurrent: true, timeout: 0, retry: 0 },
        () => {
          for (const { id, statement } of requirements) {
            test(`${id} ${statement}`, async ({ signal, skip, task }) => {
              asked++
              signal.addEventListener('abort', () => run.cancel(), { once: true })
              const result = await run.result(id).catch(mistake)
              takeTimeOf(task, result)
              if (isFailure(result, strict)) throw new ConformanceError(failureMessage(result))
              quiet.add(id)
              if (result.outcome !== 'passed') skip(skipNote(result))
            })
          }
        },
      )
      groups.push({ requirements, tasks })
    }
    afterAll(async () => {
      // vitest was stopped, or bailed, before it asked for everything.
      if (asked < selected.ids.length) run.cancel()
      const ended = await run.end()
      if (!ended) return
      const { facts: _, ...handover } = ended
      const { file } = groups[0]!.tasks[0] as RunnerTestCase
      file.meta.conformance = [...(file.meta.conformance ?? []), handover]
      // A later request may show that an earlier one spoiled its connection, after the earlier test had passed or was
      // skipped.
      const late = ended.report.requirements.filter(
        (result) => quiet.has(result.id) && isFailure(result, strict),
      )
      const failedLate = late.length === 0 ? undefined : late.map(failureMessage).join('\n\n')
      const problem = whyNotJudged(ended, selected.all) ?? failedLate
      if (problem !== undefined) throw new ConformanceError(problem)
    }, 0)
  })
}

/** Reports the time of a test's own requests: the runner measures the wait as well. */
function takeTimeOf(runnerTestCase: Pick<RunnerTestCase, 'result'>, one: RequirementResult): void {
  if (runnerTestCase.result === undefined) return
  const shown = { get: () => one.durationMs, set: () => undefined }
  Object.defineProperty(runnerTestCase.result, 'duration', {
    ...shown,
    enumerable: true,
    configurable: true,
  })
}

function isFailure(result: RequirementResult, strict: boolean): boolean {
  return result.outcome === 'failed' && (result.level === 'must' || strict)
}

function mistake(error: unknown): never {
  throw new ConformanceError(error instanceof Error ? error.message : String(error))
}

function byOperation(options: ConformanceOptions): (readonly CatalogueRequirement[])[] {
  const { only = [], skip = [] } = options
  const selected = catalogue.filter((one) => isSelected(one.id, { only, skip }))
  const { envelope = [], ...others } = Object.fromEntries(groupBy(selected, (one) => one.operation))
  return [...Object.values(others), envelope].filter((requirements) => requirements.length > 0)
}

function selectedOf(groups: readonly Group[]): Selected {
  const tests = groups.flatMap((group) =>
    group.requirements.map((requirement, at) => ({
      id: requirement.id,
      mode: (group.tasks[at] as RunnerTestCase).mode,
    })),
  )
  const chosen = tests.filter((one) => one.mode === 'run' || one.mode === 'queued')
  return { ids: chosen.map((one) => one.id), all: chosen.length === tests.length }
}

/**
 * Why the run as a whole failed although its tests may all be skipped: the target was lost, the key refused, a bug in
 * the suite, nothing judged. Undefined if vitest was stopped, or if a filter chose a few tests that were all skipped.
 */
function whyNotJudged(runEnded: RunEnded, all: boolean): string | undefined {
  const { ended, keyRefused = false } = runEnded.facts ?? {}
  if (runEnded.report.exit.code !== 3 || runEnded.report.run.interrupted) return undefined
  const isOfTheRun = Boolean(ended) || keyRefused || runEnded.report.requirements.some(isMistake)
  return all || isOfTheRun ? runEnded.report.exit.because : undefined
}

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

interface Selected {
  readonly ids: readonly string[]
  readonly all: boolean
}

interface RunEnded extends Handover {
  readonly facts: RunFacts | undefined
}

function createSuiteRun(target: GivenTarget | undefined, options: ConformanceOptions) {
  const controller = new AbortController()
  const results = new Map<string, RequirementResult>()
  const judged = new EventEmitter().setMaxListeners(0)
  let close: Found['close']
  let run: ConformanceRun | undefined
  let exchangeLog: string | undefined
  let facts: RunFacts | undefined
  let followed: Promise<void> | undefined
  const note = (result: RequirementResult): void => {
    if (results.has(result.id)) return
    results.set(result.id, result)
    judged.emit(result.id)
  }
  const follow = async (events: ConformanceRun, planned: () => void): Promise<void> => {
    for await (const event of events) {
      if (event.kind === 'planned') planned()
      if (event.kind === 'judged') note(event.result)
      if (event.kind === 'warned') warnOf(event.warning)
      if (event.kind !== 'ended') continue
      facts = event.facts
      for (const hint of facts.hints) complain(hint)
    }
    // Requirements cut short by the end of the run are only in the report.
    for (const result of (await events.report).requirements) note(result)
  }
  return {
    async start(selected: Selected): Promise<void> {
      requireNode()
      const folder = inject('conformExchanges')
      exchangeLog = folder === undefined ? undefined : join(folder, `${randomUUID()}.ndjson`)
      const { CONFORM_SEED: seed } = process.env
      const found = await findTarget(target, { ...(seed && { seed: Number(seed) }), ...options })
      close = found.close
      const only = selected.all ? found.options.only : selected.ids
      const whole = { ...found.options, only, exchangeLog, signal: controller.signal }
      const begun = followRun({ ...found, options: whole })
      run = begun
      await new Promise<void>((resolve, reject) => {
        followed = follow(begun, resolve)
        followed.catch(reject)
      })
    },
    async result(id: string): Promise<RequirementResult> {
      if (!results.has(id)) await Promise.race([once(judged, id), followed])
      return results.get(id)!
    },
    cancel: (): void => controller.abort(),
    /** Settles when everything is cleaned up and closed; undefined if the run never began. */
    async end(): Promise<RunEnded | undefined> {
      try {
        await followed?.catch(() => undefined)
        const report = await run?.report.catch(() => undefined)
        if (!report) return undefined
        return { report, facts, exchangeLog, recordingProblem: facts?.recordingProblem }
      } finally {
        await close?.()
      }
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
