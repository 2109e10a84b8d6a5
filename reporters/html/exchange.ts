import { shortened } from '../escape/visible.ts'
import type { RecordedBody, RecordedExchange, RecordedRequest, RecordedResponse } from '../../harness/report/model.ts'
import { htmlText } from '../escape/html.ts'
import { duration } from '../view/writing.ts'
import { STATUS_CODES } from 'node:http'

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

/** A request as text: its line, its headers, at most `limit` bytes of its body and half as many characters of a header. */
export function requestText(request: RecordedRequest, limit: number): string {
  return message(`${request.method} ${shortened(request.url, limit)}`, request, limit)
}

/** An answer as text, likewise. */
export function responseText(response: RecordedResponse, limit: number): string {
  return message(`${response.status} ${STATUS_CODES[response.status] ?? ''}`.trimEnd(), response, limit)
}

function message(line: string, { headers, ...body }: RecordedRequest | RecordedResponse, limit: number): string {
  const lines = Object.entries(headers).map(([name, value]) => shortened(`${name}: ${value}`, limit / 2))
  const head = [line, ...lines].join('\n')
  if (body.body === '') return head
  return `${head}\n\n${bodyText(body, limit)}`
}

function bodyText({ body, bodyEncoding, bodyLength }: RecordedBody, limit: number): string {
  const bytes = Buffer.from(body)
  const all = bodyLength ?? Buffer.byteLength(body, bodyEncoding ?? 'utf8')
  const shown = bytes.length <= limit ? body : firstBytes(bytes, limit)
  const notes = [
    ...(bodyEncoding ? ['base64 of bytes that are no text'] : []),
    ...(shown.length < body.length || bodyLength !== undefined ? [`cut; the whole body has ${all} bytes`] : []),
  ]
  return notes.length > 0 ? `${shown}\n[${notes.join('; ')}]` : shown
}

/** The text of the first `limit` bytes, without a character that is not whole. */
function firstBytes(bytes: Buffer, limit: number): string {
  let end = limit
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end)
}
