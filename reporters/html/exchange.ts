import type { RecordedExchange } from '../../harness/report/model.ts'
import { htmlText } from '../escape/html.ts'
import { duration, shortened } from '../view/writing.ts'
import { requestText, responseText } from './body.ts'

/** Bytes of each body that are shown of an exchange that failed nothing. */
const BODY_LIMIT = 1024
/** A curl line longer than that is not shown: it would hold more of the body than the page does. */
const CURL_LIMIT = 2048

/** An exchange, folded: a line that says what it was, then what was sent and what came back. */
export function exchangeMarkup(exchange: RecordedExchange): string {
  const { curl, error, request, response } = exchange
  const answered = response ? String(response.status) : 'no answer'
  const isShort = Buffer.byteLength(request.body) <= BODY_LIMIT && curl.length <= CURL_LIMIT
  const sent = isShort ? `<pre class="c">${htmlText(curl)}</pre>` : pre(requestText(request, BODY_LIMIT))
  const received = response ? responseText(response, BODY_LIMIT) : `No answer: ${error ?? 'no reason was recorded'}`
  return `<details class="x"><summary><b>${htmlText(request.method)}</b> <span>${htmlText(pathOf(request.url))}</span> → <b>${answered}</b> <small>${exchange.role}, ${duration(exchange.durationMs)}</small></summary>${sent}${pre(received)}</details>`
}

/** A line feed first in `pre` is dropped by the parser, so that the text keeps its own. */
export function pre(text: string): string {
  return `<pre>\n${htmlText(text)}</pre>`
}

function pathOf(url: string): string {
  return shortened(url.replace(/^[a-z]+:\/\/[^/?#]*/i, '') || '/', 200)
}
