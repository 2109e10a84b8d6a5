import type { Colors } from 'picocolors/types'
import type { Counts, Report } from '../../harness/report/model.ts'
import { countOutcomes } from '../../harness/report/verdict.ts'
import { terminalText } from '../escape/terminal.ts'
import { byOperation } from '../view/groups.ts'
import { selectedResults } from '../view/selected.ts'

type Columns = readonly (readonly [member: keyof Counts, title: string, color: 'green' | 'red' | 'yellow' | 'dim'])[]

const columns = [
  ['passed', 'passed', 'green'],
  ['failed', 'failed', 'red'],
  ['notExercised', 'not exercised', 'yellow'],
  ['notApplicable', 'not applicable', 'dim'],
] as const satisfies Columns

/** How many requirements of each level had each outcome. */
export function summaryTable(summary: Report['summary'], colors: Colors): string[] {
  const row = (level: 'must' | 'should') => `  ${level.padEnd(6)}${cells(columns, summary[level], colors).join('')}`
  return [colors.dim(`  ${' '.repeat(6)}${head(columns)}`), row('must'), row('should'), '']
}

/** Narrower, for it stands beside the names of operations: the whole fits into 60 columns. */
const narrow = [
  ['passed', 'passed', 'green'],
  ['failed', 'failed', 'red'],
  ['notExercised', 'not tested', 'yellow'],
  ['notApplicable', 'n/a', 'dim'],
] as const satisfies Columns

function head(of: Columns): string {
  return of.map(([, title]) => title.padStart(title.length + 2)).join('')
}

function cells(of: Columns, counts: Counts, colors: Colors): string[] {
  return of.map(([member, title, color]) => {
    const cell = String(counts[member]).padStart(title.length + 2)
    return counts[member] > 0 ? colors[color](cell) : colors.dim(cell)
  })
}

/** How many requirements of each operation had each outcome, if several were judged and not all passed. */
export function operationTable(report: Report, colors: Colors): string[] {
  const groups = byOperation({ requirements: selectedResults(report) })
  const rows = groups.map(({ operation, results }) => ({ operation, counts: countOutcomes(results, report.run.tpe) }))
  if (rows.length < 2 || rows.every(({ counts }) => counts.failed === 0)) return []
  const width = Math.max(...rows.map(({ operation }) => operation.length), 'operation'.length)
  const lines = rows.map(
    ({ counts, operation }) => `  ${terminalText(operation).padEnd(width)}${cells(narrow, counts, colors).join('')}`,
  )
  return [colors.dim(`  ${'operation'.padEnd(width)}${head(narrow)}`), ...lines, '']
}
