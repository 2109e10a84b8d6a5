import { STATUS_CODES } from 'node:http'
import type {
  RecordedBody,
  RecordedExchange,
  RecordedRequest,
  RecordedResponse,
  Story,
} from '../../harness/report/index.ts'
import { htmlText, shortened, duration } from '../text.ts'
import { type Exchanges, storyLines, wrongSign } from '../view/evidence.ts'

const BODY_LIMIT = 1024
/** A longer curl line is not shown: it would contain more of the body than the page does. */
const CURL_LIMIT = 2048

function exchangeMarkup(exchange: RecordedExchange): string {
  const { curl, error, request, response } = exchange
  const answered = response ? String(response.status) : 'no answer'
  const isShort = Buffer.byteLength(request.body) <= BODY_LIMIT && curl.length <= CURL_LIMIT
  const sent = isShort
    ? `<pre class="c">${htmlText(curl)}</pre>`
    : pre(requestText(request, BODY_LIMIT))
  const received = response
    ? responseText(response, BODY_LIMIT)
    : `No answer: ${error ?? 'no reason was recorded'}`
  return `<details class="x"><summary><b>${htmlText(request.method)}</b> <span>${htmlText(pathOf(request.url))}</span> → <b>${answered}</b> <small>${exchange.role}, ${duration(exchange.durationMs)}</small></summary>${sent}${pre(received)}</details>`
}

const MOST = 50

/**
 * Reads the exchanges once and keeps the markup of the first ones of each requirement; the run's own are only in the HAR.
 * @param room bytes of markup for each
 */
export async function exchangesByRequirement(
  exchanges: Exchanges,
  room: number,
): Promise<ReadonlyMap<string, string>> {
  const book = new Map<string, { shown: string[]; bytes: number; all: number }>()
  for await (const exchange of exchanges) {
    if (exchange.requirement === null) continue
    const sent = book.get(exchange.requirement) ?? { shown: [], bytes: 0, all: 0 }
    book.set(exchange.requirement, sent)
    sent.all++
    // Those after one that is not shown are not shown either.
    if (sent.shown.length === MOST || sent.shown.length < sent.all - 1) continue
    const markup = exchangeMarkup(exchange)
    sent.bytes += Buffer.byteLength(markup)
    if (sent.bytes <= room) sent.shown.push(markup)
  }
  return new Map(
    [...book].map(([id, { all, shown }]) => {
      const more = all - shown.length
      const rest = `<p class="x">and ${more} more: the HAR report has every exchange</p>`
      return [id, [...shown, ...(more > 0 ? [rest] : [])].join('\n')]
    }),
  )
}

/** Parsers drop the first line feed in `pre`, so one is added. */
export function pre(text: string): string {
  return `<pre>\n${htmlText(text)}</pre>`
}

function pathOf(url: string): string {
  return shortened(url.replace(/^[a-z]+:\/\/[^/?#]*/i, '') || '/', 200)
}

/** A request as text: request line, headers, at most `limit` bytes of body and half as many characters per header. */
export function requestText(request: RecordedRequest, limit: number): string {
  return message(`${request.method} ${shortened(request.url, limit)}`, request, limit)
}

export function responseText(response: RecordedResponse, limit: number): string {
  return message(
    `${response.status} ${STATUS_CODES[response.status] ?? ''}`.trimEnd(),
    response,
    limit,
  )
}

function message(
  line: string,
  { headers, ...body }: RecordedRequest | RecordedResponse,
  limit: number,
): string {
  const lines = Object.entries(headers).map(([name, value]) =>
    shortened(`${name}: ${value}`, limit / 2),
  )
  const head = [line, ...lines].join('\n')
  if (body.body === '') return head
  return `${head}\n\n${bodyText(body, limit)}`
}

function bodyText({ body, bodyEncoding, bodyLength }: RecordedBody, limit: number): string {
  const bytes = Buffer.from(body)
  const all = bodyLength ?? Buffer.byteLength(body, bodyEncoding ?? 'utf8')
  const shown = bytes.length <= limit ? body : firstBytes(bytes, limit)
  const notes = [
    ...(bodyEncoding ? ['bytes as base64'] : []),
    ...(shown.length < body.length || bodyLength !== undefined
      ? [`truncated; the whole body has ${all} bytes`]
      : []),
  ]
  return notes.length > 0 ? `${shown}\n[${notes.join('; ')}]` : shown
}

function firstBytes(bytes: Buffer, limit: number): string {
  let end = limit
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end)
}

export function storyMarkup(story: Story): string {
  const lines = storyLines(story).map((line) =>
    line.includes(wrongSign) ? `<mark>${htmlText(line)}</mark>` : htmlText(line),
  )
  return `<h4>What happened</h4><pre tabindex="0">\n${lines.join('\n')}</pre>`
}
