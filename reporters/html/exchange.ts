import { STATUS_CODES } from 'node:http'
import type {
  Failure,
  RecordedBody,
  RecordedExchange,
  RecordedRequest,
  RecordedResponse,
  Report,
  Story,
} from '../../harness/report/index.ts'
import { htmlText, shortened } from '../escape.ts'
import { joinedPieces, type LinePair, type Piece, requestDifference } from '../view/difference.ts'
import { type Exchanges, storyLines, wrongSign } from '../view/evidence.ts'
import { duration } from '../view/writing.ts'

const BODY_LIMIT = 1024
/** A curl line longer than that is not shown: it would hold more of the body than the page does. */
const CURL_LIMIT = 2048

/** An exchange, folded: a line that says what it was, then what was sent and what came back. */
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

export interface SentExchanges {
  readonly shown: string[]
  all: number
}

/** Reads the exchanges once and keeps of each only what is shown, by requirement; the run's own requests are under `null`. */
export async function byRequirement(
  exchanges: Exchanges,
): Promise<ReadonlyMap<string | null, SentExchanges>> {
  const book = new Map<string | null, SentExchanges>()
  for await (const exchange of exchanges) {
    const sent = book.get(exchange.requirement) ?? { shown: [], all: 0 }
    book.set(exchange.requirement, sent)
    sent.all++
    if (sent.shown.length < MOST) sent.shown.push(exchangeMarkup(exchange))
  }
  return book
}

/** Says how many exchanges are not shown, if there are any. */
export function moreExchanges(number: number): string {
  return number > 0 ? `<p class="x">and ${number} more: the HAR report has every exchange</p>` : ''
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
    ...(bodyEncoding ? ['base64 of bytes that are no text'] : []),
    ...(shown.length < body.length || bodyLength !== undefined
      ? [`cut; the whole body has ${all} bytes`]
      : []),
  ]
  return notes.length > 0 ? `${shown}\n[${notes.join('; ')}]` : shown
}

function firstBytes(bytes: Buffer, limit: number): string {
  let end = limit
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end)
}

/** Lines that are alike are shown so many before and after one that is not. */
const CONTEXT = 4

export function piecesMarkup(pieces: readonly Piece[], element: 'del' | 'ins' | 'mark'): string {
  return joinedPieces(pieces)
    .map(({ isMarked, text }) =>
      isMarked ? `<${element}>${htmlText(text)}</${element}>` : htmlText(text),
    )
    .join('')
}

/** The request that was granted beside the one that failed, with what they differ in marked; nothing if there is none. */
export function differenceTable({ control, exchange }: Failure, run: Report['run']): string {
  if (!control || !exchange) return ''
  const pairs = requestDifference(control.request, exchange.request, run)
  const { response } = exchange
  const heads = [
    `Granted: ${control.status}`,
    `The probe: ${response ? response.status : 'no answer'}`,
  ]
  return `<h4>The difference</h4><table class="diff"><thead><tr>${heads.map((head) => `<th scope="col">${head}</th>`).join('')}</tr></thead>${rows(pairs)}</table>`
}

/** The lines, those that differ and follow each other in a body of their own: on a phone each side of it stands together. */
function rows(pairs: readonly LinePair[]): string {
  const isNear = (at: number): boolean =>
    pairs.slice(Math.max(at - CONTEXT, 0), at + CONTEXT + 1).some(({ isSame }) => !isSame)
  let left = 0
  let isOpen: boolean | undefined
  const bodyOf = (isSame: boolean): string => {
    if (isSame === isOpen) return ''
    const end = isOpen === undefined ? '' : '</tbody>'
    isOpen = isSame
    return `${end}<tbody${isSame ? '' : ' class="d"'}>`
  }
  const lines = pairs.map((pair, at) => {
    // The request line says which request it is.
    if (at > 0 && !isNear(at)) {
      left++
      return ''
    }
    const gap = left > 0 ? bodyOf(true) + gapRow(left) : ''
    left = 0
    return gap + bodyOf(pair.isSame) + row(pair)
  })
  return `${lines.join('')}${left > 0 ? bodyOf(true) + gapRow(left) : ''}</tbody>`
}

function gapRow(lines: number): string {
  return lines === 0 ? '' : `<tr class="gap"><td colspan="2">${lines} more alike</td></tr>`
}

function row({ control, isSame, probe }: LinePair): string {
  const cells = [
    control ? piecesMarkup(control, 'del') : '',
    probe ? piecesMarkup(probe, 'ins') : '',
  ]
  return `<tr${isSame ? ' class="same"' : ''}>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`
}

/** What happened, a line each step; the wrong answer is marked. */
export function storyMarkup(story: Story): string {
  const lines = storyLines(story).map((line) =>
    line.includes(wrongSign) ? `<mark>${htmlText(line)}</mark>` : htmlText(line),
  )
  return `<h4>What happened</h4><pre tabindex="0">\n${lines.join('\n')}</pre>`
}
