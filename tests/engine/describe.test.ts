import { expect, test } from 'vitest'
import { responseOf } from '../support/response.ts'
import { describeResponse } from '../../harness/journal/describe.ts'
import type { Exchange } from '../../harness/journal/exchange.ts'
import type { NoResponse } from '../../harness/http/message.ts'

const times = { sentAt: 0, endedAt: 1 }
const request = { method: 'GET', url: 'http://127.0.0.1/v1/files', headers: {}, body: '' }

function received(status: number, body: string, type = 'application/json'): Exchange {
  return {
    response: responseOf(status, body, { 'content-type': type }),
    recorded: () => ({ request, response: { status, headers: {}, body }, curl: '' }),
    probe: {
      operation: 'files.upload',
      headers: [{ name: 'content-type', value: 'application/pdf' }],
    },
    throttled: false,
    ...times,
  } as unknown as Exchange
}

function silent(
  cause: NoResponse['cause'],
  message: string,
  more: Pick<NoResponse, 'detail'> = {},
): Exchange {
  const noResponse: NoResponse = {
    kind: 'no-answer',
    cause,
    message,
    staleConnection: false,
    ...more,
    ...times,
  }
  return {
    noResponse,
    recorded: () => ({ request, curl: '' }),
    throttled: false,
    ...times,
  } as unknown as Exchange
}

const envelope = (tpe: string, description?: string): string =>
  JSON.stringify({ tpe, errors: description === undefined ? [] : [{ description }], extras: {} })

test.each([
  ['in ASCII', '"key \\u00fcber weg"', '"key über weg"'],
  ['with slashes', '"see https:\\/\\/docs\\/x"', '"see https://docs/x"'],
])('a description that JSON writes %s is reported', (_what, written, told) => {
  const body = `{"tpe": "BadRequest", "errors": [{"description": ${written}}], "extras": {}}`
  expect(describeResponse(received(400, body))).toBe(`400 BadRequest ${told}`)
})

test.each([
  ['the name', received(404, envelope('NotFound')), '404 NotFound'],
  [
    "the target's own words",
    received(404, envelope('NotFound', 'No such file')),
    '404 NotFound "No such file"',
  ],
  [
    'an envelope in a success',
    received(200, envelope('BadRequest')),
    '200 with an error envelope: BadRequest',
  ],
  ['a name with a blank', received(400, envelope('BadRequest ')), '400 "BadRequest "'],
  [
    'a byte order mark',
    received(400, `\ufeff${envelope('BadRequest')}`),
    `400, but the body begins with a byte order mark: ${envelope('BadRequest')}`,
  ],
  [
    'UTF-16',
    received(400, Buffer.from('{}', 'utf16le').toString()),
    '400, but the body is UTF-16, not UTF-8 (Content-Type: application/json; first bytes: 7b 00 7d 00): {\0}\0',
  ],
  ['half a document', received(400, '{"tpe"'), '400, but the body is truncated JSON: {"tpe"'],
  ['no document', received(400, '{"tpe": x}'), '400, but the body is not JSON: {"tpe": x}'],
  ['no body', received(502, ''), '502 without a body'],
  ['another object', received(404, '{"error":"none"}'), '404 {"error":"none"}'],
  [
    'a page',
    received(
      502,
      '<html><head><title>502</title><style>a{}</style></head><body><h1>Bad &amp; gone</h1></body></html>',
      'text/html',
    ),
    '502 with a page: 502, Bad & gone',
  ],
  [
    'a page without a title',
    received(
      503,
      '<html><body><h1>503 Service Unavailable</h1>\nNo server is available.\n</body></html>',
      'text/html',
    ),
    '503 with a page: 503 Service Unavailable, No server is available.',
  ],
  [
    'a title that other words begin with',
    received(200, '<html><title>Sign in</title><p>Sign in here', 'text/html'),
    '200 with a page: Sign in, Sign in here',
  ],
  [
    'escapes of no character as they are',
    received(500, '<html><title>&#xzz; &constructor; &#39;</title>', 'text/html'),
    "500 with a page: &#xzz; &constructor; '",
  ],
  [
    'a limit of the gateway',
    received(413, '<html><title>413 Too Large</title></html>', 'text/html'),
    '413 with a page: 413 Too Large; the body of this upload is larger than your gateway allows',
  ],
  ["the service's own limit", received(413, envelope('PayloadTooLarge')), '413 PayloadTooLarge'],
  ['a success as it is', received(200, 'fine', 'text/plain'), '200 fine'],
])('shows %s', (_, exchange, shown) => {
  expect(describeResponse(exchange)).toBe(shown)
})

test('says once that no answer came, and tells an answer that is not HTTP from that', () => {
  const late = silent('timeout', 'no answer within 5 ms (limits.timeoutMs)', {
    detail: 'nothing-came',
  })
  expect(describeResponse(late)).toBe('no answer within 5 ms (limits.timeoutMs)')
  expect(describeResponse(silent('reset', 'the connection was closed'))).toBe(
    'no answer: the connection was closed',
  )
  expect(describeResponse(silent('malformed', 'the answer is not HTTP: x'))).toBe(
    'the answer is not HTTP: x',
  )
})
