import type { Colors } from 'picocolors/types'
import type { Outcome } from '../../harness/report/model.ts'
import {
  type Change,
  type Column,
  type Comparison,
  type Row,
  changeOf,
  differingRows,
  notableRows,
  suiteNote,
} from '../../harness/report/compare.ts'
import { type Line, laidOut } from '../../reporters/terminal/lines.ts'
import { terminalText } from '../../reporters/escape/terminal.ts'
import { countsText } from '../../reporters/view/counts.ts'
import { type Mark, outcomes as outcomeMarks } from '../../reporters/view/marks.ts'
import { verdictWords } from '../../reporters/view/standing.ts'

/** How a cell shows an outcome: never by colour alone. */
export const marks: Readonly<Record<Outcome | 'absent', Mark>> = {
  ...outcomeMarks,
  absent: { sign: ' ', word: 'Not in this report', tone: 'w' },
}

const paints = {
  passed: 'green',
  failed: 'red',
  'not-exercised': 'yellow',
  'not-applicable': 'dim',
  absent: 'dim',
} as const satisfies Record<Outcome | 'absent', keyof Colors>
const verdictPaints = { good: 'green', warning: 'yellow', bad: 'red' } as const

/**
 * The comparison for a terminal of that many columns: the reports numbered, what newly fails, what fails and what is not the same
 * in all, each requirement once and with what became of it in the last report, and how much changed over time.
 */
export function renderTable(comparison: Comparison, colors: Colors, width = Infinity): string {
  const rows = notableRows(comparison)
  const same = comparison.rows.length - differingRows(comparison).length
  const note = suiteNote(comparison)
  const lines: Line[] = [
    ...columnLines(comparison, colors),
    ...(note === undefined ? [] : [terminalText(note)]),
    '',
    ...(rows.length > 0
      ? [legend(comparison, colors), ...rows.map((row) => rowLine(row, comparison, colors)), '']
      : []),
    `${same} of ${comparison.rows.length} requirements are the same in all`,
    ...comparison.changes.map((change) => changeLine(change, comparison)),
  ]
  return `${laidOut(lines, width).join('\n')}\n`
}

function columnLines(comparison: Comparison, colors: Colors): Line[] {
  const { of, mode, columns } = comparison
  const head = of === 'time' ? `${terminalText(columns[0]!.baseUrl)} over time` : 'Targets'
  return [
    colors.bold(`${head} (code names ${mode})`),
    ...columns.map((column, index): Line => {
      const { summary, verdict } = column
      const { tone, word } = verdictWords[verdict]
      const said = `${colors.bold(colors[verdictPaints[tone]](word))}${column.interrupted ? ', interrupted' : ''}`
      return {
        lead: `${index + 1}  `,
        width: 3,
        text: `${terminalText(columnName(column, comparison))}  ${said}: must ${countsText(summary.must)}; should ${countsText(summary.should)}`,
      }
    }),
  ]
}

/** What tells a report from the others. */
export function columnName({ baseUrl, name, startedAt }: Column, { of }: Comparison): string {
  return of === 'time' ? startedAt : `${name}  ${baseUrl}`
}

function legend({ columns }: Comparison, colors: Colors): Line {
  const words = Object.values(marks).filter(({ sign }) => sign !== ' ')
  const numbers = columns.map((_, index) => `${index + 1}`.padStart(2)).join(' ')
  const text = colors.dim(words.map(({ sign, word }) => `${sign} ${word.toLowerCase()}`).join('  '))
  return { lead: `${numbers}   `, width: numbers.length + 3, text }
}

function rowLine(row: Row, { columns, of }: Comparison, colors: Colors): Line {
  const { id, level, outcomes } = row
  const cells = outcomes.map((outcome) => {
    const kind = outcome ?? 'absent'
    return ` ${colors[paints[kind]](marks[kind].sign)}`
  })
  const change = of === 'time' ? changeOf(row, columns.length - 1) : null
  const what = `${terminalText(id)}${level === 'should' ? ' (should)' : ''}`
  const text = `${what}${change === null ? '' : `  ${colors.bold(change)}`}`
  return { lead: `${cells.join(' ')}   `, width: cells.length * 3 + 2, text }
}

function changeLine(change: Change, { columns }: Comparison): string {
  const kinds = [
    [change.newlyFailing, 'newly failing'],
    [change.newlyPassing, 'newly passing'],
    [change.newlyNotExercised, 'newly not tested'],
  ] as const
  const told = kinds.flatMap(([ids, word]) => (ids.length > 0 ? [`${ids.length} ${word}`] : []))
  const at = terminalText(columns[change.to]!.startedAt)
  return `${at}: ${told.length > 0 ? told.join(', ') : 'nothing changed'}`
}
