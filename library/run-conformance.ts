import { randomBytes, randomInt } from 'node:crypto'
import type { RunEvent } from '../harness/engine/events.ts'
import type { RunOptions } from '../harness/engine/run.ts'
import { leftOut } from '../harness/report/left-out.ts'
import type { Report, TpeMode } from '../harness/report/model.ts'
import { checkTargetFile } from '../harness/target/check.ts'
import { type LoadedTargetFile, loadTargetFile } from '../harness/target/load.ts'
import type { Limits, TargetFile } from '../harness/target/target-file.ts'
import { resolveTarget } from '../harness/target/resolve.ts'
import { reportOf } from '../cli/run/report-of.ts'
import { createEventQueue } from '../harness/engine/events.ts'
import { judgeTarget } from '../suites/judge.ts'

/** What may be said of a run; what is left out is as on the command line. */
export interface ConformanceOptions {
  /** Ends the run: the report says `interrupted`. */
  readonly signal?: AbortSignal
  /** Stands before the target's own `baseUrl`. */
  readonly baseUrl?: string
  /** Key with full rights; else `keys.full` of the target, else the environment variable `CONFORM_API_KEY`. */
  readonly key?: string
  /** Patterns of requirement ids to run; `*` is any characters. */
  readonly only?: readonly string[]
  /** Patterns of requirement ids to leave out, after `only`. */
  readonly skip?: readonly string[]
  /** Seed of the generated inputs, a 32-bit integer; drawn if not given, and in the report. */
  readonly seed?: number
  /** Cases of each generated requirement; default 25 for refusals, 5 for granted requests. */
  readonly runs?: number
  /** A failed `should` counts like a failed `must`. */
  readonly strict?: boolean
  /** Sends nothing that a conforming target would answer by creating or generating. */
  readonly readOnly?: boolean
  /** Which of the two verdicts decides; default `exact`. */
  readonly tpe?: TpeMode
  /** Stops at the first `must` that fails. */
  readonly bail?: boolean
  /** Accepts certificates that do not verify. */
  readonly insecure?: boolean
  /** Stand before the target's own limits. */
  readonly limits?: Partial<Limits>
  /** File that gets each exchange as a line of JSON, keys removed; without it none is kept beyond those of failures. */
  readonly exchangeLog?: string
}

/** A run under way: its events as they come, to be read once, and its report at the end. */
export interface ConformanceRun extends AsyncIterable<RunEvent> {
  /** Rejects if the target cannot be read or a key is missing, with one sentence that names the place. */
  readonly report: Promise<Report>
}

export const defaultRuns = { refusals: 25, granted: 5 }
const backoffMs = 250

/** A nonce that no other run has: in the names of what a run creates. */
export function newNonce(): string {
  return [...randomBytes(4)].map((byte) => (byte % 36).toString(36)).join('')
}

function runOptionsOf(options: ConformanceOptions): RunOptions {
  const { runs, exchangeLog } = options
  return {
    seed: options.seed ?? randomInt(0, 2 ** 31),
    refusalRuns: runs ?? defaultRuns.refusals,
    grantedRuns: runs ?? defaultRuns.granted,
    nonce: newNonce(),
    tpe: options.tpe ?? 'exact',
    strict: options.strict ?? false,
    readOnly: options.readOnly ?? false,
    bail: options.bail ?? false,
    insecure: options.insecure ?? false,
    only: options.only ?? [],
    skip: options.skip ?? [],
    shard: null,
    expected: [],
    rerun: 'conform',
    backoffMs,
    ...(exchangeLog === undefined ? {} : { exchangeLog }),
  }
}

async function loaded(target: TargetFile | string): Promise<LoadedTargetFile> {
  if (typeof target === 'string') return loadTargetFile(target)
  return { file: checkTargetFile(target, 'the target'), dir: process.cwd() }
}

/**
 * Judges a target: no output, no signal handler, no process exit.
 * @param target a target object, or the path of a target file
 */
export function runConformance(target: TargetFile | string, options: ConformanceOptions = {}): ConformanceRun {
  const queue = createEventQueue<RunEvent>()
  const judged = async (): Promise<Report> => {
    const startedAt = new Date()
    const started = performance.now()
    const { file, dir } = await loaded(target)
    const { baseUrl, key, limits, signal } = options
    const resolved = await resolveTarget(file, {
      dir,
      env: process.env,
      ...(baseUrl === undefined ? {} : { baseUrl }),
      ...(key === undefined ? {} : { key }),
      ...(limits === undefined ? {} : { limits }),
    })
    const run = runOptionsOf(options)
    const judging = judgeTarget(resolved.target, run, { readDynamic: (name) => resolved.dynamicKeys.read(name) })
    const end = (): void => judging.end('interrupted', leftOut('interrupted'))
    if (signal?.aborted) end()
    signal?.addEventListener('abort', end, { once: true })
    try {
      for await (const event of judging.events) queue.push(event)
      await judging.done
    } finally {
      signal?.removeEventListener('abort', end)
    }
    const durationMs = performance.now() - started
    const facts = judging.facts()
    return reportOf({ target: resolved.target, options: run, startedAt, durationMs, results: judging.results, facts })
  }
  const report = judged().finally(() => queue.close())
  // Whoever reads events alone has not asked for the report.
  report.catch(() => undefined)
  return { report, [Symbol.asyncIterator]: () => queue[Symbol.asyncIterator]() }
}
