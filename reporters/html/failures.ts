import { shortened } from '../escape/visible.ts'
import type { Report } from '../../harness/report/model.ts'
import { htmlAnchor, htmlText } from '../escape/html.ts'
import { byCause, type Cause } from '../view/causes.ts'
import { likelyCauses } from '../view/likely-causes.ts'
import { wordsOf } from '../view/likely-words.ts'
import { capital, sections } from '../view/writing.ts'
import { count } from '../../harness/report/reason.ts'
import { failed } from '../view/groups.ts'

/** Rows that are shown; a target that fails everything has hundreds, which are in the list below. */
const MOST = 40
/** No more than that are seen at once, whatever they have in common. */
const FEW = 10

/** What failed, a row each cause with what was expected and received; the evidence is with the requirement. */
export function failureList(report: Report): string {
  const { expected, unexpected } = failed(report)
  const rows = [
    ...byCause(unexpected).map((cause) => row(cause)),
    ...byCause(expected).map((cause) => row(cause, 'expected by the baseline')),
  ]
  if (rows.length === 0) return ''
  const likely = likelyCauses(unexpected)
  const more = rows.length > MOST ? `<li>and ${rows.length - MOST} more, in the list of requirements</li>\n` : ''
  const all = unexpected.length + expected.length
  const list = `<ol class="failures">
${rows.slice(0, MOST).join('\n')}
${more}</ol>`
  const folded = `<details class="fold"${rows.length <= FEW ? ' open' : ''}><summary>All failures, one row for each that shares expectation and answer: ${rows.length}</summary>\n${list}</details>`
  return `<section aria-labelledby="failures"><h2 id="failures">Failures <small>${all}</small></h2>
${likely.length > 0 ? folded : list}</section>
`
}

/** What most failures have in common, and what to change; nothing if nothing is known of that kind. */
export function likelyList(report: Report): string {
  const { unexpected } = failed(report)
  const causes = likelyCauses(unexpected)
  if (causes.length === 0) return ''
  const items = causes.map((cause) => {
    const { change, what } = wordsOf(cause)
    const ids = cause.results.map(({ id }) => link(id))
    const named = `<details><summary>${count(ids.length, 'requirement')}</summary><p>${ids.join(', ')}</p></details>`
    return `<li><b class="times">${ids.length}<span class="sr"> times</span></b><div><p class="cause">${htmlText(capital(what))}</p><p>${htmlText(capital(change))}.</p>${named}</div></li>`
  })
  return `<section aria-labelledby="likely"><h2 id="likely">What to change first <small>likely causes of ${count(unexpected.length, 'failure')}</small></h2>
<ol class="failures likely">
${items.join('\n')}
</ol></section>
`
}

function row({ first: result, others }: Cause, note?: string): string {
  const [first] = result.failures
  const tags = [result.level, sections(result.section), ...(note === undefined ? [] : [note])]
  const said = first
    ? `<dl><dt>Sent</dt><dd>${short(first.message)}</dd><dt>Expected</dt><dd>${short(first.expected)}</dd><dt>Received</dt><dd class="got">${short(first.actual)}</dd></dl>`
    : ''
  const same =
    others.length === 0 ? '' : `<p>Same for ${others.length} more: ${others.map(({ id }) => link(id)).join(', ')}</p>`
  return `<li><p>${link(result.id)} ${tags.map((tag) => `<span class="tag">${htmlText(tag)}</span>`).join(' ')}</p><p class="ask">${htmlText(result.statement)}</p>${said}${same}</li>`
}

/** A link to the row of a requirement. */
export function link(id: string): string {
  return `<a class="mono" href="${htmlAnchor(id)}">${htmlText(id)}</a>`
}

function short(text: string): string {
  return htmlText(shortened(text, 300))
}
