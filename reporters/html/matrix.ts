import type { Report, RequirementResult } from '../../harness/report/model.ts'
import { htmlAnchor, htmlAttribute, htmlText } from '../escape/html.ts'
import { byOperation, type OperationGroup } from '../view/groups.ts'
import { type Mark, outcomes } from '../view/writing.ts'

/** A condition has a column of its own if that many operations have it. */
const SHARED = 4

/** How each requirement is marked. */
type MarkOf = (result: RequirementResult) => Mark

/** The marks, and what each means. */
export interface Marking {
  readonly marks: readonly Mark[]
  readonly markOf: MarkOf
}
const byOutcome: Marking = { marks: Object.values(outcomes), markOf: ({ outcome }) => outcomes[outcome] }

/** Operations by requirements: a column for each condition that operations share, the rest of an operation's in the last. */
export function matrix(report: Report, { marks, markOf }: Marking = byOutcome): string {
  const groups = byOperation(report)
  const columns = sharedConditions(groups)
  const heads = columns.map((column) => `<th scope="col"><span>${htmlText(column)}</span></th>`)
  return `<section aria-labelledby="matrix"><h2 id="matrix">Operations by requirements</h2>
<p class="key">${marks
    .map(({ sign, tone, word }) => `<span class="${tone}"><i aria-hidden="true">${sign}</i>${word}</span>`)
    .join(' ')}</p>
<div class="scroll" role="region" aria-label="Matrix" tabindex="0"><table class="matrix"><thead><tr><th scope="col">Operation</th>${heads.join('')}<th scope="col">Specific to this operation</th></tr></thead><tbody>
${groups.map((group) => row(group, columns, markOf)).join('\n')}
</tbody></table></div></section>
`
}

function row({ operation, results }: OperationGroup, columns: readonly string[], markOf: MarkOf): string {
  const shared = columns.map((column) => {
    const result = results.find(({ id }) => conditionOf(id) === column)
    return `<td>${result ? matrixCell(result, markOf(result)) : ''}</td>`
  })
  const own = results.filter(({ id }) => !columns.includes(conditionOf(id)))
  return `<tr><th scope="row"><a class="mono" href="${htmlAnchor(operation)}">${htmlText(operation)}</a></th>${shared.join('')}<td class="own">${own.map((result) => matrixCell(result, markOf(result))).join('')}</td></tr>`
}

/** One requirement: a sign that leads to it. */
export function matrixCell({ id, level }: RequirementResult, { sign, tone, word }: Mark): string {
  const label = htmlAttribute(`${conditionOf(id)} (${level}): ${word.toLowerCase()}`)
  return `<a class="cell ${tone}" href="${htmlAnchor(id)}" title="${label}" aria-label="${label}">${sign}</a>`
}

/** `jobs.create/404-unknown-application` is the condition `404-unknown-application` of `jobs.create`. */
function conditionOf(id: string): string {
  return id.slice(id.indexOf('/') + 1)
}

function sharedConditions(groups: readonly OperationGroup[]): string[] {
  const times = new Map<string, number>()
  for (const { results } of groups) {
    for (const { id } of results) times.set(conditionOf(id), (times.get(conditionOf(id)) ?? 0) + 1)
  }
  return [...times].filter(([, number]) => number >= SHARED).map(([condition]) => condition)
}
