import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { checkTargetFile } from '../../harness/target/check.ts'
import type { TargetFile } from '../../harness/target/target-file.ts'
import { UserError } from '../../harness/user-error.ts'
import { memberPath, tokensOf } from '../../schemas/json.ts'

/** The message that the file is refused with; undefined where it is taken. */
function refusal(file: unknown): string | undefined {
  try {
    checkTargetFile(file, 'target.json')
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

test.each(rows)('%s = %s is refused: %s', (pointer, json, sentence) => {
  const place = pointer === '/' ? '' : pointer
  const value = JSON.parse(json) as unknown
  const file = tokensOf(place).reduceRight((inner, token) => ({ [token]: inner }), value)
  expect(refusal(file)).toBe(`target.json: ${sentence.replaceAll('@', memberPath(place))}`)
})

const withBody = (body: object): object => ({ operations: { 'completion.create': { body } } })

test.each<[unknown, string]>([
  [{ name: () => 'a' }, 'name: a function is not allowed here'],
  [
    withBody({ date: new Date(0) }),
    'operations.completion.create.body.date: must be a plain object',
  ],
  [withBody({ n: Number.NaN }), 'operations.completion.create.body.n: NaN is not a JSON number'],
])('what no JSON can hold is refused: %j', (file, message) => {
  expect(refusal(file)).toBe(`target.json: ${message}`)
})

test('all problems are said at once, each once', () => {
  expect(refusal({ nam: 1, limits: { rate: 1 }, keys: { full: 7 } })?.split('\n')).toHaveLength(3)
  expect(
    refusal({ headers: Object.fromEntries(Array.from({ length: 14 }, (_, at) => [`x-${at}`, 1])) }),
  ).toMatch(/\ntarget.json: and 4 more$/)
})

test.each<[string, TargetFile]>([
  ['a file with nothing in it', {}],
  [
    'functions in place of keys',
    {
      keys: { full: () => 'a', restricted: { 'jobs.create': () => 'b' } },
      scenarios: { 'files.upload/507-storage-full': { key: () => 'c' } },
    },
  ],
  [
    'members of an input beyond id and value',
    { resources: { application: { id: 'a', inputs: [{ id: 'b', value: [], lang: 'en' }] } } },
  ],
  [
    'a pointer to a member that a probe adds',
    { operations: { 'completion.create': { body: {}, fields: { temperature: '/temperature' } } } },
  ],
  [
    'a pointer into an array',
    {
      operations: {
        'chat.create': { body: { tools: [{}] }, fields: { query_config: '/tools/0/query_config' } },
      },
    },
  ],
  [
    'texts in angle brackets, and variables in texts',
    {
      operations: {
        'completion.create': {
          body: { prompt: 'Explain the <model> element, <br> and ${NAME}', model: '$m' },
        },
        'translate.run': { body: { text: '<p>' } },
        'graphs.query': { body: '$QUERY' },
      },
      keys: { full: '$2b$10$a-key', expired: { env: 'A' } },
      headers: { 'x-price': '$5' },
    },
  ],
  [
    'the id of a new object without a body',
    { operations: { 'files.upload': { fields: { id: '/file/id' } } } },
  ],
  [
    'what needs a scenario, another key, object or role, unreachable',
    {
      unreachable: {
        'completion.create/500-*': 'a',
        '*/401-expired-key': 'b',
        'jobs.create/409-per-application': 'c',
        'jobs.retrieve/200-failed': 'd',
        'pdf.parse/400-oversized-pdf': 'e',
        'graphs.query/400-query-config': 'f',
        'completion.create/400-empty-prompt': 'g',
      },
    },
  ],
  [
    'a pattern of which something is declared',
    {
      unreachable: { '*/401-expired-key': 'a', 'chat.create/*': 'b' },
      keys: { expired: 'expired-key' },
    },
  ],
])('taken: %s', (_, file) => {
  expect(refusal(file)).toBeUndefined()
})

test('no message repeats a key', () => {
  const secret = 'a-secret\u0007that-is-not-shown'
  for (const file of [
    { keys: { full: secret } },
    { headers: { authorization: secret } },
    { baseUrl: `x://u:${secret}@h` },
    { keys: { full: { command: secret } } },
  ]) {
    expect(refusal(file)).toBeDefined()
    expect(refusal(file)).not.toContain('secret')
  }
})
