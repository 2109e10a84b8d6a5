import { getRequestListener } from '@hono/node-server'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { operations } from '../../catalogue/operations.ts'
import { askAnswers, starter } from '../../cli/init.ts'
import { undeclaredReason } from '../../harness/report/reason.ts'
import { checkTargetFile, loadTargetFile } from '../../harness/target/index.ts'
import { createReference } from '../../reference/server.ts'
import { missed, report } from '../gates/results.ts'
import { listen } from '../wire/servers.ts'
import { folder } from './conform.ts'
import { conform } from './in-process.ts'

/** A target file without mistakes. */
const valid = async (file: string) => checkTargetFile((await loadTargetFile(file)).file, file)
const url = 'https://api.example.com'
const start = { baseUrl: url, notServed: [] }

test('on a terminal init writes what is answered', async () => {
  const served = operations.map(({ id }) => id).filter((id) => id !== 'vision.analyze')
  const answers = await askAnswers(undefined, {
    text: async (options) => {
      const validate = options.validate as (answer: string) => unknown
      expect(validate(`${url}/`)).toBeUndefined()
      expect(validate('nothing')).toContain('must be an http or https URL')
      return `${url}/`
    },
    multiselect: async () => served as never,
  })
  expect(answers).toEqual({ baseUrl: `${url}/`, notServed: ['vision.analyze'] })
})

test('the schema is named where it is, and only if it is there', () => {
  const dir = folder()
  const written = (file: string) => starter(join(dir, file), start)
  expect(written('t.json')).not.toContain('$schema')
  const path = 'node_modules/ai-content-conformance/schemas/target.schema.json'
  mkdirSync(join(dir, path, '..'), { recursive: true })
  writeFileSync(join(dir, path), '{}')
  expect(written('t.json')).toContain(`"$schema": "./${path}"`)
})

test('what init writes is a valid target file at once, as a module too, and so is its example', async () => {
  const cwd = folder()
  const init = (name: string) => conform(['init', name, '--base-url', `${url}/base`], { cwd })
  for (const name of ['t.json', 't.ts', 't.mts', 't.js', 't.mjs']) {
    await init(name)
    expect(await valid(join(cwd, name))).toMatchObject({
      ...{ name: 'api.example.com', baseUrl: `${url}/base` },
      ...{ keys: { full: { env: 'CONFORM_API_KEY' } }, limits: { concurrency: 8 } },
    })
  }
  const text = starter('t.json', { ...start, notServed: ['vision.analyze'] })
  const [, , ...example] = text.slice(text.indexOf('"limits"')).match(/(?<=^ {2}\/\/ ).*/gm)!
  const { operations: shown, ...declared } = JSON.parse(
    example.join('\n').replaceAll(/<[^>]*>/g, 'x'),
  )
  writeFileSync(join(cwd, 'whole.json'), JSON.stringify({ ...declared, operations: shown }))
  expect((await valid(join(cwd, 'whole.json'))).resources).toHaveProperty('graph')
  expect(shown).toHaveProperty('translate.run')
  expect(shown).not.toHaveProperty('vision.analyze')
})

test.each([
  ['init mine.json', /mine\.json: exists already; --from/],
  ['init t.yaml', /t\.yaml: a target file ends in \.json/],
  ['init t.json --base-url https://me:secret@x', /--base-url must be an http or https URL/],
  ['init mine.json --from mine.json', /would overwrite the report of --from/],
  ['init t.json --from mine.json', /is not JSON/],
])('conform %s writes nothing', async (args, message) => {
  const cwd = folder()
  writeFileSync(join(cwd, 'mine.json'), 'mine')
  const { code, stderr } = await conform(args, { cwd })
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) })
  expect(readdirSync(cwd)).toEqual(['mine.json'])
  expect(readFileSync(join(cwd, 'mine.json'), 'utf8')).toBe('mine')
})

test('--from makes a target file of what a report lacked', async () => {
  const cwd = folder()
  const from = join(cwd, 'r.json')
  const missing = undeclaredReason([['keys.expired']], '{"keys": {"expired": {"env": "OLD"}}}')
  const notServed = [{ operation: 'vision.analyze', answered: '404' }]
  const judged = report([missed('a.b/1', missing), missed('a.b/2', missing)], { notServed })
  writeFileSync(from, JSON.stringify(judged))
  await conform('init t.json --from r.json', { cwd })
  expect(readFileSync(join(cwd, 't.json'), 'utf8')).toContain(
    '  // {"keys": {"expired": {"env": "OLD"}}}\n',
  )
  expect(await valid(join(cwd, 't.json'))).toMatchObject({
    name: 'example.com',
    baseUrl: 'https://example.com',
    operations: { 'vision.analyze': 'not-served' },
  })
  // A handler has no address.
  const target = { ...judged.target, baseUrl: 'http://in-process.localhost' }
  writeFileSync(from, JSON.stringify({ ...judged, target }))
  await conform('init u.json --from r.json', { cwd })
  expect((await valid(join(cwd, 'u.json'))).baseUrl).toBe('https://staging.example.com')
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
    await conform(`init ${name} --from r.json`, { cwd: at })
    expect(readFileSync(file, 'utf8')).toBe(text)
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
