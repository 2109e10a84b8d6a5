import type { Report } from '../../harness/report/index.ts'
import { htmlAnchor, htmlText } from '../escape/html.ts'
import { shortened } from '../escape/visible.ts'
import { byState, mapSentence, notBuilt, shownMap, states } from '../view/operation-map.ts'
import { capital, compactJson } from '../view/writing.ts'

/** The map of the operations, a line for each state that any has, and what is not built yet; nothing if there is no map. */
export function operationsSection(report: Report): string {
  const places = shownMap(report)
  if (places === undefined) return ''
  const rows = byState(places).map(([state, own]) => {
    const { sign, tone } = states[state]
    const items = own.map(
      ({ detail, operation }) =>
        `<li><a class="mono" href="${htmlAnchor(operation)}">${htmlText(operation)}</a>${detail && ` <small>${detail}</small>`}</li>`,
    )
    return `<dt class="${tone}"><i aria-hidden="true">${sign}</i>${capital(own[0]!.word)} <b>${own.length}</b></dt><dd><ul>${items.join('')}</ul></dd>`
  })
  return `<section class="map" aria-label="Operations"><p class="lead">${mapSentence(places)}</p><dl>${rows.join('')}</dl>${notBuiltBlock(report)}</section>\n`
}

const JSON_WIDTH = 64

function notBuiltBlock(report: Report): string {
  const absent = notBuilt(report)
  if (absent === undefined) return ''
  return `<details class="fold" open><summary>${capital(absent.heading)}</summary><p>Answered <span class="mono">${htmlText(shortened(absent.answers, 300))}</span>. If that is meant, paste this into the target file; they are not applicable then.</p><pre class="c">${htmlText(compactJson(absent.part, JSON_WIDTH))}</pre></details>`
}
