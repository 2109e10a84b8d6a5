import { expect, test } from 'vitest'
import {
  recordBody,
  recordedBytes,
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

test('header lines of one name are recorded together, under any name', () => {
  const lines = [
    line('Content-Type', 'text/plain'),
    line('x', 'a'),
    line('X', 'b'),
    line('__proto__', 'c'),
  ]
  expect(Object.entries(recordHeaders(lines, shown))).toEqual([
    ['content-type', 'text/plain'],
    ['x', 'a, b'],
    ['__proto__', 'c'],
  ])
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
