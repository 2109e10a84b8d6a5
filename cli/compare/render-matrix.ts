import { html, raw } from 'hono/html'
import type { Outcome } from '../../harness/report/model.ts'
import type { Change, Column, Comparison, Row } from '../../harness/report/compare.ts'
import { differingRows, suiteNote } from '../../harness/report/compare.ts'
import { visible } from '../../reporters/escape/visible.ts'
import { countsText } from '../../reporters/view/counts.ts'
import { marks } from './render-table.ts'

const style = `
:root { color-scheme: light dark; --line: light-dark(#c8c8c8, #505050); --soft: light-dark(#f3f3f3, #262626) }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem; color: light-dark(#1a1a1a, #ececec); background: light-dark(#fff, #161616) }
h1 { font-size: 1.5rem } h2 { font-size: 1.2rem; margin-top: 2rem }
.scroll { overflow-x: auto }
table { border-collapse: collapse }
th, td { border: 1px solid var(--line); padding: .3rem .6rem; text-align: left; vertical-align: top }
tbody th { font-weight: normal } tbody tr.area th { font-weight: bold; background: var(--soft) }
code { font-size: .9em } small { display: block; opacity: .85 }
td[data-outcome] { text-align: center; white-space: nowrap }
[data-outcome=passed] { background: light-dark(#e3f4e4, #14361a) }
[data-outcome=failed] { background: light-dark(#fbdfdd, #521a18); font-weight: bold }
[data-outcome=not-exercised] { background: light-dark(#fdf3d3, #40340c) }
`

/** The comparison as one HTML page that needs nothing else: columns, what changed over time, and the whole matrix. */
export async function renderMatrix(comparison: Comparison): Promise<string> {
  const title =
    comparison.of === 'time' ? `${visible(comparison.columns[0]!.baseUrl)} over time` : 'Conformance compared'
  const differing = differingRows(comparison).length
  const page = await html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <style>
          ${raw(style)}
        </style>
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          <p>
            ${comparison.rows.length} requirements, ${differing} of them not the same in all reports. Code names are
            matched by mode <code>${comparison.mode}</code>.
          </p>
          ${noteOf(comparison)}
          <div class="scroll" tabindex="0" role="region" aria-label="Reports compared">
            <table>
              <caption>
                Reports
              </caption>
              <thead>
                <tr>
                  ${['Report', 'Started', 'Suite', 'Verdict', 'Must', 'Should'].map((name) => html`<th scope="col">${name}</th>`)}
                </tr>
              </thead>
              <tbody>
                ${comparison.columns.map(columnRow)}
              </tbody>
            </table>
          </div>
          ${comparison.changes.map((change) => changeSection(change, comparison))}
          <h2>Requirements</h2>
          <div class="scroll" tabindex="0" role="region" aria-label="Requirements by report">
            <table>
              <caption>
                ${Object.values(marks)
                  .filter(({ sign }) => sign !== ' ')
                  .map(({ sign, word }) => `${sign} ${word}`)
                  .join(', ')}
              </caption>
              <thead>
                <tr>
                  <th scope="col">Requirement</th>
                  ${comparison.columns.map((column) => html`<th scope="col">${columnName(column, comparison)}</th>`)}
                </tr>
              </thead>
              ${areasOf(comparison.rows).map((rows) => areaBody(rows, comparison.columns.length))}
            </table>
          </div>
        </main>
      </body>
    </html> `
  return page.toString()
}

function columnRow({ name, baseUrl, startedAt, version, verdict, summary, interrupted }: Column) {
  return html`<tr>
    <th scope="row">${visible(name)} <small>${visible(baseUrl)}</small></th>
    <td>${visible(startedAt)}</td>
    <td>${visible(version)}</td>
    <td>${verdict}${interrupted ? ' (interrupted)' : ''}</td>
    <td>${countsText(summary.must)}</td>
    <td>${countsText(summary.should)}</td>
  </tr>`
}

function columnName({ name, startedAt }: Column, { of }: Comparison): string {
  return visible(of === 'time' ? startedAt : name)
}

function changeSection(change: Change, { columns }: Comparison) {
  const kinds = [
    ['Newly failing', change.newlyFailing],
    ['Newly passing', change.newlyPassing],
    ['Newly not tested', change.newlyNotExercised],
  ] as const
  const told = kinds.filter(([, ids]) => ids.length > 0)
  return html`<h2>Changed by ${visible(columns[change.to]!.startedAt)}</h2>
    ${told.length === 0 ? html`<p>Nothing.</p>` : ''}
    ${told.map(
      ([word, ids]) =>
        html`<h3>${word}: ${ids.length}</h3>
          <ul>
            ${ids.map(
              (id) =>
                html`<li>
                  <a href="#${anchor(id)}"><code>${visible(id)}</code></a>
                </li>`,
            )}
          </ul>`,
    )}`
}

function noteOf(comparison: Comparison) {
  const note = suiteNote(comparison)
  return note === undefined ? '' : html`<p><strong>${visible(note)}</strong></p>`
}

function anchor(id: string): string {
  return encodeURIComponent(visible(id))
}

function areasOf(rows: readonly Row[]): Row[][] {
  const areas = [...new Set(rows.map((row) => row.operation))]
  return areas.map((area) => rows.filter((row) => row.operation === area))
}

function areaBody(rows: readonly Row[], width: number) {
  return html`<tbody>
    <tr class="area">
      <th scope="rowgroup" colspan="${width + 1}">${visible(rows[0]!.operation)}</th>
    </tr>
    ${rows.map(
      ({ id, level, statement, outcomes }) =>
        html`<tr id="${anchor(id)}">
          <th scope="row"><code>${visible(id)}</code> (${level}) <small>${visible(statement)}</small></th>
          ${outcomes.map(cell)}
        </tr>`,
    )}
  </tbody>`
}

function cell(outcome: Outcome | null) {
  const { sign, word } = marks[outcome ?? 'absent']
  return html`<td data-outcome="${outcome ?? 'absent'}"><span aria-hidden="true">${sign}</span> ${word}</td>`
}
