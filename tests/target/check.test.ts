import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { checkTargetFile } from '../../harness/target/load.ts'
import { resolveTarget } from '../../harness/target/resolve.ts'
import type { TargetFile } from '../../harness/target/model.ts'
import { UserError } from '../../harness/user-error.ts'
import { memberPath, tokensOf } from '../../schemas/json.ts'

/** The message that the file is refused with; undefined if it is taken. */
async function refusal(value: unknown): Promise<string | undefined> {
  try {
    const file = checkTargetFile(value, 'target.json')
    const baseUrl = 'https://example.com'
    const env = { EMPTY: '', BLANK: 'a-key ', UMLAUT: 'ä-key' }
    await resolveTarget({ baseUrl, ...file }, { dir: '.', source: 'target.json', env })
  } catch (error) {
    expect(error).toBeInstanceOf(UserError)
    return (error as Error).message
  }
  return undefined
}

const table = readFileSync(new URL('refusals.txt', import.meta.url), 'utf8')
const rows = table
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => /^(\/.*?) = (.*) -> (.*)$/.exec(line)!.slice(1) as [string, string, string])

test.each(rows)('%s = %s is refused: %s', async (pointer, json, sentence) => {
  const place = pointer === '/' ? '' : pointer
  const value = JSON.parse(json) as unknown
  const file = tokensOf(place).reduceRight((inner, token) => ({ [token]: inner }), value)
  expect(await refusal(file)).toBe(`target.json: ${sentence.replaceAll('@', memberPath(place))}`)
})

test('all problems are said at once, each once, and of much the first', async () => {
  const file = { nam: 1, limits: { rate: 1 }, keys: { full: 7 } }
  expect((await refusal(file))?.split('\n')).toHaveLength(3)
  const names = Array.from({ length: 14 }, (_, at) => [`x-${at}`, 1])
  expect(await refusal({ headers: Object.fromEntries(names) })).toMatch(/\nand 4 more$/)
})

const inputs = [{ id: 'b', value: [], lang: 'en' }]
test.each<[string, TargetFile]>([
  ['a file with nothing in it', {}],
  [
    'functions in place of keys',
    {
      keys: { full: () => 'a', restricted: { 'jobs.create': () => 'b' } },
      scenarios: { 'files.upload/507-storage-full': { key: () => 'c' } },
    },
  ],
  ['further members of an input', { resources: { application: { id: 'a', inputs } } }],
  [
    'pointers to a member that a probe adds, and into an array',
    {
      operations: {
        'completion.create': { body: {}, fields: { temperature: '/temperature' } },
        'chat.create': { body: { tools: [{}] }, fields: { query_config: '/tools/0/query_config' } },
      },
    },
  ],
  [
    'texts in angle brackets, and with dollars',
    {
      operations: { 'translate.run': { body: { text: '<p>${NAME}' } } },
      keys: { full: '$2b$10$a-key' },
      headers: { 'x-price': '$5' },
    },
  ],
  ['the id of a new object', { operations: { 'files.upload': { fields: { id: '/file/id' } } } }],
  [
    'what needs a scenario, another key, object or role, unreachable',
    {
      unreachable: {
        'completion.create/500-*': 'a',
        '*/401-expired-key': 'b',
        'jobs.create/409-per-application': 'c',
        'pdf.parse/400-oversized-pdf': 'd',
        'graphs.query/400-query-config': 'e',
        'chat.create/*': 'f',
      },
      keys: { expired: 'expired-key' },
    },
  ],
])('taken: %s', async (_, file) => {
  expect(await refusal(file)).toBeUndefined()
})

test('no message repeats a key', async () => {
  const secret = 'a-secret\u0007that-is-not-shown'
  for (const file of [
    { keys: { full: secret } },
    { headers: { authorization: secret } },
    { baseUrl: `x://u:${secret}@h` },
    { keys: { full: { command: secret } } },
  ]) {
    const message = await refusal(file)
    expect(message).toBeDefined()
    expect(message).not.toContain('secret')
  }
})
