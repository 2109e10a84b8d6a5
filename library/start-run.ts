import { randomBytes, randomInt } from 'node:crypto'
import { leftOut } from '../harness/report/reason.ts'
import type { Report } from '../harness/report/model.ts'
import { checkTargetFile } from '../harness/target/check.ts'
import { type LoadedTargetFile, loadTargetFile } from '../harness/target/load.ts'
import { resolveTarget } from '../harness/target/resolve.ts'
import { shellWord } from '../harness/recording/curl.ts'
import type { RunOptions } from '../harness/engine/run.ts'
import { reportOf } from '../harness/engine/run-report.ts'
import { beginJudging, prepareRun } from '../suites/judge.ts'
import { checkOptions, type ConformanceEvent, type ConformanceOptions } from './options.ts'
import type { Target, TargetJson } from './target.ts'

/** Cases of a generated refusal, and of a generated granted request. */
const defaultRuns = { refusals: 25, granted: 5 }
const backoffMs = 250

/** A run as a front asks for it. */
export interface RunRequest {
  readonly target: Target | TargetJson | string
  readonly options: ConformanceOptions
  /** The command that a failure is repeated with, ids and seed left out; made from target and options if not given. */
  readonly rerun?: string | undefined
}

/** Judges the target, telling each event as it comes, and gives the report; rejects with UserError for bad input. */
export async function startRun(request: RunRequest, tell: (event: ConformanceEvent) => void): Promise<Report> {
  const startedAt = new Date()
  const started = performance.now()
  const { options } = request
  checkOptions(options)
  const { file, dir } = await loaded(request.target, options.dir)
  const { baseUrl, key, limits, signal } = options
  const { target, dynamicKeys, warnings } = await resolveTarget(file, {
    dir,
    env: process.env,
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(key === undefined ? {} : { key }),
    ...(limits === undefined ? {} : { limits }),
  })
  for (const warning of warnings) tell({ kind: 'warned', warning })
  const runOptions = runOptionsOf(options, request.rerun ?? rerunCommand(request, target.baseUrl))
  const run = prepareRun(target, runOptions, { readDynamic: (name) => dynamicKeys.read(name) })
  const end = (): void => run.life.end('interrupted', leftOut('interrupted'))
  if (signal?.aborted) end()
  signal?.addEventListener('abort', end, { once: true })
  try {
    const { events, done, results, facts } = beginJudging(run)
    for await (const event of events) tell(event)
    await done
    const durationMs = performance.now() - started
    return reportOf({ target, options: runOptions, startedAt, durationMs, results, facts: facts() })
  } finally {
    signal?.removeEventListener('abort', end)
  }
}

async function loaded(target: RunRequest['target'], dir = process.cwd()): Promise<LoadedTargetFile> {
  if (typeof target === 'string') return loadTargetFile(target)
  return { file: checkTargetFile(target, 'the target'), dir }
}

function runOptionsOf(options: ConformanceOptions, rerun: string): RunOptions {
  const { runs, exchangeLog } = options
  return {
    seed: options.seed ?? randomInt(0, 2 ** 31),
    refusalRuns: runs ?? defaultRuns.refusals,
    grantedRuns: runs ?? defaultRuns.granted,
    nonce: [...randomBytes(4)].map((byte) => (byte % 36).toString(36)).join(''),
    tpe: options.tpe ?? 'exact',
    strict: options.strict ?? false,
    readOnly: options.readOnly ?? false,
    bail: options.bail ?? false,
    insecure: options.insecure ?? false,
    only: options.only ?? [],
    skip: options.skip ?? [],
    shard: null,
    expected: [],
    rerun,
    backoffMs,
    ...(exchangeLog === undefined ? {} : { exchangeLog }),
  }
}

/** For users who have the command line too; a target object has no file that could be named. */
function rerunCommand({ target, options }: RunRequest, baseUrl: string): string {
  const words = ['conform']
  if (typeof target !== 'string' || options.baseUrl !== undefined) words.push(baseUrl)
  if (typeof target === 'string') words.push('--target', target)
  if (options.runs !== undefined) words.push('--runs', String(options.runs))
  if (options.tpe === 'family') words.push('--tpe', 'family')
  if (options.readOnly) words.push('--read-only')
  if (options.insecure) words.push('--insecure')
  return words.map(shellWord).join(' ')
}
