import { getRequestListener } from '@hono/node-server'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { operations } from '../../catalogue/operations.ts'
import { folder } from '../cli/conform.ts'
import { conform } from '../cli/in-process.ts'
import { createReference } from '../../reference/server.ts'
import {
  answersFrom,
  askAnswers,
  checkInit,
  parseInputs,
  type Questions,
  standardAnswers,
  writeStarter,
} from '../../cli/init.ts'
import { checkTargetFile, loadTargetFile } from '../../harness/target/index.ts'
import { starter } from '../../cli/init/starter.ts'
import { undeclaredReason } from '../../harness/report/reason.ts'
import { missed, report } from './results.ts'

/** A target file without mistakes. */
const taken = async (file: string) => checkTargetFile((await loadTargetFile(file)).file, file)
const withoutComments = (text: string) => text.replace(/^\s*\/\/.*$/gm, '')
const uncommented = (text: string) =>
  text.replace(/^ {2}\/\/ (?=["\s{}\]])/gm, '  ').replace(/^ {2}\/\/.*$/gm, '')
/** Answers in order; the default where one is undefined. */
function scripted(...answers: (string | undefined)[]): Questions {
  return {
    text: async (_, standard, problem) => {
      const answer = answers.shift() ?? standard
      expect(answer === '' ? undefined : problem?.(answer)).toBeUndefined()
      return answer
    },
    choose: async (_, all) => all.filter((id) => id !== 'vision.analyze'),
  }
}

test('without a terminal: a starter from flags, JSON once its comments are gone', () => {
  const text = starter('t.json', standardAnswers({ baseUrl: 'https://api.example.com/base' }))
  expect(JSON.parse(withoutComments(text))).toMatchObject({
    name: 'api.example.com',
    baseUrl: 'https://api.example.com/base',
    keys: { full: { env: 'CONFORM_API_KEY' } },
    limits: { concurrency: 8 },
  })
})

test('the schema is named where it is, and only if it is there', () => {
  const dir = folder()
  const schema = join(dir, 'node_modules/ai-content-conformance/schemas')
  const written = (file: string) => starter(join(dir, file), standardAnswers({}))
  expect(written('t.json')).not.toContain('$schema')
  mkdirSync(schema, { recursive: true })
  writeFileSync(join(schema, 'target.schema.json'), '{}')
  const path = 'node_modules/ai-content-conformance/schemas/target.schema.json'
  expect(written('t.json')).toContain(`"$schema": "./${path}"`)
  expect(written('targets/t.json')).toContain(`"$schema": "../${path}"`)
})

test('a report of a handler has no address to write', () => {
  const path = join(folder(), 'report.json')
  const judged = report([missed('a.b/1', undeclaredReason([['keys.expired']], '{}'))])
  const target = { ...judged.target, baseUrl: 'http://in-process.localhost' }
  writeFileSync(path, JSON.stringify({ ...judged, target }))
  expect(answersFrom(path, {}).baseUrl).toBe(standardAnswers({}).baseUrl)
})

test('every comment that is a member can be uncommented as it is', () => {
  const whole = JSON.parse(uncommented(starter('t.json', standardAnswers({}))))
  expect(Object.keys(whole)).toEqual([
    ...[
      'name',
      'baseUrl',
      'headers',
      'keys',
      'resources',
      'operations',
      'scenarios',
      'unreachable',
      'limits',
    ],
  ])
})

test('the starter is a valid target file at once, and so it is with every comment uncommented', async () => {
  const at = folder()
  writeStarter(join(at, 't.json'), standardAnswers({ baseUrl: 'https://api.example.com' }), false)
  expect((await taken(join(at, 't.json'))).baseUrl).toBe('https://api.example.com')
  writeFileSync(join(at, 'whole.json'), uncommented(starter('t.json', standardAnswers({}))))
  expect((await taken(join(at, 'whole.json'))).resources).toHaveProperty('graph')
})

test('a module is written with defineTarget', () => {
  const text = starter('t.mts', standardAnswers({}))
  expect(text).toContain("import { defineTarget } from 'ai-content-conformance'")
  expect(text).toMatch(/export default defineTarget\(\{[^]*\}\)\n$/)
  expect(text).not.toContain('$schema')
})

test.each(['t.ts', 't.mts', 't.js', 't.mjs'])(
  '%s is valid at once, wherever it is',
  async (name) => {
    const file = join(folder(), name)
    writeStarter(file, standardAnswers({ name: 'Here' }), false)
    expect((await taken(file)).name).toBe('Here')
  },
)

test('nothing is overwritten unless asked to, and no name is taken that cannot be a target file', () => {
  const file = join(folder(), 't.json')
  writeFileSync(file, 'mine')
  expect(() => checkInit(file, {})).toThrow(/t\.json: exists already; --force/)
  expect(() => writeStarter(file, standardAnswers({}), false)).toThrow(
    /cannot be written \(EEXIST\)/,
  )
  expect(readFileSync(file, 'utf8')).toBe('mine')
  checkInit(file, { force: true })
  writeStarter(file, standardAnswers({}), true)
  expect(readFileSync(file, 'utf8')).toContain('"baseUrl"')
  expect(() => checkInit('t.yaml', {})).toThrow(/t\.yaml: a target file ends in \.json/)
  expect(() => checkInit('t.json', { baseUrl: 'https://me:secret@x' })).toThrow(
    /--base-url must be an http or https URL/,
  )
})

test('inputs of an application are read as written', () => {
  expect(parseInputs(' topic = green tea, tone=dry')).toEqual([
    { id: 'topic', value: ['green tea'] },
    { id: 'tone', value: ['dry'] },
  ])
  expect(parseInputs('')).toEqual([])
  expect(parseInputs('topic')).toBeNull()
})

test('on a terminal: what is answered fills the file', async () => {
  const questions = scripted('https://api.example.com/', 'Staging', 'MY_KEY', 'app-1', 'topic=tea')
  const text = starter('t.json', await askAnswers({}, questions))
  expect(text).toContain('// Others: otherApplication, slowApplication,')
  expect(JSON.parse(withoutComments(text))).toMatchObject({
    name: 'Staging',
    keys: { full: { env: 'MY_KEY' } },
    resources: { application: { id: 'app-1', inputs: [{ id: 'topic', value: ['tea'] }] } },
    operations: { 'vision.analyze': 'not-served' },
  })
})

test('a report says what a new target file is made of, and stays as it was', async () => {
  const at = folder()
  const from = join(at, 'r.json')
  const missing = undeclaredReason([['keys.expired']], '{"keys": {"expired": {"env": "OLD"}}}')
  const notServed = [{ operation: 'vision.analyze', answered: '404' }]
  writeFileSync(
    from,
    JSON.stringify(report([missed('a.b/1', missing), missed('a.b/2', missing)], { notServed })),
  )
  const file = join(at, 't.json')
  writeStarter(file, answersFrom(from, { name: 'Mine' }), false)
  const text = readFileSync(file, 'utf8')
  expect(text).toContain('    // +2\n    // "expired": {"env": "OLD"},\n')
  expect(await taken(file)).toMatchObject({
    name: 'Mine',
    baseUrl: 'https://example.com',
    operations: { 'vision.analyze': 'not-served' },
  })
  expect(() => checkInit(from, { from, force: true })).toThrow(
    'would overwrite the report of --from',
  )
  expect(() => answersFrom(file, {})).toThrow(/is not JSON/)
})

test('with a base URL and a key it looks at the server, and writes what is not there as not served', async () => {
  const reference = createReference({})
  const key = (reference.target as { keys: { full: string } }).keys.full
  const sent: string[] = []
  const listener = getRequestListener((request) => {
    const { pathname } = new URL(request.url)
    sent.push(`${request.method} ${pathname}`)
    return /files/.test(pathname) || request.headers.get('authorization') !== `Bearer ${key}`
      ? reference.handle(request)
      : new Response(`Cannot ${request.method} ${pathname}`, { status: 404 })
  })
  const server = createServer((request, response) => void listener(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    const at = folder()
    const init = (name: string, env: Record<string, string>) =>
      conform(['init', name, '--base-url', url], { cwd: at, env })
    const looked = await init('t.json', { CONFORM_API_KEY: key })
    expect(looked.stdout).toMatch(
      new RegExp(
        `was probed: not built yet, and written as "not-served": ${operations.length - 4} operations \\(pdf\\.parse, `,
      ),
    )
    const { operations: written = {} } = await taken(join(at, 't.json'))
    expect(Object.keys(written)).toHaveLength(operations.length - 4)
    expect(written['translate.run']).toBe('not-served')
    expect(written['files.list']).toBeUndefined()
    // One request an operation, the question whether it lives, and two to a path that nobody has.
    expect(sent.length).toBeLessThan(17 + 5)
    sent.length = 0
    const without = await init('u.json', {})
    expect(without.stdout).toContain('was not probed: CONFORM_API_KEY is not set')
    expect(sent).toEqual([])
    const wrong = await init('v.json', { CONFORM_API_KEY: 'not-the-key-of-it' })
    expect((await taken(join(at, 'v.json'))).operations).toBeUndefined()
    expect(wrong.stdout).toContain('was not probed: it does not accept the key')
  } finally {
    server.close()
  }
})
