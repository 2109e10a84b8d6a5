import { expect, test } from 'vitest'
import { curlOf, recordBody } from '../../harness/recording/recorder.ts'
import { type How, judge } from '../engine/networks.ts'

const request = { method: 'GET', url: 'http://target.test/v1/files', headers: {}, body: '' }
const plain = "curl -sS -i -X GET --path-as-is 'http://target.test/v1/files'"

test.each([
  ['a request that is sent as it was', request, ''],
  [
    'a body that is cut',
    { ...request, bodyLength: 99_999 },
    '  # the body is truncated here: 99999 bytes in all',
  ],
  [
    'a key that is reported in words',
    { ...request, headers: { authorization: 'Bearer [the full key in the other letter case]' } },
    '  # its key is not available: the words in brackets describe it',
  ],
  [
    'a key in the address',
    { ...request, url: 'http://target.test/v1/files?key=[redacted]' },
    '  # [redacted] replaces a key',
  ],
  [
    'a key that the shell has',
    { ...request, headers: { authorization: 'Bearer $CONFORM_API_KEY' } },
    '',
  ],
])('what the curl line remarks on %s', (_, recorded, remark) => {
  const line = curlOf(recorded, new Set(['authorization']))
  expect(line.startsWith('curl ')).toBe(true)
  expect(line.replace(/^[^#]*?(?= {2}#|$)/, '')).toBe(remark)
  if (recorded === request) expect(line).toBe(plain)
})

test.each([
  ['a byte order mark', '\ufeff{}'],
  ['a line separator', '{"a":"one\u2028two"}'],
])(
  'the curl line sends a body with %s, which nobody sees, as the bytes that were sent',
  (_, body) => {
    const line = curlOf({ ...request, method: 'POST', body }, new Set())
    const bytes = Buffer.from(body).toString('base64')
    expect(line.startsWith(`printf %s '${bytes}' | base64 -d | curl `)).toBe(true)
    expect(line.endsWith(' --data-binary @-')).toBe(true)
  },
)

/** The exchange that the reference fails a requirement with. */
async function exchangeOf(id: string, how: How = {}) {
  const { of } = await judge([id], { reference: { defects: [id] }, ...how })
  return of(id).failures[0]!.exchange!
}

test.each([
  ['a request that was sent without a User-Agent goes without that of curl', '', true],
  ['any other goes with the one of curl', undefined, false],
])('%s', async (_, value, isWithout) => {
  const exchange = await exchangeOf('files.list/401-malformed-key', {
    change: (file) => ({
      ...file,
      ...(value !== undefined && { headers: { 'user-agent': value } }),
    }),
  })
  expect(exchange.curl.includes('user-agent')).toBe(isWithout)
  expect(exchange.request.headers).not.toHaveProperty('user-agent')
})

test.each([
  ['that clean-up removes', false, 'and was removed since'],
  ['on a server that the run started', true, 'and its server has ended'],
])('a failure about an object %s says so', async (_, endsTarget, words) => {
  const how = { endsTarget, limits: { settleMs: 50 } }
  const { curl } = await exchangeOf('graphs.add-file/409-already-in-graph', how)
  expect(curl).toMatch(
    new RegExp(` {2}# files\\.upload made \\S+ for this run, ${words}: the rerun`),
  )
})

test('a key that is cut is written in words, and as a shell makes it in the curl line alone', async () => {
  const id = 'files.list/401-invalid-key'
  const { of } = await judge([id], { reference: { defects: [id] } })
  const cut = of(id).failures.find((one) => one.exchange!.curl.includes('${'))?.exchange
  expect(cut?.curl).toMatch(/-H "authorization: Bearer \$\{CONFORM_API_KEY[%}]/)
  expect(cut?.curl).not.toContain('its key is not at hand')
  expect(cut?.request.headers['authorization']).toMatch(/^Bearer \[the full key .*\]$/)
})

test('a failure of a scenario that is prepared by other requests says so', async () => {
  const { curl } = await exchangeOf('web-search.run/503-search-down')
  const remark = "  # first comes the scenario's `before` request: the rerun command sends it too"
  expect(curl.endsWith(remark)).toBe(true)
})

test('a large body is cut, and says so', () => {
  const body = `${' '.repeat(100_000)}end`
  const recorded = { ...request, ...recordBody(Buffer.from(body), (text) => text) }
  expect(curlOf(recorded, new Set())).toContain('the body is truncated here: 100003 bytes in all')
})
