import type { Failure, Report } from '../../harness/report/model.ts'
import { htmlText } from '../escape/html.ts'
import { joinedPieces, type LinePair, type Piece, requestDifference } from '../view/difference.ts'

/** Lines that are alike are shown so many before and after one that is not. */
const CONTEXT = 4

/** Text whose marked pieces stand in that element. */
export function piecesMarkup(pieces: readonly Piece[], element: 'del' | 'ins' | 'mark'): string {
  return joinedPieces(pieces)
    .map(({ isMarked, text }) => (isMarked ? `<${element}>${htmlText(text)}</${element}>` : htmlText(text)))
    .join('')
}

/** The request that was granted beside the one that failed, with what they differ in marked; nothing if there is none. */
export function differenceTable({ control, exchange }: Failure, run: Report['run']): string {
  if (!control || !exchange) return ''
  const pairs = requestDifference(control.request, exchange.request, run)
  const { response } = exchange
  const heads = [`Granted: ${control.status}`, `The probe: ${response ? response.status : 'no answer'}`]
  return `<h4>The difference</h4><table class="diff"><thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join('')}</tr></thead><tbody>${rows(pairs)}</tbody></table>`
}

function rows(pairs: readonly LinePair[]): string {
  const isNear = (at: number): boolean =>
    pairs.slice(Math.max(at - CONTEXT, 0), at + CONTEXT + 1).some(({ isSame }) => !isSame)
  let left = 0
  const lines = pairs.map((pair, at) => {
    // The request line says which request it is.
    if (at > 0 && !isNear(at)) {
      left++
      return ''
    }
    const gap = gapRow(left)
    left = 0
    return gap + row(pair)
  })
  return lines.join('') + gapRow(left)
}

function gapRow(lines: number): string {
  return lines === 0 ? '' : `<tr class="gap"><td colspan="2">${lines} more alike</td></tr>`
}

function row({ control, isSame, probe }: LinePair): string {
  const cells = [control ? piecesMarkup(control, 'del') : '', probe ? piecesMarkup(probe, 'ins') : '']
  return `<tr${isSame ? ' class="same"' : ''}>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`
}
