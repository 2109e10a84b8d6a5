import { idLink, sectionHead } from './assets.ts'
import { shortened, htmlText, capital, compactJson, levels } from '../text.ts'
import { count, type Report, sayNeed, sections } from '../../harness/report/index.ts'
import {
  byCause,
  type Distinct,
  failuresOf,
  gainOf,
  notJudged,
  programOf,
  type Step,
  usualPart,
} from '../view/next-steps.ts'

const MOST = 40

/** Failures, a row each distinct one with what was sent, expected and received; the rest is with the requirement. */
export function failureList(report: Report): string {
  const { distinct, expected, unexpected } = failuresOf(report)
  const rows = [
    ...distinct.map((one) => row(one)),
    ...byCause(expected).map((group) => row(group, 'expected by the baseline')),
  ]
  if (rows.length === 0) return ''
  const more =
    rows.length > MOST
      ? `<li>and ${rows.length - MOST} more, in the list of requirements</li>\n`
      : ''
  const all = unexpected.length + expected.length
  const title = rows.length < all ? `${all}, ${rows.length} distinct` : all
  return `${sectionHead('failures', 'Failures', title)}
<ol class="failures">
${rows.slice(0, MOST).join('\n')}
${more}</ol></section>
`
}

/** Longer lists of ids are folded: they would hide the failures below. */
const MOST_NAMED = 20

function row({ cause, example, results }: Distinct, note?: string): string {
  const [first] = example.failures
  const tags = [
    levels[example.level],
    sections(example.section),
    ...(note === undefined ? [] : [note]),
  ]
  const summary = first
    ? `<dl><dt>Sent</dt><dd>${short(first.message)}</dd><dt>Expected</dt><dd>${short(first.expected)}</dd><dt>Received</dt><dd class="got">${short(first.actual)}</dd></dl>`
    : ''
  const others = results.filter((result) => result !== example)
  const named = others.map((other) => idLink(other.id)).join(', ')
  const heading = `Same for ${others.length} more`
  const same =
    others.length === 0
      ? ''
      : others.length > MOST_NAMED
        ? `<details class="fold"><summary>${heading}</summary><p>${named}</p></details>`
        : `<p>${heading}: ${named}</p>`
  const why =
    cause === undefined
      ? ''
      : `<p class="cause">${htmlText(capital(cause.what))}</p><p>${htmlText(capital(cause.change))}.</p>`
  return `<li>${why}<p>${idLink(example.id)} ${tags.map((tag) => `<span class="tag">${htmlText(tag)}</span>`).join(' ')}</p><p class="ask">${htmlText(example.statement)}</p>${summary}${same}</li>`
}

function short(text: string): string {
  return htmlText(shortened(text, 300))
}

const MOST_STEPS = 10
const JSON_WIDTH = 64

/** Steps to declare next with their gains, and JSON to paste for the usual ones; empty if nothing is missing. */
export function stepList(report: Report): string {
  const { steps } = notJudged(report)
  if (steps.length === 0) return ''
  const rest = steps.slice(MOST_STEPS)
  const more =
    rest.length === 0
      ? ''
      : `<details class="fold"><summary>and +${gainOf(rest)} by ${rest.length} others</summary>${orderedSteps(rest)}</details>`
  const part = usualPart(steps)
  const pasted =
    Object.keys(part).length === 0
      ? ''
      : `<div><p class="lead">Paste into the target file, replace the &lt;placeholders&gt;, and take out what your server does not have</p><pre class="c" tabindex="0">${htmlText(compactJson(part, JSON_WIDTH))}</pre></div>`
  return `${sectionHead('declare', 'What to declare next', `${count(gainOf(steps), 'more requirement')} can be tested then`)}
<div class="declare"><div>${orderedSteps(steps.slice(0, MOST_STEPS))}${more}</div>${pasted}</div>
<p class="facts">Write <code>"not-served"</code> for operations you do not offer, and list conditions nobody can trigger under <code>"unreachable"</code>, with the reason. <code>${programOf(report)} init --from</code> adds all of it to a target file.</p></section>
`
}

function orderedSteps(steps: readonly Step[]): string {
  return `<ol class="steps">${steps.map(stepRow).join('')}</ol>`
}

function stepRow(step: Step): string {
  const parts = step.names.map((name) => `<span class="mono">${htmlText(sayNeed(name))}</span>`)
  return `<li><b>+${step.ids.length}</b><span>${parts.join(' and ')}</span></li>`
}
