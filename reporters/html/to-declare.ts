import type { Report } from '../../harness/report/model.ts'
import { count } from '../../harness/report/reason.ts'
import { htmlText } from '../escape/html.ts'
import { selectedResults } from '../view/groups.ts'
import { gainOf, type Step, usualPart, whatToDeclare } from '../view/to-declare.ts'
import { compactJson } from '../view/writing.ts'
import { link } from './failures.ts'

/** Steps that are seen at once. */
const MOST = 10
const JSON_WIDTH = 64

/** How the part of a target file is shown that most servers can paste. */
export type PartMarkup = (json: string) => string

const toCopy: PartMarkup = (json) => `<pre class="c" tabindex="0">${htmlText(json)}</pre>`

/** What to declare next and what each step gains, and one piece of JSON for the usual ones; nothing if nothing is lacking. */
export function stepList(report: Report, partMarkup: PartMarkup = toCopy): string {
  const steps = whatToDeclare({ requirements: selectedResults(report) })
  if (steps.length === 0) return ''
  const rest = steps.slice(MOST)
  const more =
    rest.length === 0
      ? ''
      : `<details class="fold"><summary>and +${gainOf(rest)} by ${rest.length} others</summary>${list(rest)}</details>`
  const part = usualPart(steps)
  const pasted =
    Object.keys(part).length === 0
      ? ''
      : `<div><p class="lead">Into the target file: fill in what stands in angle brackets, take out what your server does not have</p>${partMarkup(compactJson(part, JSON_WIDTH))}</div>`
  return `<section aria-labelledby="declare"><h2 id="declare">What to declare next <small>${count(gainOf(steps), 'more requirement')} can be tested then</small></h2>
<div class="declare"><div>${list(steps.slice(0, MOST))}${more}</div>${pasted}</div>
<p class="facts">An operation that your server does not have is <code>"not-served"</code>. A condition that nobody can cause there stands under <code>"unreachable"</code>, with the reason. <code>conform init --from</code> and the JSON report writes a target file with all of it.</p></section>
`
}

function list(steps: readonly Step[]): string {
  return `<ol class="steps">${steps.map(row).join('')}</ol>`
}

function row({ example, ids, names }: Step): string {
  const parts = names.map((name) => `<span class="mono">${htmlText(name)}</span>`).join(' and ')
  const what = `<details><summary>${parts}</summary><pre class="c">${htmlText(compactJson(example, JSON_WIDTH))}</pre><p class="facts">${ids.map(link).join(', ')}</p></details>`
  return `<li><b>+${ids.length}</b>${what}</li>`
}
