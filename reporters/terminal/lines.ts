import type { Colors } from 'picocolors/types'
import wrapAnsi from 'wrap-ansi'
import type { Counts, Report } from '../../harness/report/model.ts'
import { countOutcomes } from '../../harness/report/verdict.ts'
import { terminalText } from '../escape/terminal.ts'
import { byOperation, selectedResults } from '../view/groups.ts'

/**
 * A line of the terminal report. One with a `lead` goes on under its text if it is too long; `width` is how many columns the lead
 * takes. One that is `whole` is to be copied and never broken.
 */
export type Line =
  string | { readonly lead: string; readonly width: number; readonly text: string } | { readonly whole: string }

/** Narrower than that nothing is readable, whatever is done. */
const NARROWEST = 30
const HANGING = 2

/**
 * The lines as a terminal of that many columns shows them: broken between words, what follows indented. Infinity: as they are,
 * for logs and pipes.
 */
export function laidOut(lines: readonly Line[], columns: number): string[] {
  return lines.flatMap((line) => {
    if (typeof line !== 'string' && 'whole' in line) return [line.whole]
    const { lead, text, width } = typeof line === 'string' ? parted(line) : line
    if (columns === Infinity) return [lead + text]
    const room = Math.max(columns, NARROWEST) - width
    const [first = '', ...rest] = wrapAnsi(text, Math.max(room, NARROWEST / 2), { hard: true }).split('\n')
    return [lead + first, ...rest.map((part) => ' '.repeat(width) + part)]
  })
}

/** A line whose lead is its own indentation; one without any goes on a little indented, so that it is seen to go on. */
function parted(line: string): { lead: string; width: number; text: string } {
  const [lead] = /^ */.exec(line)!
  return { lead, width: lead.length === 0 ? HANGING : lead.length, text: line.slice(lead.length) }
}

/** So narrow that the whole fits into 60 columns. */
const columns = [
  ['passed', 'passed', 'green'],
  ['failed', 'failed', 'red'],
  ['notExercised', 'not tested', 'yellow'],
  ['notApplicable', 'n/a', 'dim'],
] as const satisfies readonly (readonly [keyof Counts, title: string, keyof Colors])[]

const levels = { must: 'must (required)', should: 'should (recommended)' } as const

/** How many requirements of each level had each outcome. */
export function summaryTable(summary: Report['summary'], colors: Colors): string[] {
  const row = (level: keyof typeof levels) => `  ${levels[level].padEnd(20)}${cells(summary[level], colors)}`
  // Blanks stand before the colour: those within it are lost when lines are laid out.
  return [`  ${' '.repeat(22)}${colors.dim(head.trimStart())}`, row('must'), row('should'), '']
}

const head = columns.map(([, title]) => title.padStart(title.length + 2)).join('')

function cells(counts: Counts, colors: Colors): string {
  const all = columns.map(([member, title, color]) => {
    const cell = String(counts[member]).padStart(title.length + 2)
    return counts[member] > 0 ? colors[color](cell) : colors.dim(cell)
  })
  return all.join('')
}

/** How many requirements of each operation had each outcome, if several were judged and not all passed. */
export function operationTable(report: Report, colors: Colors): string[] {
  const groups = byOperation({ requirements: selectedResults(report) })
  const rows = groups.map(({ operation, results }) => ({ operation, counts: countOutcomes(results, report.run.tpe) }))
  if (rows.length < 2 || rows.every(({ counts }) => counts.failed === 0)) return []
  const width = Math.max(...rows.map(({ operation }) => operation.length), 'operation'.length)
  const lines = rows.map(
    ({ counts, operation }) => `  ${terminalText(operation).padEnd(width)}${cells(counts, colors)}`,
  )
  return [`  ${colors.dim(`${'operation'.padEnd(width)}${head}`)}`, ...lines, '']
}
