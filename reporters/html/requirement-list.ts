import { isOperationId, operation as operationOf } from '../../catalogue/operations.ts'
import type { Outcome } from '../../harness/report/model.ts'
import { htmlAttribute, htmlText } from '../escape/html.ts'
import { visible } from '../escape/visible.ts'
import type { OperationGroup } from '../view/groups.ts'
import { outcomes } from './words.ts'

/** Filter and search; they need the script, which shows them. */
export function toolbar(): string {
  const boxes = Object.entries(outcomes).map(
    ([outcome, { sign, tone, word }]) =>
      `<label class="${tone}"><input type="checkbox" name="outcome" value="${outcome}" checked><i aria-hidden="true">${sign}</i>${word}</label>`,
  )
  return `<div class="tools" id="tools" role="search" aria-label="Requirements" hidden><input type="search" id="find" placeholder="Search id, statement, reason" aria-label="Search requirements"><fieldset><legend class="sr">Outcome</legend>${boxes.join('')}</fieldset><label class="sr" for="level">Level</label><select id="level"><option value="">Must and should</option><option value="must">Must only</option><option value="should">Should only</option></select><button type="button" id="fold">Open all</button><output id="shown"></output></div>`
}

/** The heading of an operation's requirements: its method and path, and how many had each outcome. */
export function operationHead({ operation, results }: OperationGroup): string {
  const line = isOperationId(operation) ? operationOf(operation) : undefined
  const path = line ? `<span class="path mono">${line.method} ${htmlText(line.path)}</span>` : ''
  const tally = (Object.keys(outcomes) as Outcome[]).map((outcome) => {
    const number = results.filter((result) => result.outcome === outcome).length
    const { sign, tone, word } = outcomes[outcome]
    return number === 0
      ? ''
      : `<span class="${tone}"><i aria-hidden="true">${sign}</i>${number}<span class="sr"> ${word.toLowerCase()}</span></span>`
  })
  return `<h3 id="${htmlAttribute(visible(operation))}"><span class="mono">${htmlText(operation)}</span> ${path}<span class="tally">${tally.join('')}</span></h3>`
}
