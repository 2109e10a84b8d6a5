import { expect, test } from 'vitest'
import { answersDiffer, createLog } from '../../harness/engine/log.ts'
import { responseOf } from '../../harness/engine/response.ts'
import { errorNames } from '../../catalogue/errors.ts'
import type { Exchange } from '../../harness/engine/exchange.ts'
import { failed, failure } from '../gates/results.ts'

type Answer = readonly [status: number, header?: string]

const probe = { operation: 'files.list', credential: { full: true } }
const purpose = { requirement: null }

/** A run of those answers, one a ms. */
function ran(answers: readonly Answer[], clean?: (text: string) => string) {
  const seen = createLog(clean)
  answers.forEach(([status, instance], at) => {
    const headers = [
      { name: 'Date', value: `${at % 2}` },
      ...(instance === undefined ? [] : [{ name: 'X-Served-By', value: instance }]),
    ]
    const body = Buffer.from(status < 400 ? '{}' : '{"tpe":"InternalError"}')
    const wire = {
      kind: 'answer',
      status,
      headers,
      body,
      cut: false,
      sentAt: at,
      endedAt: at,
    } as const
    seen.see({ probe, purpose, endedAt: at, response: responseOf(wire, errorNames) } as Exchange)
  })
  return seen
}

const coming = (count: number) =>
  Array.from({ length: count }, (_, at) => {
    const { exchange } = failure()
    const response = { status: 500, headers: {}, body: '{"tpe":"InternalError"}' }
    return failed(`a.b/${at}`, { takes: 'chance', exchange: { ...exchange!, response } })
  })
const times = (count: number, of: (at: number) => Answer) =>
  Array.from({ length: count }, (_, at) => of(at))

const third = times(300, (at): Answer =>
  at % 3 === 1 ? [500, 'b'] : [200, at % 3 === 0 ? 'a' : 'c'],
)

test('fewer than three requirements say it themselves', () => {
  expect(answersDiffer(ran(third), coming(2))).toBeUndefined()
  expect(answersDiffer(ran(third), coming(3))).toMatchObject({ requirements: 3 })
})

test.each<[string, readonly Answer[], object]>([
  [
    'one instance of three, by its header',
    third,
    { like: 'instance', times: 100, of: 300, header: { name: 'x-served-by', value: 'b' } },
  ],
  [
    'one instance of three',
    third.map(([status]) => [status]),
    { like: 'instance', times: 100, of: 300 },
  ],
  [
    'one version of two, which answers otherwise to few requests',
    times(400, (at) => [at % 40 === 1 ? 500 : 200, at % 10 === 1 ? '2.0' : '1.9']),
    { times: 10, of: 400, header: { name: 'x-served-by', value: '2.0', share: 10 } },
  ],
  ['now and then', times(300, (at) => [at % 50 === 7 ? 500 : 200]), { like: 'instance', times: 6 }],
  [
    'an outage',
    times(300, (at) => [at >= 100 && at < 150 ? 500 : 200]),
    { like: 'outage', times: 50 },
  ],
  [
    'a change in the middle',
    times(300, (at) => [at >= 200 ? 500 : 200]),
    { like: 'change', times: 100 },
  ],
])('%s', (_, answers, expected) => {
  const found = answersDiffer(ran(answers), coming(4))
  expect(found).toMatchObject({ status: 500, tpe: 'InternalError', ...expected })
  expect(found?.header).toEqual((expected as { header?: object }).header)
})

test('a run of more answers than a call takes arguments', () => {
  const seen = ran([[500], [200]])
  const json = () => ({ ok: true, value: { tpe: 'InternalError' } })
  const response = { status: 500, headers: [], json }
  for (let at = 2; at < 140_000; at++)
    seen.see({ probe, purpose, endedAt: at, response } as unknown as Exchange)
  expect(answersDiffer(seen, coming(3))).toMatchObject({ times: 139_999, of: 140_000 })
})

test('a header that sends a key back does not show it, nor the beginning of a long one', () => {
  const key = 'k'.repeat(200)
  const seen = ran(
    third.map(([status, header]) => [status, `${header} ${key}`]),
    (text) => text.replaceAll(key, '<key>'),
  )
  expect(answersDiffer(seen, coming(3))).toMatchObject({ header: { value: 'b <key>' } })
})
