import { expect, test } from 'vitest'
import { recordBody, recordedBytes } from '../../harness/recording/recorded.ts'
import { Redactor } from '../../harness/recording/redactor.ts'
import { hostileKey } from './hostile-key.ts'

const redactor = new Redactor()
redactor.add(hostileKey, '$CONFORM_API_KEY')
const redact = (text: string): string => redactor.text(text)
const secret = hostileKey.split('.').slice(1).join('.')

/** Whether any 12 characters of the key that are not its public header stand in the text. */
function showsKey(text: string): boolean {
  return Array.from({ length: secret.length - 11 }, (_, at) => secret.slice(at, at + 12)).some(
    (run) => text.includes(run),
  )
}

test.each([-400, -170, -60, -13, -12, -11, -1, 0, 1])(
  'a key that begins %i characters from where a body is cut is not shown',
  (offset) => {
    const body = 'x'.repeat(recordedBytes + offset) + hostileKey + 'y'.repeat(300_000)
    const recorded = recordBody(body, redact)
    expect(showsKey(recorded.body)).toBe(false)
    expect(recorded).toMatchObject({
      bodyLength: body.length,
      bodySha256: expect.stringMatching(/^[\da-f]{64}$/),
    })
    const bytes = Buffer.concat([Buffer.from([0xff]), Buffer.from(body)])
    const binary = recordBody(bytes, redact)
    expect(binary).toMatchObject({ bodyEncoding: 'base64', bodyLength: bytes.length })
    expect(showsKey(Buffer.from(binary.body, 'base64').toString('latin1'))).toBe(false)
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
