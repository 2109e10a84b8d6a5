import type { Report, RequirementResult } from '../../harness/report/model.ts'
import { htmlAnchor, htmlText } from '../escape/html.ts'
import { failed } from '../view/failed.ts'
import { sections } from '../view/sections.ts'
import { shortened } from '../view/shortened.ts'

/** Rows that are shown; a target of which everything fails has hundreds, which stand in the list below. */
const MOST = 40

/** What failed, a row each with what was expected and received; the evidence stands with the requirement. */
export function failureList(report: Report): string {
  const { expected, unexpected } = failed(report)
  const rows = [
    ...unexpected.map((result) => row(result)),
    ...expected.map((result) => row(result, 'expected by the baseline')),
  ]
  if (rows.length === 0) return ''
  const more = rows.length > MOST ? `<li>and ${rows.length - MOST} more, in the list of requirements</li>\n` : ''
  return `<section aria-labelledby="failures"><h2 id="failures">Failures <small>${rows.length}</small></h2>
<ol class="failures">
${rows.slice(0, MOST).join('\n')}
${more}</ol></section>
`
}

function row(result: RequirementResult, note?: string): string {
  const [first] = result.failures
  const tags = [result.level, sections(result.section), ...(note === undefined ? [] : [note])]
  const said = first
    ? `<dl><dt>Sent</dt><dd>${short(first.message)}</dd><dt>Expected</dt><dd>${short(first.expected)}</dd><dt>Received</dt><dd class="got">${short(first.actual)}</dd></dl>`
    : ''
  return `<li><p><a class="mono" href="${htmlAnchor(result.id)}">${htmlText(result.id)}</a> ${tags.map((tag) => `<span class="tag">${htmlText(tag)}</span>`).join(' ')}</p><p class="ask">${htmlText(result.statement)}</p>${said}</li>`
}

function short(text: string): string {
  return htmlText(shortened(text, 300))
}
