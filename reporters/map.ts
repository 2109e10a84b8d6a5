import type { Report } from '../harness/report/index.ts'
import { wordAndMode } from './badge.ts'
import { htmlText, shortened } from './escape.ts'
import { mapSentence, operationMap, type Place, states } from './view/operation-map.ts'
import { familySentence, standingOf } from './view/standing.ts'

const COLUMNS = 4
const [WIDTH, HEIGHT, GAP] = [204, 52, 8]
const MARGIN = 16
const TOP = 68
const LONGEST_NAME = 48

/** Light and dark, by the state's tone: text of the sign, and what is behind it. */
const style = `
text { font: 14px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; fill: #1c2126 }
.h { font-size: 18px; font-weight: 650 } .s { fill: #575f68; font-size: 13px } .g { font-weight: 700 }
.page { fill: #f7f7f5 } .p rect { fill: #e2f1e7 } .f rect { fill: #fbe6e3 } .m rect { fill: #faefd2 } .n rect { fill: #ecedea }
.p .g { fill: #1c6b40 } .f .g { fill: #a8261c } .m .g { fill: #735000 } .n .g, .n text { fill: #575f68 }
@media (prefers-color-scheme: dark) {
  text { fill: #e7e9ea } .s { fill: #a2a9b0 } .page { fill: #121417 }
  .p rect { fill: #17301f } .f rect { fill: #3c1b18 } .m rect { fill: #352a10 } .n rect { fill: #272b30 }
  .p .g { fill: #7fd0a0 } .f .g { fill: #ff9d92 } .m .g { fill: #e6be62 } .n .g, .n text { fill: #a2a9b0 }
}`

/** The 17 operations as a picture for a page that somebody shows: which are built, failing, not tested, absent. */
export function renderMap(report: Report): string {
  const places = operationMap(report)
  const width = 2 * MARGIN + COLUMNS * WIDTH - GAP
  const height = TOP + Math.ceil(places.length / COLUMNS) * HEIGHT + MARGIN - GAP
  const name = htmlText(shortened(report.target.name, LONGEST_NAME))
  const standing = htmlText(wordAndMode(report, standingOf(report)))
  const sentence = mapSentence(places)
  const list = places.map(({ operation, word }) => `${operation}: ${word}`).join(', ')
  const verdicts = familySentence(report)
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="t d"><title id="t">${name}: ${standing}, ${sentence}</title><desc id="d">${list}${verdicts === undefined ? '' : `; ${verdicts}`}</desc><style>${style}</style>
<rect class="page" width="${width}" height="${height}" rx="12"/>
<text class="h" x="${MARGIN}" y="30">${name}</text><text class="s" x="${MARGIN}" y="52">${standing}; ${sentence}</text>
${places.map(tile).join('\n')}
</svg>
`
}

function tile({ detail, operation, state, word }: Place, at: number): string {
  const { sign, tone } = states[state]
  const [x, y] = [MARGIN + (at % COLUMNS) * WIDTH, TOP + Math.floor(at / COLUMNS) * HEIGHT]
  const below = detail === '' ? word : `${word}, ${detail}`
  return `<g class="${tone}" transform="translate(${x} ${y})"><rect width="${WIDTH - GAP}" height="${HEIGHT - GAP}" rx="8"/><text class="g" x="12" y="27">${sign}</text><text x="32" y="19">${operation}</text><text class="s" x="32" y="36">${below}</text></g>`
}
