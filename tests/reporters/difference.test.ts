import { expect, test } from 'vitest'
import type { Failure, RecordedRequest } from '../../harness/report/report-schema.ts'
import {
  type Piece,
  requestDifference,
  responseDifference,
} from '../../reporters/view/difference.ts'
import { failure } from '../gates/results.ts'

const nothingNew = { nonce: 'k3x9a1', created: [] }

function request(body: unknown, change: Partial<RecordedRequest> = {}): RecordedRequest {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const headers = { 'content-type': 'application/json', 'content-length': `${text.length}` }
  return { method: 'POST', url: 'https://example.com/v1/translate', headers, body: text, ...change }
}

/** Marked pieces in brackets. */
const shown = (pieces: readonly Piece[] | undefined) =>
  pieces?.map(({ isMarked, text }) => (isMarked ? `[${text}]` : text)).join('')
const differing = (
  control: RecordedRequest,
  probe: RecordedRequest,
  run: Parameters<typeof requestDifference>[2] = nothingNew,
) =>
  requestDifference(control, probe, run)
    .filter(({ isSame }) => !isSame)
    .map((pair) => [shown(pair.control), shown(pair.probe)])

test.each<[string, RecordedRequest, RecordedRequest, (string | undefined)[][]]>([
  [
    'a value',
    request({ text: 'Tea', to: 'de' }),
    request({ text: '', to: 'de' }),
    [['  "text": "[Tea]",', '  "text": "",']],
  ],
  [
    'a member that is left out',
    request({ a: 1, b: 2 }),
    request({ a: 1 }),
    [
      ['  "a": 1[,]', '  "a": 1'],
      ['[  "b": 2]', undefined],
    ],
  ],
  [
    'a comma in text that is not JSON',
    request('{"a":1}'),
    request('{"a":1,}'),
    [['{"a":1}', '{"a":1[,]}']],
  ],
  [
    'a header',
    request({}, { headers: { authorization: 'Bearer $KEY', accept: '*/*' } }),
    request({}, { headers: { accept: '*/*' } }),
    [['[authorization: Bearer $KEY]', undefined]],
  ],
  [
    'a path',
    request('', { url: 'http://a/v1/files/f-1' }),
    request('', { url: 'http://a/v1/files/f-2' }),
    [['POST /v1/files/f-[1]', 'POST /v1/files/f-[2]']],
  ],
])('of two requests %s is marked, and nothing else', (_, control, probe, lines) => {
  expect(differing(control, probe)).toEqual(lines)
})

test('what no two requests have alike is no difference', () => {
  const names = [
    request({ name: 'Teak3x90001', n: 1 }),
    request({ name: 'Teak3x9000z', n: true }),
  ] as const
  expect(differing(...names)).toEqual([['  "n": [1]', '  "n": [true]']])
  const created = ['file-aaa1', 'file-bbb2'].map((id) => ({ operation: 'files.upload', id }))
  const files = [
    request({ file: 'file-aaa1', n: 1 }),
    request({ file: 'file-bbb2', n: 2 }),
  ] as const
  expect(differing(...files, { ...nothingNew, created })).toEqual([['  "n": [1]', '  "n": [2]']])
  // An id that is there on one side only is what differs.
  expect(
    differing(request({ file: 'file-aaa1' }), request({ file: 'file-zzz9' }), {
      ...nothingNew,
      created,
    }),
  ).toHaveLength(1)
})

test('bodies that have nothing in common are compared no further than most edits', () => {
  const body = (of: string) =>
    request(JSON.stringify(Array.from({ length: 700 }, (_, at) => `${of}${at * 7919}`)))
  const pairs = requestDifference(body('a'), body('b'), nothingNew)
  expect(pairs.length).toBeGreaterThan(600)
  // Not even the request line, which is the same, was looked for among them.
  expect(pairs.filter(({ isSame }) => isSame)).toEqual([])
})

function answered(body: unknown, at?: string): Failure {
  const { exchange } = failure()
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return failure({
    ...(at === undefined ? {} : { at }),
    exchange: { ...exchange!, response: { status: 404, headers: {}, body: text } },
  })
}

test('a response is indented, and the member marked that is wrong or missing', () => {
  const marked = (body: unknown, at?: string) => shown(responseDifference(answered(body, at)))
  expect(marked({ tpe: 'x', errors: [] }, '/tpe')).toBe(
    '404 Not Found\n\n{\n  ["tpe": "x"],\n  "errors": []\n}',
  )
  expect(marked({ errors: [{ key: 1 }] }, '/errors/0/key')).toContain(
    '    {\n      ["key": 1]\n    }',
  )
  expect(marked({ tpe: 'x' }, '/extras')).toBe(
    '404 Not Found\n\n{\n  "tpe": "x"\n  ["extras" is missing]\n}',
  )
  expect(marked({ tpe: 'x' })).not.toContain('[')
  expect(marked([1], '/tpe')).toBe('404 Not Found\n\n[\n  1\n]')
  expect(marked('<html>', '/tpe')).toBeUndefined()
})

test('what is nested without end is shown as it came', () => {
  const deep = `${'['.repeat(4000)}${']'.repeat(4000)}`
  expect(responseDifference(answered(deep, '/tpe'))).toBeUndefined()
  expect(differing(request(deep), request(`${deep}1`))).toEqual([
    [expect.any(String), expect.any(String)],
  ])
})
