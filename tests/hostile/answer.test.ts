import { expect, test, vi } from 'vitest'
import { responseOf } from '../support/response.ts'

const read = (body: string | Uint8Array, headers = {}) => responseOf(200, body, headers).json()

const nested = (depth: number, inner = '1'): string =>
  '{"a":['.repeat(depth) + inner + ']}'.repeat(depth)

const tooMuch = {
  ok: false,
  problem: 'the body contains more than 400,000 values, or more than 500 levels',
  unread: true,
}

test.each([251, 100_000])('a body nested twice %i deep is not read', (depth) => {
  expect(read(nested(depth))).toEqual(tooMuch)
})

test('what is not so deep is kept, large or small', () => {
  for (const size of [10, 100_000]) {
    const value = {
      list: Array.from({ length: size }, (_, at) => ({ at })),
      deep: JSON.parse(nested(249)) as unknown,
    }
    expect(read(JSON.stringify(value))).toEqual({ ok: true, value })
  }
})

test('members of Object.prototype are members like others', () => {
  const text = `{"__proto__": ${nested(200)}, "constructor": 1}`
  const json = read(text)
  expect(json.ok && Object.keys(json.value as object)).toEqual(['__proto__', 'constructor'])
  expect(({} as { a?: unknown }).a).toBeUndefined()
})

const notJson = 'the body is not JSON'
const cutShort = 'the body is truncated JSON'

test.each([
  ['nothing', '', 'the body is empty'],
  ['half a document', '{"a"', cutShort],
  ['an envelope without its last byte', '{"tpe": "NotFound", "errors": [], "extras": {}', cutShort],
  ['a document cut inside a text', '[{"a": "}]', cutShort],
  ['an array that is not closed, however deep', `${'['.repeat(100)}1${']'.repeat(99)}`, cutShort],
  ['a document and text after its end', '{"a": 1} and more', notJson],
  ['a line of a log', '[error] no database', notJson],
  ['a bracket too many, however deep', `${'['.repeat(100)}1${']'.repeat(101)}`, notJson],
  ['brackets of two kinds, however deep', `${'['.repeat(65)}1}${']'.repeat(64)}`, notJson],
  ['a byte order mark', Buffer.from('\ufeff{}'), 'the body begins with a byte order mark'],
  [
    'bytes that are not UTF-8',
    Buffer.from([0x22, 0xff, 0x22]),
    'the body is not UTF-8 (Content-Type: absent; first bytes: 22 ff 22)',
  ],
])('%s is no JSON', (_, body, problem) => {
  expect(read(body)).toEqual({ ok: false, problem })
})

test.each([
  ['with a byte order mark', '\ufeff{"a": 1}', 'ff fe 7b 00'],
  ['without one', '{"a": 1}', '7b 00 22 00'],
])('UTF-16 %s is named, with its label', (_, text, bytes) => {
  const headers = { 'Content-Type': 'application/json; charset=utf-16' }
  expect(read(Buffer.from(text, 'utf16le'), headers)).toEqual({
    ok: false,
    problem: `the body is UTF-16, not UTF-8 (Content-Type: application/json; charset=utf-16; first bytes: ${bytes})`,
  })
})

test('brackets in texts are no levels', () => {
  const value = { text: '['.repeat(200_000), quoted: '\\"['.repeat(100), list: ['}', ']', '\\'] }
  expect(read(JSON.stringify(value))).toEqual({ ok: true, value })
})

test('texts end where they end, whatever quotes and backslashes are in them', () => {
  const deep = `${'['.repeat(70)}${']'.repeat(70)}`
  const pieces = ['"', '\\', deep, '/']
  for (let number = 0; number < 4 ** 6; number++) {
    const digits = number.toString(4).padStart(6, '0')
    const texts = Array.from(digits, (digit) => pieces[Number(digit)])
      .join('')
      .split('/')
    expect(read(JSON.stringify(texts))).toEqual({ ok: true, value: texts })
  }
})

test('a body of more than 400,000 values is not read', () => {
  const entries = Array.from({ length: 400_000 }, (_, at): [string, number] => [
    at.toString(36),
    at,
  ])
  const parse = vi.spyOn(JSON, 'parse')
  expect(read(JSON.stringify(Array(400_000).fill(1)))).toEqual(tooMuch)
  expect(read(`[${Array(200_001).fill('{}').join()}]`)).toEqual(tooMuch)
  expect(read(`{${entries.map(([key]) => `"${key}":0`).join()}}`)).toEqual(tooMuch)
  expect(parse).not.toHaveBeenCalled()
  parse.mockRestore()
  expect(read(JSON.stringify(Array(399_998).fill(1))).ok).toBe(true)
  expect(read(JSON.stringify({ text: ',[{'.repeat(400_000) })).ok).toBe(true)
})
