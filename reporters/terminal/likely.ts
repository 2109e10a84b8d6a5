import type { Colors } from 'picocolors/types'
import { count } from '../../harness/report/count.ts'
import type { Line } from './lines.ts'
import { terminalText } from '../escape/terminal.ts'
import type { LikelyCause } from '../view/likely-causes.ts'
import { wordsOf } from '../view/likely-words.ts'

/** What most failures have in common and what to change, a block each; nothing if nothing is known of that kind. */
export function likelyLines(causes: readonly LikelyCause[], failures: number, colors: Colors): Line[] {
  if (causes.length === 0) return []
  const width = Math.max(...causes.map(({ results }) => String(results.length).length))
  const lines = causes.flatMap((cause) => {
    const { change, what } = wordsOf(cause)
    const times = String(cause.results.length).padStart(width)
    const indent = ' '.repeat(width + 4)
    const [first] = cause.results
    const more = cause.results.length - 1
    const ids = `${first!.id}${more > 0 ? ` and ${more} more` : ''}`
    return [
      { lead: `  ${colors.bold(colors.red(times))}  `, width: indent.length, text: colors.bold(terminalText(what)) },
      `${indent}${terminalText(change)}`,
      `${indent}${colors.dim(terminalText(ids))}`,
    ]
  })
  return [colors.bold(`Likely causes of ${count(failures, 'failure')}`), ...lines, '']
}
