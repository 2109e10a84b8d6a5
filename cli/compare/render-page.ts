import {
  changeOf,
  type Column,
  type Comparison,
  differingRows,
  notableRows,
  type Row,
  suiteNote,
} from '../../harness/report/compare.ts'
import { count } from '../../harness/report/count.ts'
import { htmlAttribute, htmlText } from '../../reporters/escape/html.ts'
import { shortened, visible } from '../../reporters/escape/visible.ts'
import { policyFor, style } from '../../reporters/html/assets.ts'
import type { Counts } from '../../harness/report/model.ts'
import { outcomes } from '../../reporters/view/marks.ts'
import { verdictWords } from '../../reporters/view/standing.ts'
import { columnName, marks } from './render-table.ts'

/** Classes of the style sheet. */
const tones = { good: 'p', warning: 'm', bad: 'f' } as const

/** The comparison as one page in the style of the report, which needs nothing but itself: what fails and differs first. */
export function renderPage(comparison: Comparison): string {
  const { columns, mode, of, rows } = comparison
  const names = shortened(columns.map(({ name }) => visible(name)).join(', '), 120)
  const title = of === 'time' ? `${visible(columns[0]!.baseUrl)} over time` : names
  const notable = notableRows(comparison)
  const same = rows.length - differingRows(comparison).length
  const note = suiteNote(comparison)
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${htmlAttribute(policyFor({ style }))}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${htmlText(title)}</title>
<link rel="icon" href="data:,">
<style>${style}</style></head>
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
    `<td class="${tones[tone]}"><b>${word}</b>${interrupted ? ', interrupted' : ''}</td>`,
    ...[summary.must, summary.should].map((counts) => `<td class="tally">${tally(counts)}</td>`),
    ...[startedAt.slice(0, 16).replace('T', ' '), version].map((text) => `<td>${htmlText(text)}</td>`),
  ]
  return `<tr><td>${index + 1}</td><th scope="row">${htmlText(name)}<span class="ask mono">${htmlText(baseUrl)}</span></th>${cells.join('')}</tr>`
}

function tally(counts: Counts): string {
  return Object.values(outcomes)
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
    (column, index) => `<th scope="col" title="${htmlAttribute(columnName(column, comparison))}">${index + 1}</th>`,
  )
  const legend = Object.values(marks)
    .filter(({ sign }) => sign !== ' ')
    .map(({ sign, tone, word }) => `<span class="${tone}"><i aria-hidden="true">${sign}</i>${word}</span>`)
  const body = rows.map((row) => {
    const change = of === 'time' ? changeOf(row, columns.length - 1) : null
    const changed = change === null ? '' : ` <b class="${row.outcomes.at(-1) === 'failed' ? 'f' : 'n'}">${change}</b>`
    return `<tr>${row.outcomes.map(cell).join('')}<th scope="row"><span class="mono">${htmlText(row.id)}</span> <span class="tag">${row.level}</span>${changed}<span class="ask">${htmlText(row.statement)}</span></th></tr>`
  })
  return `<p class="key">${legend.join(' ')}</p><div class="scroll" role="region" aria-label="Table: ${label}" tabindex="0"><table class="compared"><thead><tr>${heads.join('')}<th scope="col">Requirement</th></tr></thead><tbody>
${body.join('\n')}
</tbody></table></div>`
}

function cell(outcome: Row['outcomes'][number]): string {
  const { sign, tone, word } = marks[outcome ?? 'absent']
  return `<td data-outcome="${outcome ?? 'absent'}"><span class="cell ${tone}" aria-hidden="true">${sign}</span><span class="sr">${word}</span></td>`
}
