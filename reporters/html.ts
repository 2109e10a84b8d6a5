import type { Report } from '../harness/report/model.ts'
import { htmlAttribute, htmlText } from './escape/html.ts'
import type { Exchanges } from './view/exchanges.ts'
import { contentSecurityPolicy, script, style } from './html/assets.ts'
import { baselineNotes } from './html/baseline.ts'
import { exchangeBook, type ExchangeBook } from './html/exchange-book.ts'
import { failureList } from './html/failures.ts'
import { masthead } from './html/masthead.ts'
import { matrix } from './html/matrix.ts'
import { operationHead, toolbar } from './html/requirement-list.ts'
import { requirement } from './html/requirement.ts'
import { runDetails } from './html/run-details.ts'
import { byOperation } from './view/by-operation.ts'

/** Bytes of markup for exchanges and for failures: with the rest well under 6 MB. */
const EXCHANGE_BUDGET = 4_400_000
const FAILURE_BUDGET = 900_000

/**
 * The report as one page that needs nothing but itself: no network, and no script to be read.
 * The exchanges are read once, and of each only what the page shows is kept.
 */
export async function* renderHtml(report: Report, exchanges: Exchanges): AsyncGenerator<string, void, undefined> {
  const book = await exchangeBook(exchanges, EXCHANGE_BUDGET)
  yield `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${htmlAttribute(contentSecurityPolicy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${htmlText(`${report.target.name}: ${report.verdict}`)}</title>
<link rel="icon" href="data:,">
<style>${style}</style></head>
<body><a class="skip" href="#main">Skip to the results</a>
`
  yield masthead(report)
  yield `<main id="main">\n${failureList(report)}${baselineNotes(report)}${matrix(report)}`
  yield* requirementList(report, book)
  yield `${runDetails(report)}</main>\n<script>${script}</script></body></html>\n`
}

function* requirementList(report: Report, book: ExchangeBook): Generator<string, void, undefined> {
  const failures = report.requirements.reduce((sum, result) => sum + result.failures.length, 0)
  const failureShare = FAILURE_BUDGET / Math.max(failures, 1)
  yield `<section aria-labelledby="requirements" id="list"><h2 id="requirements">Requirements <small>${report.requirements.length}</small></h2>\n${toolbar()}\n`
  for (const group of byOperation(report)) {
    yield `<section class="op">${operationHead(group)}\n`
    for (const result of group.results) {
      yield `${requirement(result, { report, failureShare, exchanges: book.get(result.id) ?? '' })}\n`
    }
    yield '</section>\n'
  }
  yield '</section>\n'
  const ownRequests = book.get(null)
  if (ownRequests !== undefined) {
    yield `<section aria-labelledby="errands"><h2 id="errands">Requests of the run itself</h2><details class="r"><summary>Liveness, waiting for jobs, clean-up</summary><div class="in">${ownRequests}</div></details></section>\n`
  }
}
