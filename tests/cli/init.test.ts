import { getRequestListener } from '@hono/node-server'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { operations } from '../../catalogue/operations.ts'
import {
  addLacking,
  askAnswers,
  checkInit,
  type Questions,
  standardAnswers,
  writeFile,
} from '../../cli/init.ts'
import { starter } from '../../cli/init/starter.ts'
import { undeclaredReason } from '../../harness/report/reason.ts'
import { checkTargetFile, loadTargetFile } from '../../harness/target/index.ts'
import { createReference } from '../../reference/server.ts'
import { missed, report } from '../gates/results.ts'
import { listen } from '../wire/servers.ts'
import { folder } from './conform.ts'
import { conform } from './in-process.ts'

/** A target file without mistakes. */
const valid = async (file: string) => checkTargetFile((await loadTargetFile(file)).file, file)
const read = (text: string) => JSON.parse(text.replace(/^\s*\/\/.*$/gm, ''))
const uncommented = (text: string) =>
  text.replace(/^ {2}\/\/ (?=["\s{}\]])/gm, '  ').replace(/^ {2}\/\/.*$/gm, '')

test('without a terminal init writes what the flags say', () => {
  const answers = standardAnswers('https://api.example.com/base')
  expect(read(starter('t.json', answers))).toMatchObject({
    name: 'api.example.com',
    baseUrl: 'https://api.example.com/base',
    keys: { full: { env: 'CONFORM_API_KEY' } },
    limits: { concurrency: 8 },
  })
})

test('on a terminal init writes what is answered', async () => {
  const answers = ['https://api.example.com/']
  const questions: Questions = {
    text: async (_, standard, problem) => {
      const answer = answers.shift() ?? standard
      expect(problem(answer)).toBeUndefined()
      return answer
    },
    choose: async (_, all) => all.filter((id) => id !== 'vision.analyze'),
  }
  const text = starter('t.json', await askAnswers(undefined, questions))
  expect(read(text)).toMatchObject({
    name: 'api.example.com',
    operations: { 'vision.analyze': 'not-served' },
  })
})

test('the schema is named where it is, and only if it is there', () => {
  const dir = folder()
  const written = (file: string) => starter(join(dir, file), standardAnswers())
  expect(written('t.json')).not.toContain('$schema')
  const path = 'node_modules/ai-content-conformance/schemas/target.schema.json'
  mkdirSync(join(dir, path, '..'), { recursive: true })
  writeFileSync(join(dir, path), '{}')
  expect(written('t.json')).toContain(`"$schema": "./${path}"`)
})

test('what init writes is a valid target file at once, with every comment uncommented, and as a module', async () => {
  const at = folder()
  const write = (name: string) =>
    writeFile(join(at, name), starter(name, standardAnswers('https://api.example.com')), {})
  write('t.json')
  expect((await valid(join(at, 't.json'))).baseUrl).toBe('https://api.example.com')
  const whole = uncommented(starter('t.json', standardAnswers()))
  const members = 'name baseUrl headers keys resources operations scenarios unreachable limits'
  expect(Object.keys(JSON.parse(whole)).join(' ')).toBe(members)
  writeFileSync(join(at, 'whole.json'), whole)
  expect((await valid(join(at, 'whole.json'))).resources).toHaveProperty('graph')
  const module = starter('t.mts', standardAnswers())
  expect(module).toMatch(
    /^import \{ defineTarget \} from 'ai-content-conformance'[^]*export default defineTarget\(\{[^]*\}\)\n$/m,
  )
  expect(module).not.toContain('$schema')
  for (const name of ['t.ts', 't.mts', 't.js', 't.mjs']) {
    write(name)
    expect((await valid(join(at, name))).name).toBe('api.example.com')
  }
})

test('init overwrites nothing unless asked to, and takes no name that cannot be that of a target file', () => {
  const file = join(folder(), 't.json')
  writeFileSync(file, 'mine')
  const write = (options: { force?: true }) =>
    writeFile(file, starter(file, standardAnswers()), options)
  expect(() => checkInit(file, {})).toThrow(/t\.json: exists already; --force/)
  expect(() => write({})).toThrow(/cannot be written \(EEXIST\)/)
  expect(readFileSync(file, 'utf8')).toBe('mine')
  checkInit(file, { force: true })
  write({ force: true })
  expect(readFileSync(file, 'utf8')).toContain('"baseUrl"')
  expect(() => checkInit('t.yaml', {})).toThrow(/t\.yaml: a target file ends in \.json/)
  expect(() => checkInit('t.json', { baseUrl: 'https://me:secret@x' })).toThrow(
    /--base-url must be an http or https URL/,
  )
})

test('--from makes a target file of what a report lacked, and the report stays as it was', async () => {
  const at = folder()
  const from = join(at, 'r.json')
  const missing = undeclaredReason([['keys.expired']], '{"keys": {"expired": {"env": "OLD"}}}')
  const notServed = [{ operation: 'vision.analyze', answered: '404' }]
  const judged = report([missed('a.b/1', missing), missed('a.b/2', missing)], { notServed })
  writeFileSync(from, JSON.stringify(judged))
  const file = join(at, 't.json')
  addLacking(file, from, {})
  expect(readFileSync(file, 'utf8')).toContain('  // {"keys": {"expired": {"env": "OLD"}}}\n')
  expect(await valid(file)).toMatchObject({
    name: 'example.com',
    baseUrl: 'https://example.com',
    operations: { 'vision.analyze': 'not-served' },
  })
  const over = () => checkInit(from, { from, force: true })
  expect(over).toThrow('would overwrite the report of --from')
  expect(() => addLacking(from, file, {})).toThrow(/is not JSON/)
  // A handler has no address.
  const target = { ...judged.target, baseUrl: 'http://in-process.localhost' }
  writeFileSync(from, JSON.stringify({ ...judged, target }))
  addLacking(file, from, { force: true })
  expect((await valid(file)).baseUrl).toBe(standardAnswers().baseUrl)
})

test.each(['t.json', 't.ts'])(
  '--from keeps what %s has, and adds what the run lacked',
  async (name) => {
    const at = folder()
    const from = join(at, 'r.json')
    const missing = undeclaredReason([['keys.expired']], '{"keys": {"expired": {"env": "OLD"}}}')
    writeFileSync(from, JSON.stringify(report([missed('a.b/1', missing)])))
    const file = join(at, name)
    const own = { name: 'Mine', baseUrl: 'https://mine.example.com', resources: { graph: 'g-1' } }
    writeFileSync(
      file,
      name.endsWith('.ts')
        ? `export default { // by hand\n  ...${JSON.stringify(own)},\n}\n`
        : `{\n  // by hand\n${JSON.stringify(own, null, 2).slice(2)}`,
    )
    await conform(`init ${name} --from r.json`, { cwd: at })
    const text = readFileSync(file, 'utf8')
    expect(text).toContain('// by hand')
    expect(text).toContain('"expired": {"env": "OLD"}')
    expect(await valid(file)).toMatchObject(own)
  },
)

test('with a base URL and a key init probes the server, and writes what is not there as not served', async () => {
  const reference = createReference({})
  const key = (reference.target as { keys: { full: string } }).keys.full
  const sent: string[] = []
  const listener = getRequestListener((request) => {
    const { pathname } = new URL(request.url)
    sent.push(pathname)
    return /files/.test(pathname) || request.headers.get('authorization') !== `Bearer ${key}`
      ? reference.handle(request)
      : new Response(`Cannot ${request.method} ${pathname}`, { status: 404 })
  })
  const { url } = await listen(createServer((...given) => void listener(...given)))
  const cwd = folder()
  const init = (name: string, env: Record<string, string>) =>
    conform(['init', name, '--base-url', url], { cwd, env })
  const probed = await init('t.json', { CONFORM_API_KEY: key })
  const absent = operations.filter(({ path }) => !/files/.test(path)).length
  expect(probed.stdout).toContain(
    `was probed: not built yet, and written as "not-served": ${absent} operations (pdf.parse, `,
  )
  const { operations: written = {} } = await valid(join(cwd, 't.json'))
  expect(Object.keys(written)).toHaveLength(absent)
  expect(written).toMatchObject({ 'translate.run': 'not-served' })
  expect(written).not.toHaveProperty('files.list')
  // One request an operation, the question whether it lives, and two to a path that nobody has.
  expect(sent.length).toBeLessThan(operations.length + 5)
  sent.length = 0
  const without = await init('u.json', {})
  expect(without.stdout).toContain('was not probed: CONFORM_API_KEY is not set')
  expect(sent).toEqual([])
  const wrong = await init('v.json', { CONFORM_API_KEY: 'not-the-key-of-it' })
  expect((await valid(join(cwd, 'v.json'))).operations).toBeUndefined()
  expect(wrong.stdout).toContain('was not probed: it does not accept the key')
})
