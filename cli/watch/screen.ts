import type { Colors } from 'picocolors/types'
import { terminalText } from '../../reporters/escape/terminal.ts'
import type { SessionFront, RunStarted } from '../session/session.ts'
import { count } from '../../harness/report/reason.ts'
import type { Changes } from '../session/results.ts'

const MOST_SHOWN = 20

/** The one line that names the keys. */
export function helpLine(failed: number, colors: Colors): string {
  const keys = [
    ['a', 'run all'],
    ['f', `run the ${failed > 0 ? `${failed} ` : ''}failed`],
    ['i', 'run one id'],
    ['q', 'quit'],
  ] as const
  return keys.map(([key, does]) => `${colors.bold(key)} ${colors.dim(does)}`).join(colors.dim('  ·  '))
}

/** The line above a run: when it began, what it judges, and why. */
function headLine({ selection, why }: RunStarted, colors: Colors, now = new Date()): string {
  const what = selection === 'all' ? 'all' : selection === 'failed' ? 'the failed' : selection.join(', ')
  const text = terminalText(`${now.toTimeString().slice(0, 8)}  ${what}: ${why}`)
  return colors.dim(`${'─'.repeat(4)} ${text} ${'─'.repeat(Math.max(4, 70 - text.length))}`)
}

/** Differences from the run before, a line each; that there are none, in one. */
function changeLines({ lost, newlyFailed, newlyPassed, stillFailed }: Changes, colors: Colors): string[] {
  const lines = [
    ...listed('newly failed', newlyFailed, colors.red),
    ...listed('newly passed', newlyPassed, colors.green),
    ...listed('not judged now', lost, colors.yellow),
  ]
  const still =
    stillFailed > 0
      ? [`  ${count(stillFailed, 'requirement')} failed before and still ${stillFailed === 1 ? 'does' : 'do'}`]
      : []
  if (lines.length === 0) return ['Since the run before: nothing changed', ...still]
  return ['Since the run before:', ...lines, ...still]
}

function listed(title: string, ids: readonly string[], color: (text: string) => string): string[] {
  const shown = ids.slice(0, MOST_SHOWN).map((id) => `  ${color(title.padEnd(15))} ${terminalText(id)}`)
  return ids.length > MOST_SHOWN ? [...shown, `  ${''.padEnd(15)} and ${ids.length - MOST_SHOWN} more`] : shown
}

/** Front of a session on a terminal. */
export interface Screen extends SessionFront {
  readonly hasShownReport: boolean
  /** Writes lines, and below them the keys if no run goes on. */
  say(...lines: readonly string[]): void
}

export interface ScreenParts {
  readonly stream: NodeJS.WriteStream
  readonly colors: Colors
  /** The line that names the keys, as things are now. */
  readonly help: () => string
  /** Something is about to be written. */
  readonly onWrite: () => void
}

export function createScreen({ stream, colors, help, onWrite }: ScreenParts): Screen {
  let isRunning = false
  let hasShownReport = false
  const write = (text: string): void => {
    onWrite()
    stream.write(text)
  }
  const say = (...lines: readonly string[]): void => {
    write([...lines, ...(isRunning ? [] : ['', help()]), ''].join('\n'))
  }
  return {
    people: { isTTY: stream.isTTY, write },
    get hasShownReport() {
      return hasShownReport
    },
    say,
    started(run) {
      isRunning = true
      say('', headLine(run, colors))
    },
    ended({ changes }) {
      isRunning = false
      hasShownReport = true
      say(...(changes ? ['', ...changeLines(changes, colors)] : []))
    },
    problem(sentence) {
      isRunning = false
      say(terminalText(`conform: ${sentence}`))
    },
    gone: () => say('', colors.yellow('The target takes no requests. The run starts again when it answers.')),
  }
}
