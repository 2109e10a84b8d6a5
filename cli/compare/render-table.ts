import type { Colors } from 'picocolors/types'
import type {
  Change,
  Column,
  Comparison,
  Counts,
  Outcome,
  Row,
} from '../../harness/report/index.ts'
import {
  changeOf,
  count,
  differingRows,
  notableRows,
  suiteNote,
} from '../../harness/report/index.ts'
import { htmlAttribute, htmlText } from '../../reporters/escape/html.ts'
import { terminalText } from '../../reporters/escape/terminal.ts'
import { shortened, visible } from '../../reporters/escape/visible.ts'
import { pageHead, style } from '../../reporters/html/assets.ts'
import { type Line, laidOut } from '../../reporters/terminal/lines.ts'
import { legend, tones as classes } from '../../reporters/html/overview.ts'
import { tones } from '../../reporters/terminal.ts'
import { countsText } from '../../reporters/view/groups.ts'
import { type Mark, outcomes } from '../../reporters/view/writing.ts'
import { verdictWords } from '../../reporters/view/standing.ts'

/** How a cell shows an outcome: never by colour alone. */
export const marks: Readonly<Record<Outcome | 'absent', Mark>> = {
  ...outcomes,
  absent: { sign: ' ', word: 'Not in this report', tone: 'w' },
}

const paints = {
  passed: 'green',
  failed: 'red',
  'not-exercised': 'yellow',
  'not-applicable': 'dim',
  absent: 'dim',
} as const satisfies Record<Outcome | 'absent', keyof Colors>
const known = Object.values(outcomes)

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
      ? [signLine(comparison, colors), ...rows.map((row) => rowLine(row, comparison, colors)), '']
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
      const verdictText = `${colors.bold(colors[tones[tone]](word))}${column.interrupted ? ', interrupted' : ''}`
      return {
        lead: `${index + 1}  `,
        width: 3,
        text: `${terminalText(columnName(column, comparison))}  ${verdictText}: must ${countsText(summary.must)}; should ${countsText(summary.should)}`,
      }
    }),
  ]
}

/** Name that tells a report from the others. */
function columnName({ baseUrl, name, startedAt }: Column, { of }: Comparison): string {
  return of === 'time' ? startedAt : `${name}  ${baseUrl}`
}

function signLine({ columns }: Comparison, colors: Colors): Line {
  const numbers = columns.map((_, index) => `${index + 1}`.padStart(2)).join(' ')
  const text = colors.dim(known.map(({ sign, word }) => `${sign} ${word.toLowerCase()}`).join('  '))
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
  const parts = kinds.flatMap(([ids, word]) => (ids.length > 0 ? [`${ids.length} ${word}`] : []))
  const at = terminalText(columns[change.to]!.startedAt)
  return `${at}: ${parts.length > 0 ? parts.join(', ') : 'nothing changed'}`
}

/** The comparison as one page in the style of the report, which needs nothing but itself: what fails and differs first. */
export function renderPage(comparison: Comparison): string {
  const { columns, mode, of, rows } = comparison
  const names = shortened(columns.map(({ name }) => visible(name)).join(', '), 120)
  const title = of === 'time' ? `${visible(columns[0]!.baseUrl)} over time` : names
  const notable = notableRows(comparison)
  const same = rows.length - differingRows(comparison).length
  const note = suiteNote(comparison)
  return `${pageHead(title, { style })}
<body><header class="top"><p class="kind">Conformance compared <span>Code names: ${mode}</span></p>
<h1>${htmlText(title)}</h1>
<p class="where">${count(rows.length, 'requirement')}, ${same} of them the same in all reports</p>
${note === undefined ? '' : `<ul class="notes"><li>${htmlText(note)}</li></ul>`}</header>
<main id="main"><section aria-labelledby="reports"><h2 id="reports">Reports</h2>
<div class="scroll" role="region" aria-label="Table of reports" tabindex="0"><table class="compared"><thead><tr><td></td>${['Report', 'Verdict', 'Must', 'Should', 'Started', 'Suite'].map((name) => `<th scope="col">${name}</th>`).join('')}</tr></thead><tbody>
${columns.map((column, index) => columnRow(column, index)).join('\n')}
</tbody></table></div></section>
<section aria-labelledby="notable"><h2 id="notable">Failures and differences <small>${notable.length}</small></h2>
${notable.length === 0 ? '<p>Nothing failed, and all reports are the same.</p>' : table(notable, comparison, 'Failures and differences')}</section>
<section aria-labelledby="all"><h2 id="all">Every requirement</h2>
<details class="fold"><summary>${count(rows.length, 'requirement')}</summary>${table(rows, comparison, 'Every requirement')}</details></section>
</main></body></html>
`
}

function columnRow(column: Column, index: number): string {
  const { baseUrl, interrupted, name, startedAt, summary, verdict, version } = column
  const { tone, word } = verdictWords[verdict]
  const cells = [
    `<td class="${classes[tone]}"><b>${word}</b>${interrupted ? ', interrupted' : ''}</td>`,
    ...[summary.must, summary.should].map((counts) => `<td class="tally">${tally(counts)}</td>`),
    ...[startedAt.slice(0, 16).replace('T', ' '), version].map(
      (text) => `<td>${htmlText(text)}</td>`,
    ),
  ]
  return `<tr><td>${index + 1}</td><th scope="row">${htmlText(name)}<span class="ask mono">${htmlText(baseUrl)}</span></th>${cells.join('')}</tr>`
}

function tally(counts: Counts): string {
  return known
    .filter(({ member }) => counts[member] > 0)
    .map(
      ({ member, sign, tone, word }) =>
        `<span class="${tone}"><i aria-hidden="true">${sign}</i>${counts[member]}<span class="sr"> ${word.toLowerCase()} </span></span>`,
    )
    .join('')
}

function table(rows: readonly Row[], comparison: Comparison, label: string): string {
  const { columns, of } = comparison
  const heads = columns.map(
    (column, index) =>
      `<th scope="col" title="${htmlAttribute(columnName(column, comparison))}">${index + 1}</th>`,
  )
  const body = rows.map((row) => {
    const change = of === 'time' ? changeOf(row, columns.length - 1) : null
    const changed =
      change === null
        ? ''
        : ` <b class="${row.outcomes.at(-1) === 'failed' ? 'f' : 'n'}">${change}</b>`
    return `<tr>${row.outcomes.map(cell).join('')}<th scope="row"><span class="mono">${htmlText(row.id)}</span> <span class="tag">${row.level}</span>${changed}<span class="ask">${htmlText(row.statement)}</span></th></tr>`
  })
  return `${legend(known)}<div class="scroll" role="region" aria-label="Table: ${label}" tabindex="0"><table class="compared"><thead><tr>${heads.join('')}<th scope="col">Requirement</th></tr></thead><tbody>
${body.join('\n')}
</tbody></table></div>`
}

function cell(outcome: Row['outcomes'][number]): string {
  const { sign, tone, word } = marks[outcome ?? 'absent']
  return `<td data-outcome="${outcome ?? 'absent'}"><span class="cell ${tone}" aria-hidden="true">${sign}</span><span class="sr">${word}</span></td>`
}
