import type {
  RecordedBody,
  RecordedExchange,
  RecordedHeaders,
  RecordedResponse,
  Report,
} from '../harness/report/index.ts'
import { json } from './text.ts'
import type { Exchanges } from './view/evidence.ts'
import { runNotes, seedLine, standingOf } from './view/standing.ts'
import { STATUS_CODES } from 'node:http'

/** Every exchange of the run as HAR 1.2, streamed: one is in memory at a time. */
export async function* renderHar(
  report: Report,
  exchanges: Exchanges,
): AsyncGenerator<string, void, undefined> {
  const { suite } = report
  const comment = [standingOf(report).sentence, ...runNotes(report), seedLine(report)].join('; ')
  const head = { version: '1.2', creator: { name: suite.name, version: suite.version }, comment }
  yield `{"log":${json(head).slice(0, -1)},"entries":[`
  let separator = '\n'
  for await (const exchange of exchanges) {
    yield separator + json(entry(exchange))
    separator = ',\n'
  }
  yield '\n]}}\n'
}

function entry(exchange: RecordedExchange) {
  const { request, response } = exchange
  const contentType = valueOf(request.headers, 'content-type')
  const httpVersion = `HTTP/${exchange.httpVersion ?? '1.1'}`
  return {
    startedDateTime: exchange.startedAt,
    time: exchange.durationMs,
    request: {
      method: request.method,
      url: request.url,
      httpVersion,
      cookies: [],
      headers: headers(request.headers),
      queryString: queryString(request.url),
      ...((request.body !== '' || contentType !== undefined) && {
        postData: {
          mimeType: contentType ?? '',
          ...text(request),
          // HAR 1.2 has an encoding only for answers.
          ...(request.bodyEncoding && { _encoding: request.bodyEncoding }),
        },
      }),
      headersSize: -1,
      bodySize: sizeOf(request),
    },
    // Browsers write an unanswered request so: status 0, the reason in `_error`.
    response: {
      ...responseEntry(response ?? { status: 0, headers: {}, body: '' }, httpVersion),
      ...(!response && { _error: exchange.error ?? 'no answer' }),
    },
    cache: {},
    timings: { send: 0, wait: exchange.durationMs, receive: 0 },
    _n: exchange.n,
    _requirement: exchange.requirement,
    _operation: exchange.operation,
    _role: exchange.role,
  }
}

function responseEntry(response: RecordedResponse, httpVersion: string) {
  return {
    status: response.status,
    statusText: STATUS_CODES[response.status] ?? '',
    httpVersion,
    cookies: [],
    headers: headers(response.headers),
    content: {
      size: sizeOf(response),
      mimeType: valueOf(response.headers, 'content-type') ?? '',
      ...text(response),
      ...(response.bodyEncoding ? { encoding: response.bodyEncoding } : {}),
    },
    redirectURL: valueOf(response.headers, 'location') ?? '',
    headersSize: -1,
    bodySize: -1,
  }
}

function text(recorded: RecordedBody) {
  const { body, bodyLength, bodySha256 } = recorded
  if (bodySha256 === undefined) return { text: body }
  const comment = `cut: the whole body has ${bodyLength} bytes, SHA-256 ${bodySha256}`
  return { text: body, comment, _cut: true, _bodyLength: bodyLength, _bodySha256: bodySha256 }
}

function sizeOf(recorded: RecordedBody): number {
  return recorded.bodyLength ?? Buffer.byteLength(recorded.body, recorded.bodyEncoding ?? 'utf8')
}

function headers(recorded: RecordedHeaders) {
  return Object.entries(recorded).map(([name, value]) => ({ name, value }))
}

function valueOf(recorded: RecordedHeaders, name: string): string | undefined {
  return Object.entries(recorded).find(([key]) => key.toLowerCase() === name)?.[1]
}

function queryString(url: string) {
  const query = url.split('#')[0]!.split('?').slice(1).join('?')
  return [...new URLSearchParams(query)].map(([name, value]) => ({ name, value }))
}
