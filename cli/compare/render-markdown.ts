import type { Comparison, Row } from '../../harness/report/compare.ts'
import { changeOf, differingRows, newlyFailingMusts, suiteNote } from '../../harness/report/compare.ts'
import { markdownCode, markdownText } from '../../reporters/escape/markdown.ts'
import { marks } from './marks.ts'
import { countsText } from './render-table.ts'

/** The comparison for a job summary or a merge request: the reports, what is newly failing, and what is not the same in all. */
export function renderMarkdown(comparison: Comparison): string {
  const { columns, mode, of, rows } = comparison
  const head = of === 'time' ? `${columns[0]!.baseUrl} over time` : 'Conformance compared'
  const differing = differingRows(comparison)
  const shown = rows.filter((row) => differing.includes(row) || row.outcomes.includes('failed'))
  const note = suiteNote(comparison)
  const fresh = newlyFailingMusts(comparison).length
  return [
    `## ${markdownText(head)}`,
    '',
    '| | report | started | suite | verdict | must | should |',
    '| ---: | --- | --- | --- | --- | --- | --- |',
    ...columns.map(
      ({ baseUrl, interrupted, name, startedAt, summary, verdict, version }, index) =>
        `| ${index + 1} | ${markdownText(`${name}, ${baseUrl}`)} | ${markdownText(startedAt)} | ${markdownText(version)} | ` +
        `${verdict}${interrupted ? ' (interrupted)' : ''} | ${countsText(summary.must)} | ${countsText(summary.should)} |`,
    ),
    '',
    `- code names are matched by mode ${mode}`,
    ...(note === undefined ? [] : [`- ${markdownText(note)}`]),
    ...(columns.length > 1 ? [`- musts that are newly failing in the last report: ${fresh}`] : []),
    `- ${rows.length - differing.length} of ${rows.length} requirements are the same in all`,
    '',
    ...table(shown, comparison),
  ].join('\n')
}

function table(rows: readonly Row[], { columns, of }: Comparison): string[] {
  if (rows.length === 0) return []
  return [
    `| requirement | level | ${columns.map((_, index) => index + 1).join(' | ')} | |`,
    `| --- | --- | ${columns.map(() => '---').join(' | ')} | --- |`,
    ...rows.map((row) => {
      const cells = row.outcomes.map((outcome) => marks[outcome ?? 'absent'].word)
      const change = of === 'time' ? (changeOf(row, columns.length - 1) ?? '') : ''
      return `| ${markdownCode(row.id)} | ${row.level} | ${cells.join(' | ')} | ${change} |`
    }),
    '',
  ]
}
