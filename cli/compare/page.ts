import { count, type Counts } from '../../harness/report/index.ts'
import { conditionOf } from '../../catalogue/requirement.ts'
import { htmlAttribute, htmlText, shortened, visible } from '../../reporters/escape.ts'
import { pageHead, script, sectionHead, style } from '../../reporters/html/assets.ts'
import { legend } from '../../reporters/html/lists.ts'
import { bar, tones as classes } from '../../reporters/html/overview.ts'
import { filters } from '../../reporters/html/requirement.ts'
import { verdictWords } from '../../reporters/view/standing.ts'
import { outcomes } from '../../reporters/view/writing.ts'
import { changeOf, type Changes, type Column, columnName, countsIn } from './comparison.ts'
import { type Comparison, differingRows, groupOf, groupsIn, marks } from './comparison.ts'
import { notableRows, operationsOf, type Row, suiteNote } from './comparison.ts'

const known = Object.values(outcomes)

/** The comparison as one page in the style of the report, which needs nothing but itself: what changed, the trend, what fails and differs. */
export function renderPage(comparison: Comparison, changes: Changes): string {
  const { columns, mode, of, rows } = comparison
  const names = shortened(columns.map(({ name }) => visible(name)).join(', '), 120)
  const title = of === 'time' ? `${visible(columns[0]!.baseUrl)} over time` : names
  const notable = notableRows(comparison)
  const same = rows.length - differingRows(comparison).length
  const note = suiteNote(comparison)
  return `${pageHead(title, { style, script })}
<body><header class="top"><p class="kind">Conformance compared <span>Code names: ${mode}</span></p>
<h1>${htmlText(title)}</h1>
<p class="where">${count(rows.length, 'requirement')}, ${same} of them the same in all reports</p>
${note === undefined ? '' : `<ul class="notes"><li>${htmlText(note)}</li></ul>`}</header>
<main id="main">${changesSection(changes)}${sectionHead('reports', 'Reports')}
<div class="scroll" role="region" aria-label="Table of reports" tabindex="0"><table class="compared"><thead><tr><td></td>${['Report', 'Verdict', 'Must', 'Should', 'Started', 'Suite'].map((name) => `<th scope="col">${name}</th>`).join('')}</tr></thead><tbody>
${columns.map((column, index) => columnRow(column, index)).join('\n')}
</tbody></table></div></section>
${trendSection(comparison)}
<section id="list" aria-labelledby="all"><h2 id="all">Requirements <small>${rows.length}</small></h2>
${notable.length === 0 ? '<p>Nothing failed, and all reports are the same.</p>' : ''}${filters(groupsIn(comparison))}${groupTables(comparison, notable)}</section>
</main><script>${script}</script></body></html>
`
}

function changesSection({ causes, groups }: Changes): string {
  if (groups.length === 0) return ''
  const blocks = groups.map(({ operations, rows, title, tone }) => {
    const lines = operations.map(([operation, own]) => {
      const names = own.map(
        ({ id, level }) =>
          `<span class="mono">${htmlText(conditionOf(id))}</span>${level === 'should' ? ' (should)' : ''}`,
      )
      return `<dt class="mono">${htmlText(operation)} <b>${own.length}</b></dt><dd>${names.join(', ')}</dd>`
    })
    return `<h3 class="${tone}"><i aria-hidden="true">${signs[tone]}</i>${title} <small>${rows.length}</small></h3><dl class="run">${lines.join('')}</dl>`
  })
  const likely = causes.map(
    ({ results, sentence, title }) =>
      `<li><b>${count(results.length, 'requirement')} that broke: ${htmlText(title)}.</b> ${htmlText(sentence)}</li>`,
  )
  const list = likely.length === 0 ? '' : `<ul class="plain">${likely.join('')}</ul>`
  return `${sectionHead('changed', 'What changed')}${list}${blocks.join('')}</section>\n`
}

const signs = { p: '✓', f: '✗', m: '○' } as const

function trendSection(comparison: Comparison): string {
  const { columns, of, rows } = comparison
  const line = (name: string, own: readonly Row[]): string => {
    const cells = columns.map((_, at) => {
      const counts = countsIn(own, at)
      return `<td>${bar(counts)}<span class="tally">${tally(counts)}</span></td>`
    })
    return `<tr><th scope="row" class="mono">${htmlText(name)}</th>${cells.join('')}</tr>`
  }
  const lines = operationsOf(comparison).map(([operation, own]) => line(operation, own))
  return `${sectionHead('trend', of === 'time' ? 'Trend' : 'By operation')}${legend(known)}<div class="scroll" role="region" aria-label="Table: by operation" tabindex="0"><table class="compared trend"><thead><tr><th scope="col">Operation</th>${columnHeads(comparison)}</tr></thead><tbody>
${line('all', rows)}
${lines.join('\n')}
</tbody></table></div></section>`
}

function groupTables(comparison: Comparison, notable: readonly Row[]): string {
  const seen = new Set(notable)
  const rows = [...notable, ...comparison.rows.filter((row) => !seen.has(row))]
  return operationsOf({ rows })
    .map(([operation, own]) => {
      const number = own.filter((row) => seen.has(row)).length
      return `<details class="fold"><summary><span class="mono">${htmlText(operation)}</span>: ${count(own.length, 'requirement')}, ${number} that fail or differ</summary>${table(own, comparison, operation)}</details>`
    })
    .join('\n')
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
  const body = rows.map((row) => {
    const change = changeOf(row, comparison)
    const changed =
      change === undefined
        ? ''
        : ` <b class="${row.outcomes.at(-1) === 'failed' ? 'f' : 'n'}">${change}</b>`
    return `<tr class="r" data-o="${groupOf(row).kind}" data-l="${row.level}"><th scope="row"><span class="mono">${htmlText(row.id)}</span> <span class="tag">${row.level}</span>${changed}<span class="ask">${htmlText(row.statement)}</span></th>${row.outcomes.map(cell).join('')}</tr>`
  })
  return `<div class="scroll" role="region" aria-label="Table: ${label}" tabindex="0"><table class="compared"><thead><tr><th scope="col">Requirement</th>${columnHeads(comparison)}</tr></thead><tbody>
${body.join('\n')}
</tbody></table></div>`
}

function columnHeads(comparison: Comparison): string {
  const heads = comparison.columns.map(
    (column, at) =>
      `<th scope="col" title="${htmlAttribute(columnName(column, comparison))}">${at + 1}</th>`,
  )
  return heads.join('')
}

function cell(outcome: Row['outcomes'][number]): string {
  const { sign, tone, word } = marks[outcome ?? 'absent']
  return `<td data-outcome="${outcome ?? 'absent'}"><span class="cell ${tone}" aria-hidden="true">${sign}</span><span class="sr">${word}</span></td>`
}
