import type { Colors } from 'picocolors/types'
import type { Outcome } from '../../harness/report/model.ts'
import {
  type Change,
  type Comparison,
  type Row,
  changeOf,
  differingRows,
  suiteNote,
} from '../../harness/report/compare.ts'
import { terminalText } from '../../reporters/escape/terminal.ts'
import { countsText } from '../../reporters/view/counts.ts'

/** How a cell shows an outcome: never by colour alone. */
export const marks: Readonly<Record<Outcome | 'absent', { sign: string; word: string }>> = {
  passed: { sign: '✓', word: 'passed' },
  failed: { sign: '✗', word: 'failed' },
  'not-exercised': { sign: '–', word: 'not tested' },
  'not-applicable': { sign: '·', word: 'not applicable' },
  absent: { sign: ' ', word: 'not in this report' },
}

const tone = {
  passed: 'green',
  failed: 'red',
  'not-exercised': 'yellow',
  'not-applicable': 'dim',
  absent: 'dim',
} as const satisfies Record<Outcome | 'absent', keyof Colors>

/**
 * The comparison for a terminal: the columns numbered, what failed or is not the same in all, each requirement once and with what
 * became of it in the last report, and how much changed over time.
 */
export function renderTable(comparison: Comparison, colors: Colors): string {
  const differing = differingRows(comparison)
  const rows = comparison.rows.filter((row) => differing.includes(row) || row.outcomes.includes('failed'))
  const same = comparison.rows.length - differing.length
  const note = suiteNote(comparison)
  return [
    ...columnLines(comparison, colors),
    ...(note === undefined ? [] : [terminalText(note)]),
    '',
    ...(rows.length > 0
      ? [legend(comparison, colors), ...rows.map((row) => rowLine(row, comparison, colors)), '']
      : []),
    `${same} of ${comparison.rows.length} requirements are the same in all`,
    ...comparison.changes.map((change) => changeLine(change, comparison)),
  ]
    .map((line) => `${line}\n`)
    .join('')
}

function columnLines({ of, mode, columns }: Comparison, colors: Colors): string[] {
  const head = of === 'time' ? `${terminalText(columns[0]!.baseUrl)} over time` : 'Targets'
  return [
    colors.bold(`${head} (code names ${mode})`),
    ...columns.map(({ name, baseUrl, startedAt, verdict, summary, interrupted }, index) => {
      const what = of === 'time' ? startedAt : `${name}  ${baseUrl}`
      const end = interrupted ? ', interrupted' : ''
      return `${index + 1}  ${terminalText(what)}  ${verdict}${end}: must ${countsText(summary.must)}; should ${countsText(summary.should)}`
    }),
  ]
}

function legend({ columns }: Comparison, colors: Colors): string {
  const words = Object.values(marks).filter(({ sign }) => sign !== ' ')
  const numbers = columns.map((_, index) => `${index + 1}`.padStart(2)).join(' ')
  return `${numbers}   ${colors.dim(words.map(({ sign, word }) => `${sign} ${word}`).join('  '))}`
}

function rowLine(row: Row, { columns, of }: Comparison, colors: Colors): string {
  const { id, level, outcomes } = row
  const cells = outcomes.map((outcome) => {
    const kind = outcome ?? 'absent'
    return ` ${colors[tone[kind]](marks[kind].sign)}`
  })
  const change = of === 'time' ? changeOf(row, columns.length - 1) : null
  const what = `${terminalText(id)}${level === 'should' ? ' (should)' : ''}`
  return `${cells.join(' ')}   ${what}${change === null ? '' : `  ${colors.bold(change)}`}`
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
