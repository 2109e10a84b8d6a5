import fc from 'fast-check'
import { expect, test } from 'vitest'
import { inspected, isSecretName, printed, Redactor } from '../../harness/recording/redactor.ts'
import { encodings, readings } from './encodings.ts'
import { anyCharacter } from '../support/any-character.ts'

/** `npm run fuzz` tries thirty times as many. */
const times = process.env['FUZZ_RUNS'] === undefined ? 1 : 30

const part = (json: unknown): string => Buffer.from(JSON.stringify(json)).toString('base64url')
const jwt = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ sub: 'tenant-one', exp: 1_900_000_000 })}.dGhlLXNpZ25hdHVyZS1vZi10aGF0LXRva2Vu`
const odd = `k<&>"'\\/%41=?x-9876543210`

const redactorOf = (...keys: [string, string][]): Redactor => {
  const redactor = new Redactor()
  for (const [key, label] of keys) redactor.add(key, label)
  return redactor
}
const runsOf = (key: string): string[] =>
  Array.from({ length: key.length - 11 }, (_, at) => key.slice(at, at + 12))

test('a whole key becomes its label, however it is encoded', () => {
  for (const [name, encode] of Object.entries(encodings)) {
    for (const key of [jwt, odd, 'short-key1', '12345678']) {
      const shown = redactorOf([key, '$CONFORM_API_KEY']).text(`before ${encode(key)} after`)
      expect(shown, name).toMatch(/^before .{0,4}\$CONFORM_API_KEY.{0,6} after$/)
    }
  }
  // With its padding.
  for (const key of [jwt, `${jwt}x`, `${jwt}xy`])
    expect(redactorOf([key, '$K']).text(`"${Buffer.from(key).toString('base64')}"`)).toBe('"$K"')
})

test('12 characters in a row of a key are redacted, 11 are not', () => {
  const redactor = redactorOf(['abcdefghijklmnopqrstuvwxyz', '$K'])
  expect(redactor.text('x efghijklmnop y')).toBe('x [redacted] y')
  expect(redactor.text('x efghijklmno y')).toBe('x efghijklmno y')
  expect(redactor.text('abcdefghijklmnopqrstuvwxyzabcdefghijklmn')).toBe('$K[redacted]')
})

test('the header of a JWT is shown, its other parts are redacted', () => {
  const [head, payload, signature] = jwt.split('.') as [string, string, string]
  const redactor = redactorOf([jwt, '$K'])
  expect(redactor.text(`${head} ${payload.slice(3, 20)} ${signature}`)).toBe(
    `${head} [redacted] [redacted]`,
  )
  expect(redactor.text(`${head}.${payload}.`)).toBe(`${head}.[redacted]`)
})

test('a value derived from a key is written as it was made, a longer match before a shorter one', () => {
  const redactor = redactorOf([jwt, '$CONFORM_API_KEY'])
  redactor.add(jwt.slice(0, -4), '${CONFORM_API_KEY%????}')
  redactor.add(`${jwt}xx`, '${CONFORM_API_KEY}xx')
  expect(redactor.text(`[${jwt.slice(0, -4)}] [${jwt}] [${jwt}xx]`)).toBe(
    '[${CONFORM_API_KEY%????}] [$CONFORM_API_KEY] [${CONFORM_API_KEY}xx]',
  )
})

test('a key under 8 characters is met only as a whole header value or JSON string', () => {
  const redactor = redactorOf(['test', '$K'])
  expect(redactor.header('Bearer test')).toBe('Bearer $K')
  expect(redactor.header('test')).toBe('$K')
  expect(redactor.text('{"key":"test","note":"a test"} test')).toBe(
    '{"key":"$K","note":"a test"} test',
  )
  expect(redactor.text('{"authorization":"Bearer test","was":"Bearer tests"}')).toBe(
    '{"authorization":"Bearer $K","was":"Bearer tests"}',
  )
})

test('text of the target file that is not a key stays, though a key has it too', () => {
  const id = 'tenant-4711-production'
  const redactor = redactorOf([`sk_${id}_${'s3cr3t'.repeat(4)}`, '$K'])
  expect(redactor.text(`/v1/graphs/${id}/files`)).toBe('/v1/graphs/[redacted]/files')
  redactor.keep(id)
  for (const text of [
    `/v1/graphs/${id}/files`,
    JSON.stringify({ id }),
    encodeURIComponent(`"${id}"`),
  ])
    expect(redactor.text(text)).toBe(text)
  expect(redactor.text(`${id}_s3cr3ts3`)).toBe(`${id}[redacted]`)
  expect(redactor.text(`${id.slice(1)}_s3cr3ts3`)).toBe('[redacted]')
  expect(redactor.text(`sk_${id}_${'s3cr3t'.repeat(4)}`)).toBe('$K')
  expect(redactor.text(`${id} s3cr3ts3cr3t`)).toBe(`${id} [redacted]`)
})

const word = fc.string({
  unit: fc.constantFrom(...'abcXYZ019-_.~%&\\"/+=<;#'),
  minLength: 12,
  maxLength: 40,
})
const surroundings = fc
  .string({ unit: 'grapheme', maxLength: 30 })
  .filter((text) => !/[\\%&\w+/=-]$|^[\w+/=-]/.test(text))

test('any key, encoded in any way, anywhere: no run of 12 characters of it is left', () => {
  fc.assert(
    fc.property(
      word,
      fc.nat(),
      fc.nat(),
      fc.constantFrom(...Object.entries(encodings)),
      surroundings,
      surroundings,
      (key, from, length, [, encode], before, after) => {
        const start = from % (key.length - 11)
        const shared = key.slice(start, start + 12 + (length % (key.length - start - 11)))
        const shown = redactorOf([key, '\u2020']).text(before + encode(shared) + after)
        const left = readings(shown)
        expect(runsOf(key).filter((run) => left.some((reading) => reading.includes(run)))).toEqual(
          [],
        )
      },
    ),
    { seed: 20_250_101, numRuns: 200 * times },
  )
})

test('several keys in one text each become their label, and a second reading changes nothing', () => {
  const keys: [string, string][] = [
    [jwt, '$CONFORM_API_KEY'],
    [odd, '$CONFORM_KEY_EXPIRED'],
    ['QUJDREVGRw==/+_-x', '$TENANT_KEY'],
    ['deadbeefdeadbeef0123', '[redacted]'],
    ['0123456789', '$SHORT'],
  ]
  const redactor = redactorOf(...keys)
  for (const name of ['plain', 'json in code points', 'hex']) {
    const encode = encodings[name]!
    const shown = redactor.text(keys.map(([key]) => encode(key)).join(' \n'))
    for (const [, label] of keys) expect(shown).toContain(label)
    expect(redactor.text(shown)).toBe(shown)
  }
})

test('a label is not redacted for another key that has 12 characters of it', () => {
  const redactor = redactorOf(
    ['first-of-the-keys', '$CONFORM_API_KEY'],
    ['my-CONFORM_API_KEY-0001', '$OTHER'],
  )
  expect(redactor.text(redactor.text('first-of-the-keys my-CONFORM_API_KEY-0001'))).toBe(
    '$CONFORM_API_KEY $OTHER',
  )
})

test('text that shares nothing with a key is untouched', () => {
  fc.assert(
    fc.property(word, fc.string({ unit: anyCharacter, maxLength: 400 }), (key, text) => {
      fc.pre(!readings(text).some((reading) => runsOf(key).some((run) => reading.includes(run))))
      expect(redactorOf([key, '$K']).text(text)).toBe(text)
    }),
    { seed: 20_250_102, numRuns: 50 * times },
  )
})

test.each([
  ['runs just too short', `${jwt.slice(50, 61)}!`],
  ['runs just long enough', `${jwt.slice(50, 62)}!`],
  ['the key over and over', jwt],
  ['escapes all over', '\\u0041%41&#65;'],
  ['beginnings of escapes', '&\\%'],
])('a large text made of %s takes no more than linear time', (_, piece) => {
  const text = piece.repeat((1 << 18) / piece.length)
  const start = performance.now()
  redactorOf([jwt, '$K'], ['a'.repeat(400), '$A']).text(text)
  // Some 25 ms; quadratic time would take minutes.
  expect(performance.now() - start).toBeLessThan(60_000)
})

test.each([
  ['sig', true],
  ['code', true],
  ['client_credential', true],
  ['X-Amz-Security-Token', true],
  ['X-Amz-Signature', true],
  ['api_key', true],
  ['statusCode', false],
  ['design', false],
  ['keyword', false],
])('the name %s tells of a secret: %s', (name, isSecret) => {
  expect(isSecretName(name)).toBe(isSecret)
})

test('an error is printed for debugging with its stack, and without a key', () => {
  const key = 'key-of-a-request-that-failed'
  printed.keys.add(key, '$KEY')
  const cause = { headers: [`Bearer ${key}`] }
  const shown = inspected(new Error(`no answer to ${key}`, { cause }))
  expect(shown).toMatch(/^Error: no answer to \$KEY\n +at .*redactor\.test/)
  expect(shown).toContain('Bearer $KEY')
  expect(shown).not.toContain(key)
})
