/** `describeConformance` and its reporter, in somebody's vitest project. */
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import net from 'node:net'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { catalogue } from '../../catalogue/catalogue.ts'
import type { Report } from '../../schemas/report.ts'
import { formatFiles } from '../../library/output.ts'
import { type ReferenceOptions, startReference } from '../../library/reference.ts'
import { createReference } from '../../reference/server.ts'
import { formatNames } from '../../reporters/index.ts'
import { referenceKey, row } from '../cli/conform.ts'
import { leavesBodyUnread } from '../engine/body-left-unread.ts'
import { freePort } from '../support/raw-server.ts'
import { listen } from '../wire/servers.ts'
import { makeProject, type Project } from './project.ts'

/** A test of a project, as vitest's own JSON reporter tells it. */
interface Told {
  title: string
  ancestorTitles: string[]
  status: 'passed' | 'failed' | 'skipped' | 'pending'
  failureMessages: string[]
  /** In ms. */
  duration?: number
}

const suite = `import { describeConformance } from 'ai-content-conformance/vitest'
describeConformance(undefined, { runs: 1 })
`
const config = `import { defineConfig } from 'vitest/config'
import ConformanceReporter from 'ai-content-conformance/vitest/reporter'
export default defineConfig({ test: { reporters: [
  'default', ['json', { outputFile: 'vitest.json' }],
  new ConformanceReporter({ reports: ${JSON.stringify(formatNames)} }),
] } })
`

let project: Project
beforeAll(() => {
  project = makeProject({ 'conformance.test.ts': suite, 'vitest.config.ts': config })
})
afterAll(() => project.remove())

function ownProject(files: Record<string, string>): Project {
  const own = makeProject(files)
  onTestFinished(() => own.remove())
  return own
}

/** A reference for one test, which the project is pointed at. */
async function reference(options: ReferenceOptions = {}) {
  const server = await startReference(options)
  onTestFinished(() => server.close())
  project.write({ 'target.json': JSON.stringify(server.target) })
  return server
}

const vitest = (args: string, env: Record<string, string> = {}) =>
  project.run('vitest', ['run', ...args.split(' | ')], { CONFORM_TARGET: 'target.json', ...env })

const json = (name: string, at = project): any =>
  JSON.parse(readFileSync(join(at.dir, name), 'utf8'))
const report = (): Report => json(formatFiles.json)
const told = (): Told[] =>
  json('vitest.json').testResults.flatMap((file: any) => file.assertionResults)
const titles = (status: Told['status']): string[] =>
  told().flatMap((one) => (one.status === status ? [one.title.split(' ')[0]!] : []))

test('each requirement is a test of its operation, a filter chooses what is sent, and every report is written', async () => {
  const tmp = join(project.dir, 'tmp')
  mkdirSync(tmp)
  await reference()
  const chosen = 'jobs.create/404-unknown-application'
  const said = await vitest(`-t | ${chosen} `, { TMPDIR: tmp })
  expect(said).toMatchObject({ code: 0, stderr: '' })
  const part = report()
  const ids = told().map(({ title }) => title.split(' ')[0])
  expect(ids.sort()).toEqual(catalogue.map(({ id }) => id as string).sort())
  const { statement, durationMs } = row(part, chosen)
  const one = told().find(({ title }) => title.startsWith(`${chosen} `))!
  expect(one).toMatchObject({
    ancestorTitles: ['conformance', 'jobs.create'],
    title: `${chosen} ${statement}`,
  })
  // Its own time, not that of the run.
  expect(Math.round(one.duration!)).toBe(Math.round(durationMs))
  expect(titles('passed')).toEqual([chosen])
  expect(part).toMatchObject({ exit: { code: 0 }, run: { only: [chosen], skip: [], runs: 1 } })
  const written = readdirSync(project.dir).filter((name) => name.startsWith('conform-report'))
  expect(written.sort()).toEqual(Object.values(formatFiles).sort())
  // The requirement and its control.
  const entries: any[] = json(formatFiles.har).log.entries
  expect(entries).toHaveLength(part.run.requests)
  expect(entries.length).toBeLessThan(30)
  expect(readdirSync(tmp).filter((name) => name.startsWith('conform-'))).toEqual([])
})

test('a failure says what was sent, expected and received, the curl line, and how to see it again', async () => {
  const id = 'jobs.create/404-unknown-application'
  await reference({ defects: [id] })
  const said = await vitest('-t | jobs.create/404-')
  expect(said.code).toBe(1)
  expect(titles('failed')).toEqual([id])
  const [message = ''] = told().find(({ status }) => status === 'failed')!.failureMessages
  const { seed } = report().run
  // First the evidence, then what a reader of vitest does next.
  expect(message.split('\n\n')[1]).toMatch(
    /^sent {6}POST \S+.*\nexpected {2}404 ResourceNotFound.*\nreceived {2}.*\nin vitest CONFORM_SEED=.*\nagain [^]*^curl {6}curl /m,
  )
  const again = `--runs 1 --only ${id} --seed ${seed}`
  expect(message).toContain(`again     conform --target target.json ${again}`)
  expect(message).toContain(`in vitest CONFORM_SEED=${seed} npx vitest run -t '${id} '`)
  // No line of the test file is to blame, and none of ours.
  expect(said.stderr).not.toMatch(/❯|describeConformance\(|ai-content-conformance\/dist/)
})

test('a failure that shows by a later request fails the file, though its test has passed', async () => {
  const { url } = await listen(net.createServer(leavesBodyUnread))
  // One at a time, so that the next request comes on that connection.
  const target = { ...createReference().target, baseUrl: url, limits: { concurrency: 1 } }
  project.write({ 'target.json': JSON.stringify(target) })
  const { code, stdout, stderr } = await vitest(
    '-t | jobs.create/401-missing-credentials |files.list/2xx-',
  )
  const failed = report().requirements.filter(({ outcome }) => outcome === 'failed')
  expect(failed.map(({ id }) => id)).toEqual(['jobs.create/401-missing-credentials'])
  expect(stdout + stderr).toContain('wrong only on a reused connection')
  expect(code).toBe(1)
})

/** A test file that sets its own environment. */
const pointed = (env: object, options: object = {}) =>
  `import { describeConformance } from 'ai-content-conformance/vitest'
Object.assign(process.env, ${JSON.stringify(env)})
describeConformance(undefined, ${JSON.stringify({ runs: 1, ...options })})
`

test('what is not exercised is skipped, and says why; what cannot be judged or read fails its file in one sentence, also under a filter', async () => {
  const { url } = await reference()
  const at = (baseUrl: string, key: string) => ({ CONFORM_BASE_URL: baseUrl, CONFORM_API_KEY: key })
  const dead = at(`http://127.0.0.1:${await freePort()}`, 'no-key-of-anybody')
  const alive = { ...at(url, referenceKey), CONFORM_TARGET: '' }
  // One run of vitest: each file has a process of its own, and points at a target of its own.
  const own = ownProject({
    'bare.test.ts': pointed(alive, { only: ['graphs.*', 'files.list/2xx-*'] }),
    'closed.test.ts': pointed(dead),
    'nowhere.test.ts': pointed({ CONFORM_TARGET: 'nowhere.json' }),
    'seed.test.ts': pointed({ CONFORM_SEED: 'x' }),
  })
  const reporters = ['verbose', 'ai-content-conformance/vitest/reporter', 'json']
  const args = reporters.map((name) => `--reporter=${name}`)
  const run = (...more: string[]) =>
    own.run('vitest', ['run', ...args, '--outputFile=vitest.json', ...more])
  const outcomes = () =>
    json('vitest.json', own).testResults.map((file: any) => `${basename(file.name)} ${file.status}`)
  const whole = await run()
  const failing = ['closed', 'nowhere', 'seed'].map((name) => `${name}.test.ts failed`)
  expect(outcomes().sort()).toEqual(['bare.test.ts passed', ...failing])
  expect(whole.stdout).toMatch(/↓ .*graphs\.query\/2xx-accepted .*\[.*graph/)
  expect(whole.stdout).toMatch(/✓ .*files\.list\/2xx-accepted/)
  expect(whole.stdout).toMatch(/^ {2}next: To test \d+ more requirements, declare /m)
  const some = await run('-t', 'files.list')
  expect(some.stdout).toContain(`reports: ${join(own.dir, formatFiles.json)}`)
  for (const { code, stderr } of [whole, some]) {
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /FAIL +closed.*\n.*ConformanceError: http:\S+ cannot be judged: connection refused/,
    )
    expect(stderr).toMatch(/FAIL +nowhere.*\n.*: nowhere\.json: does not exist\n/)
    expect(stderr).toMatch(/FAIL +seed.*\n.*: the option seed: give a whole number/)
  }
})

test('one test at a time changes nothing of what is judged, and --bail ends the run', async () => {
  await reference({ defects: ['files.list/401-missing-credentials'] })
  await vitest('conformance | -t | files. | --maxConcurrency=1')
  const chosen = catalogue.filter((one) =>
    /files./.test(`${one.operation} ${one.id} ${one.statement}`),
  )
  expect(new Set(report().run.only)).toEqual(new Set(chosen.map(({ id }) => id)))
  expect(report().run.interrupted).toBe(false)
  expect((await vitest('conformance | -t | files. | --bail=1')).code).toBe(1)
  expect(titles('failed')).toContain('files.list/401-missing-credentials')
})

test('a report that cannot be written is reported before anything is sent', async () => {
  project.write({ 'wrong.config.ts': config.replace(/reports: \[.*?\]/, "reports: ['json=.']") })
  const wrong = await vitest('conformance | --config | wrong.config.ts')
  expect(wrong.code).toBe(1)
  expect(wrong.stderr).toContain(': is a folder')
})

const made = `import { describeConformance } from 'ai-content-conformance/vitest'
import { startReference } from 'ai-content-conformance/reference'
import { afterAll, inject } from 'vitest'
const only = ['files.list/2xx-accepted']
let server
describeConformance(async () => {
  server = await startReference()
  return server.target
}, { name: 'made', only })
afterAll(() => server.close())

const key = 'the-key-of-these-tests'
const refusal = { tpe: 'BadCredentials', errors: [], extras: {} }
const isOurs = (request) => request.headers.get('authorization') === 'Bearer ' + key
const unknown = { tpe: 'NotFound', errors: [], extras: {} }
const answer = ({ url }) => (url.endsWith('/v1/files') ? Response.json([]) : Response.json(unknown, { status: 404 }))
const fetch = (request) => (isOurs(request) ? answer(request) : Response.json(refusal, { status: 401 }))
describeConformance({ fetch, keys: { full: key } }, { name: 'handler', only: ['files.list/401-missing-credentials'] })

describeConformance(() => inject('target'), { name: 'provided', only })

describeConformance(async () => {
  throw new Error('the database is not there')
}, { name: 'never made', only })
`

test('a target can be made when the tests begin, or be provided, and a handler is judged without a port', async () => {
  const own = ownProject({
    'conformance.test.js': made,
    'vitest.config.js': "export default { test: { globalSetup: 'setup.js' } }",
    'setup.js': `import { startReference } from 'ai-content-conformance/reference'
export default async function setup({ provide }) {
  const server = await startReference()
  provide('target', server.target)
  return () => server.close()
}
`,
  })
  const reporters = ['--reporter=default', '--reporter=json', '--outputFile=told.json']
  const { code, stderr } = await own.run('vitest', ['run', ...reporters])
  const [file] = json('told.json', own).testResults
  const outcomes = file.assertionResults.map((one: Told) => [one.ancestorTitles[0], one.status])
  const passed = { made: 'passed', handler: 'passed', provided: 'passed' }
  expect(Object.fromEntries(outcomes)).toEqual({ ...passed, 'never made': 'skipped' })
  expect(code).toBe(1)
  expect(stderr).toContain('ConformanceError: the database is not there')
})

/** As the page shows it: the file imports the server, starts it, and ends it. */
const importing = `import { describeConformance } from 'ai-content-conformance/vitest'
import { afterAll } from 'vitest'
import { start } from './my-server.js'
let server
describeConformance(async () => {
  server = await start()
  return { baseUrl: server.url, keys: { full: server.key } }
}, { only: ['files.list/401-missing-credentials'] })
afterAll(() => server.close())
`
const startsWith = (...defects: string[]) => ({
  'my-server.js': `import { startReference } from 'ai-content-conformance/reference'
export const start = () => startReference({ defects: ${JSON.stringify(defects)} })
`,
})

test('in watch mode the server that the tests import is judged again when it changes', async () => {
  const own = makeProject({ 'conformance.test.js': importing, ...startsWith() })
  const watching = own.start('vitest', ['--watch', '--reporter=default'])
  onTestFinished(async () => {
    watching.kill()
    await once(watching, 'exit')
    own.remove()
  })
  const ends = summaries(watching.stdout)
  expect(await ends.next()).toMatchObject({ value: '1 passed (1)' })
  own.write(startsWith('files.list/401-missing-credentials'))
  expect(await ends.next()).toMatchObject({ value: '1 failed (1)' })
  own.write(startsWith())
  expect(await ends.next()).toMatchObject({ value: '1 passed (1)' })
})

/** What each run says of its tests at its end. */
async function* summaries(stdout: Readable): AsyncGenerator<string> {
  for await (const line of createInterface(stdout)) {
    const [, summary] = /^ +Tests {2}(.*)$/.exec(line) ?? []
    if (summary !== undefined) yield summary
  }
}

test('in an environment of a browser one sentence asks for the environment node', async () => {
  const own = ownProject({
    'dom.test.js': `import { describeConformance } from 'ai-content-conformance/vitest'
describeConformance()
`,
    'environment.mjs': `export default {
  name: 'browser-like',
  viteEnvironment: 'ssr',
  setup(global) {
    global.window = global
    return { teardown() {} }
  },
}
`,
    'vitest.config.js': "export default { test: { environment: './environment.mjs' } }",
  })
  const { code, stderr } = await own.run('vitest', ['run'])
  expect(code).toBe(1)
  const asked = /needs vitest's environment node: write .. @vitest-environment node/g
  expect(stderr.match(asked)).toHaveLength(1)
})

test('the project conformance of this repository judges what the environment names', async () => {
  const { url } = await reference({ defects: ['files.list/2xx-accepted'] })
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const env = { CONFORM_BASE_URL: url, CONFORM_API_KEY: referenceKey, CONFORM_TARGET: '' }
  const args = `--root | ${root} | --project | conformance | -t | files.list/2xx-accepted `
  const said = await vitest(args, env)
  expect(said.stdout).toMatch(/Tests .*1 failed/)
  expect(said.stderr).toMatch(/^expected +a 2xx/m)
  expect(said.code).toBe(1)
})
