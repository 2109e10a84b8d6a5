import {
  type Report,
  type RequirementResult,
  isLeftOutByOption,
} from '../../harness/report/index.ts'
import { conditionOf } from '../../catalogue/requirement.ts'
import { groupBy } from '../../harness/group-by.ts'
import { htmlAnchor, htmlAttribute, htmlText } from '../escape/html.ts'
import { byOperation, kindOf, kindsIn, kindsOf, type OperationGroup } from '../view/groups.ts'
import type { Mark } from '../view/writing.ts'

/** A condition has a column of its own if that many operations have it. */
const SHARED = 4

type MarkOf = (result: RequirementResult) => Mark

interface Marking {
  /** Marks that its legend names besides. */
  readonly more?: readonly Mark[]
  /** By its kind if not given. */
  readonly markOf?: MarkOf
  /** The page changes while it is read: nothing is placed by how it ended. */
  readonly isLive?: boolean
}

/**
 * Operations by requirements: a column for each condition that operations share, and one for the rest of each operation. What
 * failed comes first: on a phone the first columns are all that is seen. An operation that an option left out has no line.
 */
export function matrix(report: Report, { more = [], isLive, ...marking }: Marking = {}): string {
  const groups = byOperation(report).filter(({ results }) => !results.every(isLeftOutByOption))
  if (groups.length === 0) return ''
  const { markOf = (result) => kindsOf(report)[kindOf(result)] } = marking
  const shownResults = groups.flatMap(({ results }) => results)
  const marks = kindsIn({ ...report, requirements: shownResults }).map(([, mark]) => mark)
  const comesFirst = isLive ? () => false : isFailed
  const columns = sharedConditions(groups, comesFirst)
  const ownFailures = shownResults.filter(
    (result) => comesFirst(result) && !columns.includes(conditionOf(result.id)),
  ).length
  const heads = columns.map((column) => `<th scope="col"><span>${htmlText(column)}</span></th>`)
  const own = '<th scope="col">Specific to this operation</th>'
  const isOwnFirst = ownFailures > countOf(groups, columns[0] ?? '', comesFirst)
  const shown = { columns, isOwnFirst, comesFirst, markOf }
  return `<section aria-labelledby="matrix"><h2 id="matrix">Operations by requirements</h2>
${legend([...marks, ...more])}
<div class="scroll" role="region" aria-label="Matrix" tabindex="0"><table class="matrix"><thead><tr><th scope="col">Operation</th>${isOwnFirst ? own + heads.join('') : heads.join('') + own}</tr></thead><tbody>
${groups.map((group) => row(group, shown)).join('\n')}
</tbody></table></div></section>
`
}

type Choice = (result: RequirementResult) => boolean

const isFailed: Choice = ({ outcome }) => outcome === 'failed'

function countOf(groups: readonly OperationGroup[], condition: string, isChosen: Choice): number {
  return groups
    .flatMap(({ results }) => results)
    .filter((result) => isChosen(result) && conditionOf(result.id) === condition).length
}

/** Legend of the signs. */
export function legend(marks: readonly Mark[]): string {
  const words = marks.map(
    ({ sign, tone, word }) =>
      `<span class="${tone}"><i aria-hidden="true">${sign}</i>${word}</span>`,
  )
  return `<p class="key">${words.join(' ')}</p>`
}

interface Shown {
  readonly columns: readonly string[]
  /** What is an operation's own comes before what it shares with others. */
  readonly isOwnFirst: boolean
  readonly comesFirst: Choice
  readonly markOf: MarkOf
}

function row({ operation, results }: OperationGroup, shown: Shown): string {
  const { columns, comesFirst, isOwnFirst, markOf } = shown
  const shared = columns.map((column) => {
    const result = results.find(({ id }) => conditionOf(id) === column)
    return `<td>${result ? matrixCell(result, markOf(result)) : ''}</td>`
  })
  const rest = results.filter(({ id }) => !columns.includes(conditionOf(id)))
  const cells = [...rest.filter(comesFirst), ...rest.filter((result) => !comesFirst(result))]
  const own = `<td class="own">${cells.map((result) => matrixCell(result, markOf(result))).join('')}</td>`
  const all = isOwnFirst ? own + shared.join('') : shared.join('') + own
  return `<tr><th scope="row"><a class="mono" href="${htmlAnchor(operation)}">${htmlText(operation)}</a></th>${all}</tr>`
}

/** Cell of a requirement: a sign that links to it. */
export function matrixCell({ id, level }: RequirementResult, { sign, tone, word }: Mark): string {
  const label = htmlAttribute(`${conditionOf(id)} (${level}): ${word.toLowerCase()}`)
  return `<a class="cell ${tone}" href="${htmlAnchor(id)}" title="${label}" aria-label="${label}">${sign}</a>`
}

function sharedConditions(groups: readonly OperationGroup[], comesFirst: Choice): string[] {
  const conditions = groups.flatMap(({ results }) => results.map(({ id }) => conditionOf(id)))
  return [...groupBy(conditions, String)]
    .filter(([, all]) => all.length >= SHARED)
    .map(([condition]) => condition)
    .toSorted((one, other) => countOf(groups, other, comesFirst) - countOf(groups, one, comesFirst))
}
