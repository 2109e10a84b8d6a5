import { readFileSync } from 'node:fs'
import { Command } from '@commander-js/extra-typings'
import { isLeftOutByOption, type Report, type RequirementResult } from '../harness/report/index.ts'
import { inProcessUrl } from '../harness/recording/recorder.ts'
import type { Target } from '../harness/target/index.ts'
import { UserError } from '../harness/user-error.ts'
import { complain, parseReportRequests, colorsFor, tell } from '../library/output.ts'
import { terminalText } from '../reporters/text.ts'
import type { Line } from '../reporters/terminal.ts'
import { changes } from './compare.ts'
import { createRunInterrupts, exitProcess } from './guard.ts'
import {
  addArguments,
  checkArguments,
  isEmbedded,
  type RunArguments,
  neededBy,
} from './run/arguments.ts'
import { untilBack } from './run/start-server.ts'
import { oneRun } from './run/one-run.ts'

export function command() {
  const watching = addArguments(new Command('watch'))
  for (const option of watching.options)
    if (['--dry-run', '--update-baseline'].includes(option.flags)) option.hideHelp()
  return watching
    .description(
      'run, then rerun on a key press, when the target file changes, and when the target restarts',
    )
    .action(async (baseUrl, given) => {
      const options = checkArguments(baseUrl, given)
      refuse(options)
      await watch(baseUrl, options)
      // Quitting is not a failure.
      process.exitCode = 0
    })
}

/** Throws UserError for what makes no sense in repeated runs. */
function refuse(options: RunArguments): void {
  const isToStdout = parseReportRequests(options.report).some((one) => one.path === '-')
  if (options.dryRun || options.updateBaseline || isToStdout)
    throw new UserError(
      'conform watch runs repeatedly: leave out --dry-run, --update-baseline and reports to stdout',
    )
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new UserError('conform watch needs a terminal; run conform instead')
}

interface Asked {
  readonly what: 'all' | 'failed'
  readonly why: string
}

/**
 * Runs until the user quits; automatic runs repeat the last selection. Throws UserError if the first run cannot begin.
 */
async function watch(baseUrl: string | undefined, options: RunArguments): Promise<void> {
  const { stdin, stdout } = process
  const colors = colorsFor(stdout)
  const known = new Map<string, RequirementResult>()
  const failed = (): RequirementResult[] =>
    [...known.values()].filter((one) => one.outcome === 'failed')
  let next = { what: 'all', why: 'the first run' } as Asked | 'quit' | undefined
  let last: Asked['what'] = 'all'
  let run: ReturnType<typeof createRunInterrupts> | undefined
  let wake = (): void => undefined
  let stopLooking = (): void => undefined
  let hasRun = false

  const say = (...lines: readonly Line[]): void =>
    tell(stdout, [...lines, ...(run ? [] : ['', colors.dim(keysLine(failed().length))])])
  const ask = (asked: Asked | 'quit'): void => {
    if (next !== 'quit') next = asked
    run?.interrupt()
    wake()
  }
  const again = (why: string): void => ask({ what: failed().length === 0 ? 'all' : last, why })
  const quit = (): void => ask('quit')
  /** The first Ctrl-C ends the current run, the next one the program; at once if no run ends it in time. */
  const interrupt = (): void => {
    if (!run) return quit()
    if (run.signal.aborted) return exitProcess(130)
    run.interrupt()
    say('', 'Ending the run. Press Ctrl-C again to quit.')
  }
  const onKeys = (keys: string): void => {
    for (const key of keys) {
      if (key === '\x03') interrupt()
      else if (key === 'q' || (key === '\x04' && !run)) quit()
      else if (run) continue
      else if (key === 'a') ask({ what: 'all', why: 'asked for' })
      else if (key === 'f' && failed().length > 0) ask({ what: 'failed', why: 'asked for' })
    }
  }

  async function runOne(asked: Asked): Promise<void> {
    stopLooking()
    last = asked.what
    run = createRunInterrupts()
    say('', colors.dim(`──── ${last}: ${terminalText(asked.why)} ────`))
    let target: Target | undefined
    let isGone = false
    try {
      const given = last === 'all' ? options : forFailed(options, failed())
      const end = await oneRun(baseUrl, given, run)
      target = end.target
      isGone = end.cause === 'unreachable'
      const isFirst = known.size === 0
      const lines = changesSince(known, end.report)
      const since = `Since the previous run:${lines.length === 0 ? ' nothing changed' : ''}`
      if (!isFirst) tell(stdout, ['', since, ...lines.map((line) => `  ${terminalText(line)}`)])
    } catch (error) {
      if (!(error instanceof UserError) || !hasRun) throw error
      complain(error.message)
    } finally {
      run.stop()
      run = undefined
    }
    hasRun = true
    if (next !== undefined) return
    const over = new AbortController()
    const { start, target: file } = options
    const close = file === undefined ? undefined : onChange(file, () => again(`${file} changed`))
    stopLooking = () => {
      close?.()
      over.abort()
    }
    const isInProcess = target?.baseUrl === inProcessUrl
    const isOurs = start !== undefined || isEmbedded(baseUrl, options) || isInProcess
    const gone = 'The target does not answer. The run starts again when it does.'
    if (!isGone || isOurs) say()
    if (target && !isOurs)
      void untilBack(target, isGone, over.signal, () => say('', colors.yellow(gone))).then(
        (isBack) => isBack && again('the target answers again'),
      )
  }

  const restore = (): void => void stdin.off('data', onKeys).setRawMode(false).pause()
  process.once('exit', restore)
  stdin.setRawMode(true).setEncoding('utf8').on('data', onKeys).resume()
  process.on('SIGINT', interrupt)
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.once(signal, quit)
  try {
    for (;;) {
      const asked = next
      next = undefined
      if (asked === 'quit') return
      if (asked) await runOne(asked)
      else await new Promise<void>((resolve) => (wake = resolve))
    }
  } finally {
    stopLooking()
    process.off('exit', restore).off('SIGINT', interrupt)
    restore()
  }
}

/** Options to rerun what failed, with the same inputs and without reports. */
export function forFailed(
  options: RunArguments,
  failed: readonly RequirementResult[],
): RunArguments {
  const seed = failed.flatMap((one) => one.failures).at(0)?.seed
  const only = [...new Set(failed.flatMap(neededBy))]
  return { ...options, only, skip: [], report: [], seed: seed ?? options.seed }
}

/**
 * What changed since the last conclusive result of each requirement, and remembers those of this run.
 * @param known by id; an inconclusive result changes nothing
 */
export function changesSince(known: Map<string, RequirementResult>, report: Report): string[] {
  const rows = report.requirements
    .filter((result) => !isLeftOutByOption(result))
    .map(({ id, level, operation, outcome }) => ({
      ...{ id, level, operation },
      outcomes: [known.get(id)?.outcome ?? null, outcome],
    }))
  for (const result of report.requirements)
    if (result.outcome === 'passed' || result.outcome === 'failed') known.set(result.id, result)
  return changes(rows)
}

function keysLine(failed: number): string {
  const rerun = failed > 0 ? [`f run the ${failed} failed`] : []
  return ['a run all', ...rerun, 'q quit'].join('  ·  ')
}

/** Poll interval for the target file, in ms. */
const lookMs = 150

/** Calls back when the content of a file changes, also if another file replaced it. Returns how to stop that. */
export function onChange(path: string, call: () => void): () => void {
  let known = contentOf(path)
  let last = known
  const timer = setInterval(() => {
    const content = contentOf(path)
    // Editors write in several steps, and the file may be absent for a moment: a text counts once it was read twice.
    const isStill = content !== undefined && content === last
    last = content
    if (!isStill || content === known) return
    known = content
    call()
  }, lookMs).unref()
  return () => clearInterval(timer)
}

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return undefined
  }
}
