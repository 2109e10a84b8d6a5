import type { Report } from '../harness/report/index.ts'
import { htmlText, capital } from './text.ts'
import type { Exchanges } from './view/evidence.ts'
import { pageHead, script, sectionHead } from './html/assets.ts'
import { failureList, stepList } from './html/lists.ts'
import { masthead, runDetails } from './html/overview.ts'
import { operationHead, toolbar, requirement } from './html/requirement.ts'
import { baselineEntries, byOperation, standingOf } from './view/standing.ts'
import { exchangesByRequirement } from './html/exchange.ts'

/** Bytes of markup for exchanges and for failures; the page stays well under 6 MB. */
const EXCHANGE_BUDGET = 4_400_000
const FAILURE_BUDGET = 900_000

/**
 * The report as one self-contained page, readable without scripts. Exchanges are read once, and only what the page
 * shows is kept.
 */
export async function* renderHtml(
  report: Report,
  exchanges: Exchanges,
): AsyncGenerator<string, void, undefined> {
  const sending = report.requirements.filter((one) => one.cases > 0).length
  const book = await exchangesByRequirement(exchanges, EXCHANGE_BUDGET / Math.max(sending, 1))
  yield `${pageHead(`${report.target.name}: ${standingOf(report).word}`)}
<body><a class="skip" href="#main">Skip to the results</a>
`
  yield masthead(report)
  yield `<main id="main">\n${failureList(report)}${baselineNotes(report)}${stepList(report)}`
  yield* requirementList(report, book)
  yield `${runDetails(report)}</main>\n<script>${script}</script></body></html>\n`
}

function* requirementList(
  report: Report,
  book: ReadonlyMap<string, string>,
): Generator<string, void, undefined> {
  const failures = report.requirements.reduce((sum, result) => sum + result.failures.length, 0)
  const failureShare = FAILURE_BUDGET / Math.max(failures, 1)
  yield `<section aria-labelledby="requirements" id="list"><h2 id="requirements">Requirements <small>${report.requirements.length}</small></h2>\n${toolbar(report)}\n`
  for (const group of byOperation(report)) {
    yield `<section class="op">${operationHead(group)}\n`
    for (const result of group.results) {
      yield `${requirement(result, { report, failureShare, exchanges: book.get(result.id) ?? '' })}\n`
    }
    yield '</section>\n'
  }
  yield '</section>\n'
}

function baselineNotes(report: Report): string {
  // Expected failures are in the list of failures.
  const entries = baselineEntries(report).filter((one) => one.state !== 'failed as expected')
  if (entries.length === 0) return ''
  const lines = entries.map(
    ({ id, state, why = '' }) =>
      `<li><b>${capital(state)}</b> <code>${htmlText(id)}</code>${why && `: ${htmlText(why)}`}</li>`,
  )
  const file = htmlText(report.run.baseline!.file)
  return `${sectionHead('baseline', 'Baseline', file)}<ul class="plain">${lines.join('')}</ul></section>\n`
}
