import fc from 'fast-check'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folder } from '../cli/conform.ts'
import { checkFile } from '../../cli/check.ts'
import { UserError } from '../../harness/user-error.ts'
import { entry, granted, har, envelope } from './har.ts'
import { check, inFile } from './recording.ts'
import { inconsistencies } from '../../harness/report/exit-code.ts'
import { validate } from '../../schemas/validate.ts'

const pdf = granted['pdf.parse/200-text']!
const good = JSON.stringify(har(pdf, pdf))

async function problem(har: unknown): Promise<string> {
  const error = await check(har).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(UserError)
  const { message } = error as UserError
  expect(message).not.toMatch(/\n/)
  return message.replace(/^\S+\.har: /, '')
}

test.each([
  ['', 'is not JSON at line 1, column 1'],
  ['secret-key-0123456789', 'is not JSON at line 1, column 1'],
  [good.slice(0, -60), /^is not JSON at line 1, column \d+ \(log\.entries\[1\]\)$/],
  [good.replace('"log":', '"log":\n  // here\n'), 'is not JSON at line 2, column 3'],
  [good.slice(0, -2), `is not JSON at line 1, column ${good.length - 1}`],
  [`${good}\n x`, 'is not JSON at line 2, column 2'],
  ['{"log": {"entries": [\r\n,{}]}}', 'is not JSON at line 2, column 1 (log.entries[0])'],
  [good.replace(/\]\}\}$/, ',\n\n ]}}'), 'is not JSON at line 3, column 2 (log.entries[2])'],
  [
    good.replace(/\]\}\}$/, '}]}}'),
    new RegExp(`^is not JSON at line 1, column ${good.length - 2} \\(log.entries\\[1\\]\\)$`),
  ],
  [`\uFEFF${good.replace('{"log"', '"é𝄞" {"log"')}`, 'is not JSON at line 1, column 7'],
  ['{"log": {"entries": [], "entries": [1]}}', 'log.entries: appears twice'],
  [[], 'is not a HAR: it has no object log (record one as HAR 1.2)'],
  [{ log: [] }, 'is not a HAR: it has no object log (record one as HAR 1.2)'],
  [{ log: { entries: {} } }, 'log.entries: must be an array (HAR 1.2)'],
])('a file that is no HAR is refused: %j', async (text, message) => {
  expect(await problem(text)).toMatch(message)
})

const second = (change: Record<string, unknown>) => ({
  log: { entries: [entry(pdf), { ...entry(pdf), ...change }] },
})
const { request, response } = entry(pdf)

test.each([
  [{ request: undefined }, '.request: must be an object'],
  [{ response: 7 }, '.response: must be an object'],
  [{ request: { ...request, method: 7 } }, '.request.method: must be a method'],
  [{ request: { ...request, url: undefined } }, '.request.url: must be a string'],
  [{ request: { ...request, headers: {} } }, '.request.headers: must be an array'],
  [{ response: { ...response, status: '200' } }, '.response.status: must be a status'],
  [{ response: { ...response, status: 1e21 } }, '.response.status: must be a status'],
  [
    { response: { ...response, headers: [null] } },
    '.response.headers[0]: must be an object with name and value',
  ],
])('an entry that is none is named by its index: %j', async (change, message) => {
  const file = inFile(JSON.stringify(second(change)))
  const { report, warnings } = await checkFile(file, {}, new Date())
  expect(warnings).toEqual([`1 entry could not be read: log.entries[1]${message} (HAR 1.2)`])
  expect(report.run.requests).toBe(1)
})

test('a file of which no entry can be read is refused', async () => {
  expect(await problem({ log: { entries: [7] } })).toBe(
    'log.entries[0]: must be an object (HAR 1.2)',
  )
})

test('a file that is not there, and a folder', async () => {
  const dir = folder()
  const now = new Date()
  await expect(checkFile(join(dir, 'none.har'), {}, now)).rejects.toThrow(
    /none\.har: does not exist$/,
  )
  await expect(checkFile(dir, {}, now)).rejects.toThrow(/: is a folder$/)
})

test('a byte order mark and whatever HAR does not ask for are read over', async () => {
  expect((await check(`\uFEFF${good}`)).run.requests).toBe(2)
  const { request: sent, response: got } = entry(pdf)
  const bare = {
    request: { method: sent.method, url: sent.url, postData: sent.postData },
    response: { status: got.status },
  }
  expect((await check({ log: { entries: [bare] } })).run.requests).toBe(1)
  const odd = { ...entry(pdf), startedDateTime: 'yesterday', time: -1 }
  expect((await check({ log: { entries: [odd] } })).run.startedAt).toBe('2027-01-01T00:00:00.000Z')
})

test.each([
  ['no entries', { log: { entries: [] } }, ''],
  ['no request of the interface', har({ to: 'https://example.org/' }), ''],
  ['nothing but paths of its own', har({ to: '/v1/models' }), 'https://api.example.com/base'],
])('%s: not judged, and it says why', async (_, recorded, baseUrl) => {
  const report = await check(recorded)
  expect(report).toMatchObject({ verdict: 'not-judged', target: { baseUrl }, run: { requests: 0 } })
  const reasons = new Set(
    report.requirements
      .filter(({ outcome }) => outcome === 'not-exercised')
      .map(({ reason }) => reason),
  )
  expect([...reasons]).toEqual([
    'the recording has no answered request to an operation of the interface under its base URL',
  ])
})

const recorded = har(...Object.values(granted), {
  to: '/v1/files/x',
  status: 404,
  answers: envelope('NotFound'),
})

/** Every place in a value, as the names that lead there. */
function placesOf(value: unknown, at: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [at]
  return [at, ...Object.entries(value).flatMap(([name, member]) => placesOf(member, [...at, name]))]
}

function replaced(value: unknown, [name, ...rest]: readonly string[], by: unknown): unknown {
  if (name === undefined) return by
  const members = value as Record<string, unknown>
  const changed = replaced(members[name], rest, by)
  return Array.isArray(value)
    ? value.map((item: unknown, at) => (String(at) === name ? changed : item))
    : { ...members, [name]: changed }
}

const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(
    undefined,
    '',
    -1,
    0,
    204,
    999,
    1e308,
    '9999-12-31T23:59:59-12:00',
    'base64',
    'http://[',
    '\ud800',
  ),
)

test('whatever stands at any place of a recording: a report that fits its schema, or one sentence', async () => {
  const places = placesOf(recorded)
  const change = fc.tuple(fc.constantFrom(...places), odd)
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
      let changed: unknown = recorded
      for (const [place, by] of changes) {
        try {
          changed = replaced(changed, place, by)
        } catch {
          // An earlier change took that place away.
        }
      }
      const outcome = await check(changed === undefined ? '' : changed).catch(
        (thrown: unknown) => thrown,
      )
      if (outcome instanceof UserError) {
        expect(outcome.message).not.toContain('\n')
        return
      }
      expect(validate('report', JSON.parse(JSON.stringify(outcome)))).toEqual({ valid: true })
      expect(inconsistencies(outcome as Awaited<ReturnType<typeof check>>)).toEqual([])
    }),
    { seed: 7, numRuns: 80 },
  )
})
