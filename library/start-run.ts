import type { RequirementId } from '../catalogue/catalogue.ts'
import { leftOut, type Report as ReportOf } from '../harness/report/index.ts'
import {
  checkTargetFile,
  leavesOf,
  loadTargetFile,
  resolveTarget,
} from '../harness/target/index.ts'
import { runOptionsOf } from '../harness/client/index.ts'
import { factsOf, startJudging } from '../harness/run/index.ts'
import { prepareRun, reportOf } from '../suites/judge.ts'
import {
  type ConformanceEvent,
  type ConformanceOptions,
  type Target,
  type TargetJson,
  checkOptions,
  rerunCommand,
} from './options.ts'

export type Report = ReportOf<RequirementId>

export interface RunRequest {
  readonly target: Target | TargetJson | string
  readonly options: ConformanceOptions
  /** The command that reproduces a failure, without ids and seed; default: made from target and options. */
  readonly rerun?: string | undefined
}

/** Judges the target, emits events, and returns the report; rejects with UserError for bad input. */
export async function startRun(
  request: RunRequest,
  tell: (event: ConformanceEvent) => void,
): Promise<Report> {
  const startedAt = new Date()
  const started = performance.now()
  const { options } = request
  checkOptions(options)
  const { baseUrl, key, limits, signal } = options
  const { file, dir } =
    typeof request.target === 'string'
      ? await loadTargetFile(request.target)
      : { file: checkTargetFile(request.target, 'the target'), dir: options.dir ?? process.cwd() }
  const { target, handler, warnings } = await resolveTarget(file, {
    dir,
    source: typeof request.target === 'string' ? request.target : 'the target',
    env: process.env,
    baseUrl,
    key,
    limits,
  })
  for (const warning of warnings) tell({ kind: 'warned', warning })
  const runOptions = runOptionsOf(
    options,
    request.rerun ?? rerunOf(request, handler ? undefined : target.baseUrl),
  )
  const run = prepareRun(target, runOptions, { handler })
  const end = (): void => run.client.life.end('interrupted', leftOut('interrupted'))
  if (signal?.aborted) end()
  signal?.addEventListener('abort', end, { once: true })
  try {
    const { done, results } = startJudging(run, tell)
    await done
    const durationMs = performance.now() - started
    const facts = factsOf(run)
    return reportOf({ target, options: runOptions, startedAt, durationMs, results, facts })
  } finally {
    signal?.removeEventListener('abort', end)
  }
}

/** What a command line without a target file can say of a target: its URL, and its key by the environment. */
const plain = ['/name', '/baseUrl', '/keys/full']

function rerunOf(request: RunRequest, resolvedUrl: string | undefined): string {
  const { options, target } = request
  const isPlain =
    resolvedUrl !== undefined &&
    leavesOf(target).every((leaf) => plain.some((one) => leaf.pointer.startsWith(one)))
  const nameless = isPlain ? undefined : '<a module that exports this target>'
  const file = typeof target === 'string' ? target : nameless
  const baseUrl = file === undefined || options.baseUrl !== undefined ? resolvedUrl : undefined
  return rerunCommand({ ...options, baseUrl, target: file })
}
