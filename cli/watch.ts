import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { Command } from '@commander-js/extra-typings'
import type { Colors } from 'picocolors/types'
import {
  count,
  isLeftOutByOption,
  type Report,
  type RequirementResult,
} from '../harness/report/index.ts'
import type { Target } from '../harness/target/index.ts'
import { UserError } from '../harness/user-error.ts'
import { parseReportRequests, takesStdout } from '../library/output/files.ts'
import { colorsFor, tell } from '../library/output/say.ts'
import { terminalText } from '../reporters/escape.ts'
import type { Line } from '../reporters/terminal/lines.ts'
import { firstOf, outcomes } from '../reporters/view/writing.ts'
import { createRunInterrupts, exitProcess } from './guard.ts'
import { addArguments, checkArguments, type RunArguments } from './run/arguments.ts'
import { untilBack } from './run/find-target.ts'
import { oneRun } from './run/one-run.ts'
import { neededBy, withFailed } from './run/options.ts'
import { startForWatch } from './run/start-server.ts'

export function watchCommand() {
  return addArguments(new Command('watch'))
    .summary('rerun while you work')
    .description(
      'run, then rerun on a key press, when the target file changes, and when the target restarts',
    )
    .action(async (baseUrl, options) => {
      checkArguments(baseUrl, options)
      refuse(options)
      const server = await startForWatch(baseUrl, withFailed(baseUrl, options))
      try {
        await watch(baseUrl, server.options)
      } finally {
        await server.close()
      }
      // Quitting is not a failure.
      process.exitCode = 0
    })
}

/** Refuses options that make no sense for repeated runs. Throws UserError. */
function refuse({ dryRun, report, updateBaseline }: RunArguments): void {
  const isPiped = takesStdout(parseReportRequests(report))
  const once = dryRun
    ? '--dry-run'
    : updateBaseline
      ? '--update-baseline'
      : isPiped && '--report to stdout'
  if (once) throw new UserError(`${once} cannot be used with conform watch, which runs repeatedly`)
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new UserError('conform watch needs a terminal; run conform instead')
}

interface Asked {
  readonly what: 'all' | 'failed'
  /** For example `the target file changed`. */
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
    [...known.values()].filter(({ outcome }) => outcome === 'failed')
  let next = { what: 'all', why: 'the first run' } as Asked | 'quit' | undefined
  let last: Asked['what'] = 'all'
  let run: ReturnType<typeof createRunInterrupts> | undefined
  let wake = (): void => undefined
  let stopLooking = (): void => undefined
  let hasRun = false

  const say = (...lines: readonly Line[]): void =>
    tell(stdout, [...lines, ...(run ? [] : ['', keysLine(failed().length, colors)])])
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
      else if (key === 'f') say('Nothing failed in the last results.')
    }
  }

  async function runOne(asked: Asked): Promise<void> {
    stopLooking()
    last = asked.what
    run = createRunInterrupts()
    say('', colors.dim(headLine(asked)))
    let target: Target | undefined
    let files = options.target === undefined ? [] : [options.target]
    let isGone = false
    try {
      const given = last === 'all' ? options : forFailed(options, failed())
      const end = await oneRun(baseUrl, given, {
        interrupts: run,
        people: {
          isTTY: true,
          columns: stdout.columns,
          write: (text: string) => stdout.write(text),
        },
        onFound(found) {
          target = found.target
          files = Object.values(found.inputs()).filter((path) => path !== undefined)
        },
      })
      isGone = end.cause === 'unreachable'
      const isFirst = known.size === 0
      const changes = learn(known, end.report)
      if (!isFirst) tell(stdout, ['', ...changeLines(changes, colors)])
    } catch (error) {
      if (!(error instanceof UserError) || !hasRun) throw error
      tell(stdout, [`${colors.red('conform:')} ${terminalText(error.message)}`])
    } finally {
      run.stop()
      run = undefined
    }
    hasRun = true
    if (next !== undefined) return
    const over = new AbortController()
    const close = watchFiles(files, (path) => again(`${path} changed`))
    stopLooking = () => {
      close()
      over.abort()
    }
    const isOurs = baseUrl === undefined && options.target === undefined
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
  const seed = failed.flatMap(({ failures }) => failures).at(0)?.seed
  const only = [...new Set(failed.flatMap(neededBy))]
  return { ...options, only, skip: [], report: [], seed: seed ?? options.seed }
}

/**
 * Compares a run with earlier results and remembers its own.
 * @param known last conclusive result per requirement: an inconclusive one changes nothing
 */
export function learn(known: Map<string, RequirementResult>, { requirements }: Report) {
  const changed = (was: (outcome: string | undefined) => boolean, is: string): string[] =>
    requirements
      .filter(
        (result) =>
          !isLeftOutByOption(result) && result.outcome === is && was(known.get(result.id)?.outcome),
      )
      .map(({ id }) => id)
  const hadFailed = (outcome?: string): boolean => outcome === 'failed'
  const changes = {
    newlyFailed: changed((outcome) => outcome !== 'failed', 'failed'),
    newlyPassed: changed(hadFailed, 'passed'),
    /** Failed before, not judged now. */
    lost: changed(hadFailed, 'not-exercised'),
    stillFailed: changed(hadFailed, 'failed').length,
  }
  for (const result of requirements)
    if (result.outcome === 'passed' || result.outcome === 'failed') known.set(result.id, result)
  return changes
}

const MOST_SHOWN = 20

function changeLines(changes: ReturnType<typeof learn>, colors: Colors): Line[] {
  const { lost, newlyFailed, newlyPassed, stillFailed } = changes
  const kinds = [
    [`${outcomes.failed.sign} newly failed`, newlyFailed, colors.red],
    [`${outcomes.passed.sign} newly passed`, newlyPassed, colors.green],
    [`${outcomes['not-exercised'].sign} not tested now`, lost, colors.yellow],
  ] as const
  const lines = kinds.flatMap(([title, ids, paint]) =>
    firstOf(ids, MOST_SHOWN).map((id): Line => {
      return { lead: `  ${paint(title.padEnd(17))} `, width: 20, text: terminalText(id) }
    }),
  )
  const does = stillFailed === 1 ? 'does' : 'do'
  return [
    `Since the previous run:${lines.length === 0 ? ' nothing changed' : ''}`,
    ...lines,
    ...(stillFailed > 0
      ? [`  ${count(stillFailed, 'requirement')} failed before and still ${does}`]
      : []),
  ]
}

function keysLine(failed: number, { bold, dim }: Colors): string {
  const keys = [
    `${bold('a')} ${dim('run all')}`,
    ...(failed > 0 ? [`${bold('f')} ${dim(`run the ${failed} failed`)}`] : []),
    `${bold('q')} ${dim('quit')}`,
  ]
  return keys.join(dim('  ·  '))
}

function headLine({ what, why }: Asked): string {
  const time = new Date().toTimeString().slice(0, 8)
  return `──── ${time}  ${what === 'all' ? 'all' : 'the failed'}: ${terminalText(why)} ────`
}

/**
 * Poll interval for files, in ms. Editors write in several steps: a file is read once it is stable between two polls.
 */
const lookAtFilesMs = 150

/** Calls back when the content of a file changes, also if it was replaced by another file. */
export function watchFiles(paths: readonly string[], onChange: (path: string) => void): () => void {
  const files = paths.map((path) => ({
    ...{ path, stamp: stampOf(path), content: digest(path), isMoving: false },
  }))
  const timer = setInterval(() => {
    for (const file of files) {
      const stamp = stampOf(file.path)
      const isStill = stamp === file.stamp
      const content = isStill && file.isMoving ? digest(file.path) : undefined
      Object.assign(file, { stamp, isMoving: !isStill })
      // The file may be absent for a moment while it is written.
      if (content === undefined || content === file.content) continue
      file.content = content
      onChange(file.path)
    }
  }, lookAtFilesMs).unref()
  return () => clearInterval(timer)
}

function stampOf(path: string): string {
  const { ino, mtimeMs, size } = statSync(path, { throwIfNoEntry: false }) ?? {}
  return `${ino}:${mtimeMs}:${size}`
}

function digest(path: string): string | undefined {
  try {
    return createHash('sha256').update(readFileSync(path)).digest('hex')
  } catch {
    return undefined
  }
}
