import type { Colors } from 'picocolors/types'
import { conditionOf } from '../../catalogue/requirement.ts'
import { count, type Counts } from '../../harness/report/index.ts'
import { terminalText } from '../../reporters/escape.ts'
import { tones } from '../../reporters/terminal.ts'
import { laidOut, type Line, paints } from '../../reporters/terminal/lines.ts'
import { groupBy } from '../../harness/group-by.ts'
import { total } from '../../reporters/view/groups.ts'
import { verdictWords } from '../../reporters/view/standing.ts'
import { firstOf, outcomes } from '../../reporters/view/writing.ts'
import { type ChangeGroup, type Changes, type Column, columnName } from './comparison.ts'
import { type Comparison, countsIn, differingRows, marks, notableRows } from './comparison.ts'
import { operationsOf, type Row, suiteNote } from './comparison.ts'

const MOST_OPERATIONS = 4
const MOST_IDS = 2
const MOST_CAUSES = 3
const MOST_WHOLE = 2
const MOST_GROUPS = 8
const BAR = 24

/** The comparison for a terminal of that many columns, on about one screen: what changed and the trend; or where targets differ. */
export function renderTable(
  comparison: Comparison,
  changes: Changes,
  colors: Colors,
  width = Infinity,
): string {
  const same = comparison.rows.length - differingRows(comparison).length
  const note = suiteNote(comparison)
  const lines: Line[] = [
    ...columnLines(comparison, colors),
    ...(note === undefined ? [] : [terminalText(note)]),
    '',
    ...(comparison.of === 'time'
      ? [...changeLines(changes, colors), ...trendLines(comparison, colors)]
      : targetLines(comparison, colors)),
    `${same} of ${comparison.rows.length} requirements are the same in all`,
  ]
  return `${laidOut(lines, width).join('\n')}\n`
}

function columnLines(comparison: Comparison, colors: Colors): Line[] {
  const { of, mode, columns } = comparison
  const head = of === 'time' ? `${terminalText(columns[0]!.baseUrl)} over time` : 'Targets'
  return [
    colors.bold(`${head} (code names ${mode})`),
    ...columns.map((column, index): Line => ({
      lead: `${index + 1}  `,
      width: 3,
      text: `${terminalText(columnName(column, comparison))}  ${verdictText(column, colors)}: ${mustsText(column.summary.must)}`,
    })),
  ]
}

function mustsText(must: Counts): string {
  const missed = must.notExercised > 0 ? `, ${must.notExercised} not tested` : ''
  return `${must.failed} of ${count(total(must) - must.notApplicable, 'must')} failed${missed}`
}

function verdictText({ interrupted, verdict }: Column, colors: Colors): string {
  const { tone, word } = verdictWords[verdict]
  return `${colors.bold(colors[tones[tone]](word))}${interrupted ? ', interrupted' : ''}`
}

function changeLines({ causes, groups }: Changes, colors: Colors): Line[] {
  if (groups.length === 0) return ['Nothing changed, and nothing fails.', '']
  return [
    ...causes.slice(0, MOST_CAUSES).map(({ results, what }): Line => ({
      lead: '',
      width: 2,
      text: `likely cause of ${results.length} that broke: ${colors.bold(terminalText(what))}`,
    })),
    ...groups.flatMap((group, at) =>
      at < MOST_WHOLE || group.operations.length < MOST_WHOLE
        ? groupLines(group, colors)
        : [shortGroupLine(group, colors)],
    ),
    '',
  ]
}

function shortGroupLine({ operations, rows, title, tone }: ChangeGroup, colors: Colors): Line {
  const named = operations.map(([operation, own]) => `${operation} ${own.length}`)
  const list = terminalText(firstOf(named, MOST_OPERATIONS).join(', '))
  return `${colors.bold(colors[paints[tone]](`${title}: ${rows.length}`))}  ${list}`
}

function groupLines({ operations, rows, title, tone }: ChangeGroup, colors: Colors): Line[] {
  const shown = operations.slice(0, MOST_OPERATIONS)
  const width = Math.max(...shown.map(([operation]) => operation.length))
  const rest = operations.slice(MOST_OPERATIONS)
  const more = rest.reduce((sum, [, own]) => sum + own.length, 0)
  return [
    colors.bold(colors[paints[tone]](`${title}: ${rows.length}`)),
    ...shown.map(([operation, own]): Line => {
      const names = own.map(
        ({ id, level }) => conditionOf(id) + (level === 'should' ? ' (should)' : ''),
      )
      return {
        lead: `  ${terminalText(operation).padEnd(width)}  ${String(own.length).padStart(3)}  `,
        width: width + 9,
        text: terminalText(firstOf(names, MOST_IDS).join(', ')),
      }
    }),
    ...(more > 0
      ? [`  ${colors.dim(`and ${more} in ${count(rest.length, 'other operation')}`)}`]
      : []),
  ]
}

function trendLines(comparison: Comparison, colors: Colors): Line[] {
  return [
    colors.bold('Trend'),
    ...comparison.columns.map((_, at): Line => {
      const counts = countsIn(comparison.rows, at)
      return {
        lead: `  ${at + 1}  ${bar(counts, colors)}  `,
        width: BAR + 7,
        text: `${counts.passed} passed, ${counts.failed} failed, ${counts.notExercised} not tested`,
      }
    }),
    '',
  ]
}

function bar(counts: Counts, colors: Colors): string {
  const all = Math.max(total(counts), 1)
  let [seen, drawn] = [0, 0]
  const parts = Object.values(outcomes).map(({ member, tone }) => {
    seen += counts[member]
    const end = Math.round((seen / all) * BAR)
    const part = signs[member].repeat(end - drawn)
    drawn = end
    return colors[paints[tone]](part)
  })
  return parts.join('') + ' '.repeat(BAR - drawn)
}

const signs = { passed: '█', failed: '▒', notExercised: '░', notApplicable: '·' } as const

function targetLines(comparison: Comparison, colors: Colors): Line[] {
  const { columns } = comparison
  const operations = operationsOf(comparison).filter(([, rows]) =>
    rows.some((row) => row.outcomes.includes('failed')),
  )
  const width = Math.max(9, ...operations.map(([operation]) => operation.length))
  const head = columns.map((_, at) => String(at + 1).padStart(5)).join('')
  const failures = operations.map(([operation, rows]) => {
    const cells = columns.map((_, at) => {
      const { failed, passed } = countsIn(rows, at)
      if (failed > 0) return colors.red(`${failed} ✗`.padStart(5))
      return passed > 0 ? colors.green('    ✓') : colors.yellow('    ○')
    })
    return `  ${terminalText(operation).padEnd(width)}${cells.join('')}`
  })
  const differing = new Set(differingRows(comparison))
  const rows = notableRows(comparison).filter((row) => differing.has(row))
  const patterns = [...groupBy(rows, ({ outcomes: all }) => all.join()).values()]
  const shown = patterns.slice(0, MOST_GROUPS)
  const more = patterns.slice(MOST_GROUPS).flat().length
  return [
    ...(failures.length === 0
      ? []
      : [`  ${colors.dim(`${'failures'.padEnd(width)}${head}`)}`, ...failures, '']),
    ...shown.map((group) => groupLine(group, colors)),
    ...(more > 0
      ? [`  ${colors.dim(`and ${more} more that differ: --report html shows them`)}`]
      : []),
    '',
  ]
}

/** Requirements whose outcomes are alike in all reports: ` ✓  ✗  ○   118  pdf.parse/401-missing-credentials, and 117 more`. */
function groupLine(rows: readonly Row[], colors: Colors): Line {
  const cells = rows[0]!.outcomes.map((outcome) => {
    const kind = outcome ?? 'absent'
    return ` ${colors[paints[marks[kind].tone]](marks[kind].sign)}`
  })
  const ids = rows.map(({ id, level }) => id + (level === 'should' ? ' (should)' : ''))
  return {
    lead: `${cells.join(' ')}  ${String(rows.length).padStart(4)}  `,
    width: cells.length * 3 + 7,
    text: terminalText(firstOf(ids, 1).join(', ')),
  }
}
