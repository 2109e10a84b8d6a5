import type { Colors } from 'picocolors/types'
import type { Counts, Report } from '../../harness/report/model.ts'

const columns = [
  ['passed', 'passed', 'green'],
  ['failed', 'failed', 'red'],
  ['notExercised', 'not exercised', 'yellow'],
  ['notApplicable', 'not applicable', 'dim'],
] as const satisfies readonly (readonly [keyof Counts, string, keyof Colors])[]

/** How many requirements of each level had each outcome. */
export function summaryTable(summary: Report['summary'], colors: Colors): string[] {
  const head = columns.map(([, title]) => title.padStart(title.length + 2)).join('')
  const row = (level: 'must' | 'should') =>
    `  ${level.padEnd(6)}` +
    columns
      .map(([member, title, color]) => {
        const cell = String(summary[level][member]).padStart(title.length + 2)
        return summary[level][member] > 0 ? colors[color](cell) : colors.dim(cell)
      })
      .join('')
  return [colors.dim(`  ${' '.repeat(6)}${head}`), row('must'), row('should'), '']
}
