import type { Colors } from 'picocolors/types'
import { count } from '../../harness/report/count.ts'
import { terminalText } from '../../reporters/escape/terminal.ts'
import type { Changes } from '../session/results.ts'
import type { Begun } from '../session/session.ts'

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
export function headLine({ selection, why }: Begun, colors: Colors, now = new Date()): string {
  const what = selection === 'all' ? 'all' : selection === 'failed' ? 'the failed' : selection.join(', ')
  const text = terminalText(`${now.toTimeString().slice(0, 8)}  ${what}: ${why}`)
  return colors.dim(`${'─'.repeat(4)} ${text} ${'─'.repeat(Math.max(4, 70 - text.length))}`)
}

/** What differs from the run before, a line each; that nothing does, in one. */
export function changeLines({ lost, newlyFailed, newlyPassed, stillFailed }: Changes, colors: Colors): string[] {
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
