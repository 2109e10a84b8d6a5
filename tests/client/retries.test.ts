/** How a client comes back after an error: the same call again, on whatever connection, after which pause. */
import { expect, test } from 'vitest'
import { envelope, type Exchange, judged } from './exchanges.ts'

const files = { path: '/v1/files' }
const translate = { path: '/v1/translate', sent: { text: 'x' } }
const limited = (at: number, more: Partial<Exchange> = {}): Exchange => ({
  ...{ ...files, status: 429, answer: envelope('QuotaExceeded'), at, ms: 1 },
  ...more,
})
const after = (seconds: number | string) => ({ answered: { 'retry-after': String(seconds) } })
const granted = (at: number, more: Partial<Exchange> = {}): Exchange => ({ ...files, at, ...more })
const others = [
  { path: '/v1/files', at: 3, ms: 5, opened: 1 },
  { path: '/v1/files/a', at: 4, ms: 8, opened: 2 },
]

test.each<[what: string, exchanges: Exchange[], told: string[]]>([
  [
    'six times without a pause, on connections in turn',
    [...Array.from({ length: 6 }, (_, at) => limited(2 * at, { opened: -(at % 2) })), granted(12)],
    ['fault: waiting'],
  ],
  [
    'six times without a pause, by a machine that was busy once',
    [...[0, 45, 50, 55, 60, 66].map((at) => limited(at)), granted(70)],
    ['fault: waiting'],
  ],
  ['once without a pause', [limited(0), granted(2)], ['fault: waiting']],
  ['once after a pause', [limited(0), granted(80)], []],
  [
    'pauses that are drawn: one is short, the sum is not',
    [limited(0), limited(4), limited(70), granted(300)],
    [],
  ],
  ['never: another file is asked for', [limited(0), granted(234, { path: '/v1/files/b' })], []],
  [
    'never: another text is translated at once',
    [limited(0, { ...translate, status: 503 }), granted(2, { ...translate, sent: { text: 'y' } })],
    [],
  ],
  [
    'with the same text at once',
    [limited(0, { ...translate, status: 503 }), granted(2, translate)],
    ['fault: waiting'],
  ],
  ['before Retry-After is over', [limited(0, after(2)), granted(1900)], ['fault: waiting']],
  ['when Retry-After is over', [limited(0, after(2)), granted(2001)], []],
  ['by a timer that goes off a little early', [limited(0, after(1)), granted(960)], []],
  [
    'before the date of Retry-After',
    [
      limited(0, {
        answered: {
          'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT',
          date: 'Thu, 01 Jan 2026 00:00:20 GMT',
        },
      }),
      granted(5000),
    ],
    ['fault: waiting'],
  ],
  [
    'each too soon by its own Retry-After',
    [limited(0, after(1)), limited(100, after(1)), granted(200)],
    ['fault: waiting'],
  ],
  [
    'after a page of a gateway, at once',
    [limited(0, { status: 502, answer: '<html>' }), granted(2)],
    ['fault: waiting'],
  ],
  ['after a lost answer, at once', [limited(0, { status: 0 }), granted(2)], []],
  [
    'after the lost answer of a POST',
    [limited(0, { ...translate, status: 0 }), granted(2, translate)],
    ['remark: sent-twice'],
  ],
  [
    'after a POST that the client broke off itself',
    [limited(0, { ...translate, status: 0, isAborted: true }), granted(1, translate)],
    [],
  ],
  [
    'several at once: another of them was on its way, the one that was refused waits',
    [...others, limited(10, after(1)), granted(12), granted(1015)],
    [],
  ],
  [
    'several at once, and none waits',
    [...others, limited(10, after(1)), granted(12), granted(40)],
    ['fault: waiting'],
  ],
  [
    'two connections that were opened together',
    [
      limited(1, { ...after(1), opened: 0 }),
      granted(2.1, { opened: 0.5 }),
      granted(1005, { opened: 0 }),
    ],
    [],
  ],
  [
    'pauses that do not grow',
    [limited(0), limited(101), limited(202), limited(303), granted(404)],
    ['remark: even-pauses'],
  ],
  [
    'pauses that are those of a busy machine alone',
    [...[0, 40, 53, 86, 107, 116].map((at) => limited(at)), granted(131)],
    ['remark: even-pauses'],
  ],
  [
    'pauses that are drawn, and grow until a bound',
    [...[0, 31, 181, 302, 903, 1804].map((at) => limited(at)), granted(2805)],
    [],
  ],
  ['pauses that grow', [limited(0), limited(101), limited(302), limited(703), granted(1500)], []],
  [
    'unchanged after a refusal of what was sent',
    [
      { ...translate, status: 400, answer: envelope('BadRequest'), headers: { 'x-simulate': 'x' } },
      granted(900, translate),
    ],
    ['remark: sent-unchanged'],
  ],
])('comes back %s', (_what, exchanges, told) => {
  const seen = judged(exchanges)
  expect(seen.told).toEqual(told)
  expect(seen.report.exit.code).toBe(told.some((one) => one.startsWith('fault')) ? 1 : 0)
})

test('several tries are told as one, with the pauses between them in all', () => {
  const { report } = judged([limited(0), limited(2), limited(4), granted(6)])
  expect(report.findings).toMatchObject([
    { request: 4, received: '3 tries, most of them at once: 3 ms between them in all' },
  ])
  expect(report.exit.because).toBe('3 requests did not keep the interface')
})

test('what is still open at the end is judged by what there was', () => {
  expect(judged([limited(0), limited(2), limited(4)]).told).toEqual(['fault: waiting'])
  expect(judged([limited(0)]).told).toEqual([])
})

const late = [
  { path: '/v1/files/a', at: 5, ms: 3 },
  { path: '/v1/files/b', at: 6, ms: 3 },
]

test('what came before a return that is doubtful to the end is judged with it', () => {
  const { report } = judged([limited(0), limited(2), limited(4), ...late, granted(10)])
  expect(report.findings).toMatchObject([
    { received: '3 tries, most of them at once: 7 ms between them in all' },
  ])
})

test('a return that is doubtful to the end is told once, also if it was refused itself', () => {
  const { report, told } = judged([...others, limited(10), limited(12), limited(14)])
  expect(told).toEqual(['fault: waiting'])
  expect(report.findings).toMatchObject([
    { received: '2 tries, most of them at once: 2 ms between them in all' },
  ])
})
