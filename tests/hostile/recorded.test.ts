import { expect, test } from 'vitest'
import {
  recordBody,
  recordedBytes,
  recordHead,
  recordHeaders,
  type Shown,
} from '../../harness/recording/recorder.ts'
import { Redactor } from '../../harness/recording/redactor.ts'
import { runIn } from '../redact/encodings.ts'
import { hostileKey } from './judge-hostile.ts'

const redactor = new Redactor()
redactor.add(hostileKey, '$CONFORM_API_KEY')
const shown: Shown = ({ name, value }) => ({
  name: redactor.text(name.toLowerCase()),
  value: redactor.header(value),
})
const secret = hostileKey.split('.').slice(1).join('.')
const line = (name: string, value: string) => ({ name, value })

test('a head within the limits is recorded whole', () => {
  const lines = [
    line('Content-Type', 'text/plain'),
    line('x', 'a'),
    line('X', 'b'),
    line('__proto__', 'c'),
  ]
  expect(Object.entries(recordHead(lines, shown))).toEqual([
    ['content-type', 'text/plain'],
    ['x', 'a, b'],
    ['__proto__', 'c'],
  ])
  expect(recordHead(lines, shown)).toEqual(recordHeaders(lines, shown))
})

test('of 5,000 headers 100 are recorded, those that answers are judged by among them, and the rest is counted', () => {
  const many = Array.from({ length: 5000 }, (_, at) => line(`x${at}`, '1'))
  const lines = [...many, line('Content-Type', 'application/json'), line('retry-after', '1')]
  const recorded = recordHead(lines, shown)
  expect(Object.keys(recorded)).toHaveLength(101)
  expect(recorded).toMatchObject({
    'content-type': 'application/json',
    'retry-after': '1',
    x0: '1',
    x97: '1',
  })
  expect(recorded['conform-left-out']).toBe('4902 of 5002 header lines')
})

test('a value of any length is cut, and says so', () => {
  const heads = [line('x', 'v'.repeat(60_000)), line('content-type', `a/b;c=${'d'.repeat(60_000)}`)]
  const { x, 'content-type': type } = recordHead(heads, shown)
  expect(x).toMatch(/^v{1000} \(cut: 60000 characters in all\)$/)
  expect(type).toMatch(/^a\/b;c=d+ \(cut: 60006 /)
  const [name] = Object.keys(recordHead([line('n'.repeat(60_000), '1')], shown))
  expect(name).toHaveLength(1000)
})

test.each([-400, -60, -13, -12, -1, 0])(
  'a key that begins %i characters from where a value is cut is not shown',
  (at) => {
    const value = `${'v'.repeat(1000 + at)}${hostileKey}${'w'.repeat(3000)}`
    expect(runIn(recordHead([line('x', value)], shown)['x']!, secret)).toBeUndefined()
  },
)

test('of 5,000 headers no more are looked at for keys than are recorded', () => {
  const lines = Array.from({ length: 5000 }, (_, at) =>
    line(`x-some-header-${at}`, `some value ${at}`),
  )
  let looked = 0
  recordHead(lines, (one) => {
    looked++
    return shown(one)
  })
  expect(looked).toBe(100)
})

const redact = (text: string): string => redactor.text(text)

test.each([-400, -170, -60, -13, -12, -11, -1, 0, 1])(
  'a key that begins %i characters from where a body is cut is not shown',
  (offset) => {
    const body = 'x'.repeat(recordedBytes + offset) + hostileKey + 'y'.repeat(300_000)
    const recorded = recordBody(body, redact)
    expect(runIn(recorded.body, secret)).toBeUndefined()
    expect(recorded).toMatchObject({
      bodyLength: body.length,
      bodySha256: expect.stringMatching(/^[\da-f]{64}$/),
    })
    const bytes = Buffer.concat([Buffer.from([0xff]), Buffer.from(body)])
    const binary = recordBody(bytes, redact)
    expect(binary).toMatchObject({ bodyEncoding: 'base64', bodyLength: bytes.length })
    expect(runIn(Buffer.from(binary.body, 'base64').toString('latin1'), secret)).toBeUndefined()
  },
)

test('keys that fill what is kept are all replaced, and the body still counts as cut', () => {
  const body = `${hostileKey} `.repeat(4000)
  const recorded = recordBody(body, redact)
  expect(recorded.body).not.toContain('eyJzdWIi')
  expect(recorded.body.startsWith('$CONFORM_API_KEY $CONFORM_API_KEY ')).toBe(true)
  expect(recorded.bodyLength).toBe(body.length)
})

test('a body that fits is kept whole, whatever its characters', () => {
  const body = '\u0416\ud83d\ude00'.repeat(2000)
  expect(recordBody(Buffer.from(body), redact)).toEqual({ body })
})
