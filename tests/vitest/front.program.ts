import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import net from 'node:net'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { catalogue } from '../../catalogue/catalogue.ts'
import type { Report } from '../../harness/report/report-schema.ts'
import { type ReferenceOptions, startReference } from '../../library/reference.ts'
import { createReference } from '../../reference/server.ts'
import { formatFiles } from '../../library/output/files.ts'
import { formatNames } from '../../reporters/index.ts'
import ConformanceReporter from '../../library/vitest/reporter.ts'
import { leavesBodyUnread } from '../engine/body-left-unread.ts'
import { freePort } from '../support/raw-server.ts'
import { listen } from '../wire/servers.ts'
import { makeProject, type Project } from './project.ts'

/** A test of a project, as vitest's own JSON reporter tells it. */
interface Told {
  readonly title: string
  readonly ancestorTitles: readonly string[]
  readonly status: 'passed' | 'failed' | 'skipped' | 'pending'
  readonly failureMessages: readonly string[]
  /** In ms. */
  readonly duration?: number
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

/** Runs the suites of the project against a reference of its own. */
async function judged(
  args: readonly string[],
  options: ReferenceOptions = {},
  env: Record<string, string> = {},
) {
  const server = await startReference(options)
  onTestFinished(() => server.close())
  project.write({ 'target.json': JSON.stringify(server.target) })
  rmSync(join(project.dir, partOf(formatFiles.json)), { force: true })
  const said = await project.run('vitest', ['run', ...args], {
    CONFORM_TARGET: 'target.json',
    ...env,
  })
  return { said, told: told(), report: report() }
}

const json = (name: string): any => JSON.parse(readFileSync(join(project.dir, name), 'utf8'))
/** A filtered run writes a file of its own. */
const partOf = (name: string): string => name.replace(/(\.[^.]+)$/, '.part$1')
const report = (): Report => {
  const part = partOf(formatFiles.json)
  return json(existsSync(join(project.dir, part)) ? part : formatFiles.json)
}
const told = (): Told[] =>
  json('vitest.json').testResults.flatMap((file: any) => file.assertionResults)
const titles = (status: Told['status']): string[] =>
  told()
    .filter((one) => one.status === status)
    .map(({ title }) => title.split(' ')[0]!)

const made = `import { describeConformance } from 'ai-content-conformance/vitest'
import { startReference } from 'ai-content-conformance/reference'
import { afterAll } from 'vitest'
let server
describeConformance(async () => {
  server = await startReference()
  return server.target
}, { name: 'made', only: ['files.list/2xx-accepted'] })
afterAll(() => server.close())

const key = 'the-key-of-these-tests'
const refusal = { tpe: 'BadCredentials', errors: [], extras: {} }
const isOurs = (request) => request.headers.get('authorization') === 'Bearer ' + key
const fetch = (request) => (isOurs(request) ? Response.json([]) : Response.json(refusal, { status: 401 }))
describeConformance({ fetch, keys: { full: key } }, { name: 'handler', only: ['files.list/401-missing-credentials'] })

describeConformance(undefined, { name: 'provided', only: ['files.list/2xx-accepted'] })

describeConformance(async () => {
  throw new Error('the database is not there')
}, { name: 'never made', only: ['files.list/2xx-accepted'] })
`

const provided = {
  'vitest.config.js': "export default { test: { globalSetup: 'setup.js' } }",
  'setup.js': `import { startReference } from 'ai-content-conformance/reference'
export default async function setup({ provide }) {
  const server = await startReference()
  provide('conformTarget', server.target)
  return () => server.close()
}
`,
}

test('a target can be made when the tests begin, or be provided, and a handler is judged without a port', async () => {
  const other = makeProject({ 'conformance.test.js': made, ...provided })
  onTestFinished(() => other.remove())
  const reporters = ['--reporter=default', '--reporter=json', '--outputFile=told.json']
  const { code, stderr } = await other.run('vitest', ['run', ...reporters])
  const [file] = JSON.parse(readFileSync(join(other.dir, 'told.json'), 'utf8')).testResults
  const outcomes = file.assertionResults.map(({ ancestorTitles, status }: Told) => [
    ancestorTitles[0],
    status,
  ])
  expect(Object.fromEntries(outcomes)).toEqual({
    made: 'passed',
    handler: 'passed',
    provided: 'passed',
    'never made': 'skipped',
  })
  expect(code).toBe(1)
  expect(stderr).toContain('ConformanceError: the database is not there')
})

/** As the page shows it: the file imports the server, starts it, and ends it. */
const ownServer = {
  'conformance.test.js': `import { describeConformance } from 'ai-content-conformance/vitest'
import { afterAll } from 'vitest'
import { start } from './my-server.js'
let server
describeConformance(async () => {
  server = await start()
  return { baseUrl: server.url, keys: { full: server.key } }
}, { only: ['files.list/401-missing-credentials'] })
afterAll(() => server.close())
`,
  'my-server.js': startsWith([]),
}

function startsWith(defects: readonly string[]): string {
  return `import { startReference } from 'ai-content-conformance/reference'
export const start = () => startReference({ defects: ${JSON.stringify(defects)} })
`
}

test('in watch mode the server that the tests import is judged again when it changes', async () => {
  const own = makeProject(ownServer)
  const vitest = own.start('vitest', ['--watch', '--reporter=default'])
  onTestFinished(async () => {
    vitest.kill()
    await once(vitest, 'exit')
    own.remove()
  })
  const ends = summaries(vitest.stdout)
  expect(await ends.next()).toMatchObject({ value: '1 passed (1)' })
  own.write({ 'my-server.js': startsWith(['files.list/401-missing-credentials']) })
  expect(await ends.next()).toMatchObject({ value: '1 failed (1)' })
  own.write({ 'my-server.js': startsWith([]) })
  expect(await ends.next()).toMatchObject({ value: '1 passed (1)' })
})

/** Output of each run about its tests, as they end. */
async function* summaries(stdout: Readable): AsyncGenerator<string> {
  for await (const line of createInterface(stdout)) {
    const [, told] = /^ +Tests {2}(.*)$/.exec(line) ?? []
    if (told !== undefined) yield told
  }
}

test('in an environment of a browser one sentence asks for the environment node', async () => {
  const own = makeProject({
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
  onTestFinished(() => own.remove())
  const { code, stderr } = await own.run('vitest', ['run'])
  expect(code).toBe(1)
  expect(
    stderr.match(/needs vitest's environment node: write .. @vitest-environment node/g),
  ).toHaveLength(1)
})

describe('in a vitest project', () => {
  test('each requirement is a test of its operation, a filter chooses what is sent, and every report is written', async () => {
    const tmp = join(project.dir, 'tmp')
    mkdirSync(tmp)
    const chosen = 'jobs.create/404-unknown-application'
    const {
      said,
      told: tests,
      report: part,
    } = await judged(['-t', `${chosen} `], {}, { TMPDIR: tmp })
    expect(said).toMatchObject({ code: 0, stderr: '' })
    expect(tests.map(({ title }) => title.split(' ')[0]).sort()).toEqual(
      part.requirements.map(({ id }) => id).sort(),
    )
    expect(tests).toHaveLength(catalogue.length)
    const one = tests.find(({ title }) => title.startsWith(`${chosen} `))
    expect(one?.ancestorTitles).toEqual(['conformance', 'jobs.create'])
    expect(one?.title).toBe(
      `${chosen} ${part.requirements.find(({ id }) => id === chosen)!.statement}`,
    )
    // Its own time, not that of the run: it is what the report says of it.
    expect(Math.round(one!.duration!)).toBe(
      Math.round(part.requirements.find(({ id }) => id === chosen)!.durationMs),
    )
    // The requirement and its control.
    expect(titles('passed')).toEqual([chosen])
    expect(said.stdout).toContain(`1 passed | ${catalogue.length - 1} skipped`)
    expect(part).toMatchObject({ exit: { code: 0 }, run: { only: [chosen], skip: [], runs: 1 } })
    for (const name of Object.values(formatFiles)) {
      expect(existsSync(join(project.dir, partOf(name))), name).toBe(true)
      // That of a whole run would stay.
      expect(existsSync(join(project.dir, name)), name).toBe(false)
    }
    const entries: any[] = json(partOf(formatFiles.har)).log.entries
    expect(entries).toHaveLength(part.run.requests)
    expect(entries.length).toBeLessThan(30)
    expect(readdirSync(tmp).filter((name) => name.startsWith('conform-'))).toEqual([])
  })

  test('a failure says what was sent, expected and received, the curl line, and how to see it again', async () => {
    const { said } = await judged(['-t', 'jobs.create/404-'], {
      defects: ['jobs.create/404-unknown-application'],
    })
    expect(said.code).toBe(1)
    expect(titles('failed')).toEqual(['jobs.create/404-unknown-application'])
    const [message = ''] = told().find(({ status }) => status === 'failed')!.failureMessages
    // First the evidence, then what a reader of vitest does next.
    expect(message.split('\n\n')[1]).toMatch(
      /^sent .*\nexpected .*\nreceived .*\nin vitest CONFORM_SEED=.*\nagain /,
    )
    const rows = [
      /^sent {6}POST \S+/m,
      /^expected {2}404 ResourceNotFound/m,
      /^received {2}/m,
      /^curl {6}curl /m,
    ]
    for (const row of rows) expect(message).toMatch(row)
    const { seed } = report().run
    expect(message).toContain(
      `again     conform --target target.json --runs 1 --only jobs.create/404-unknown-application --seed ${seed}`,
    )
    expect(message).toContain(
      `in vitest CONFORM_SEED=${seed} npx vitest run -t 'jobs.create/404-unknown-application '`,
    )
    // No line of the test file is to blame, and none of ours.
    expect(said.stderr).not.toMatch(
      /❯|describeConformance\(|node_modules\/ai-content-conformance\/dist/,
    )
  })

  test('a failure that shows by a later request fails the file, though its test has passed', async () => {
    const { url } = await listen(net.createServer(leavesBodyUnread))
    const reference = createReference()
    // One at a time, so that the next request comes on that connection.
    const target = { ...reference.target, baseUrl: url, limits: { concurrency: 1 } }
    project.write({ 'target.json': JSON.stringify(target) })
    const two = 'jobs.create/401-missing-credentials |files.list/2xx-'
    const { code, stdout, stderr } = await project.run('vitest', ['run', '-t', two], {
      CONFORM_TARGET: 'target.json',
    })
    const failed = report().requirements.filter(({ outcome }) => outcome === 'failed')
    expect(failed.map(({ id }) => id)).toEqual(['jobs.create/401-missing-credentials'])
    expect(`${stdout}${stderr}`).toContain('wrong only on a reused connection')
    expect(code).toBe(1)
  })

  // One run of vitest: each file has a process of its own, and points at a target of its own.
  test('what is not exercised is skipped, and says why; a target that cannot be judged is an error, not a set of skipped tests', async () => {
    const server = await startReference()
    onTestFinished(() => server.close())
    const closed = await closedUrl()
    const files = {
      'bare.test.ts': pointed(
        { CONFORM_BASE_URL: server.url, CONFORM_API_KEY: server.target.keys?.full as string },
        { only: ['graphs.*', 'files.list/2xx-*'], name: 'bare' },
      ),
      'closed.test.ts': pointed({ CONFORM_BASE_URL: closed, CONFORM_API_KEY: 'no-key-of-anybody' }),
    }
    const said = await ran(files, [
      '--reporter=verbose',
      ...named,
      '--reporter=json',
      '--outputFile=vitest.json',
    ])
    expect(said.code).toBe(1)
    expect(outcomes()).toEqual({ 'bare.test.ts': 'passed', 'closed.test.ts': 'failed' })
    expect(said.stdout).toMatch(/↓ .*graphs\.query\/2xx-accepted .*\[.*graph/)
    expect(said.stdout).toMatch(/^ {2}next: To test \d+ more requirements, declare /m)
    expect(said.stdout).toMatch(/✓ .*files\.list\/2xx-accepted/)
    expect(said.stderr).toMatch(
      /FAIL +closed.*\n.*ConformanceError: http:\S+ cannot be judged: connection refused/,
    )
  })

  test('nor is one that cannot be judged or read skipped if a filter chooses from it; each mistake is reported in one sentence', async () => {
    const files = {
      'closed.test.ts': pointed({
        CONFORM_BASE_URL: await closedUrl(),
        CONFORM_API_KEY: 'no-key-of-anybody',
      }),
      'nowhere.test.ts': pointed({ CONFORM_TARGET: 'nowhere.json' }),
      'seed.test.ts': pointed({ CONFORM_SEED: 'x' }),
    }
    const said = await ran(files, ['-t', 'files.list'])
    expect(said.code).toBe(1)
    expect(outcomes()).toEqual({
      'closed.test.ts': 'failed',
      'nowhere.test.ts': 'failed',
      'seed.test.ts': 'failed',
    })
    expect(said.stderr).toMatch(
      /FAIL +closed.*\n.*ConformanceError: http:\S+ cannot be judged: connection refused/,
    )
    expect(said.stderr).toMatch(
      /FAIL +nowhere.*\n.*: nowhere\.json: does not exist\n ❯ nowhere\.test\.ts:3:1/,
    )
    expect(said.stderr).toMatch(/FAIL +seed.*\n.*: the option seed: give a whole number/)
  })

  test('the reporter can be named on the command line, and one test at a time changes nothing of what is judged', async () => {
    rmSync(join(project.dir, partOf(formatFiles.json)), { force: true })
    const said = await project.run('vitest', [
      'run',
      'conformance',
      '-t',
      'files.',
      '--maxConcurrency=1',
      ...named,
    ])
    expect(said).toMatchObject({ code: 0, stderr: '' })
    expect(said.stdout).toContain(`reports: ${join(project.dir, partOf(formatFiles.json))}`)
    const chosen = catalogue.filter(({ operation, id, statement }) =>
      /files./.test(`${operation} ${id} ${statement}`),
    )
    expect(chosen.length).toBeGreaterThan(10)
    expect(new Set(report().run.only)).toEqual(new Set(chosen.map(({ id }) => id)))
    expect(report().run.interrupted).toBe(false)
  })

  test('a wrong report is reported before anything is sent', async () => {
    expect(() => new ConformanceReporter({ reports: ['jsn'] })).toThrow(
      '--report jsn: jsn is not a format here; did you mean json?',
    )
    project.write({ 'wrong.config.ts': config.replace(/reports: \[.*?\]/, "reports: ['json=.']") })
    const wrong = await project.run('vitest', ['run', 'conformance', '--config', 'wrong.config.ts'])
    expect(wrong.code).toBe(1)
    expect(wrong.stderr).toContain(': is a folder')
  })

  test('a run that bails ends, and the test that failed has failed', async () => {
    const bailed = await judged(['-t', 'files.', '--bail=1'], {
      defects: ['files.list/401-missing-credentials'],
    })
    expect(bailed.said.code).toBe(1)
    expect(titles('failed')).toContain('files.list/401-missing-credentials')
  })
})

const named = ['--reporter=ai-content-conformance/vitest/reporter']

/** A test file that sets its own environment. */
function pointed(env: Readonly<Record<string, string>>, options: object = {}): string {
  return `import { describeConformance } from 'ai-content-conformance/vitest'
Object.assign(process.env, ${JSON.stringify(env)})
describeConformance(undefined, ${JSON.stringify({ runs: 1, ...options })})
`
}

/** Runs these files alone. */
async function ran(files: Readonly<Record<string, string>>, args: readonly string[]) {
  project.write(files)
  onTestFinished(() => Object.keys(files).forEach((name) => rmSync(join(project.dir, name))))
  return project.run('vitest', ['run', ...Object.keys(files), ...args])
}

/** The outcome of each test file. */
const outcomes = (): Record<string, Told['status']> =>
  Object.fromEntries(
    json('vitest.json').testResults.map((file: any) => [basename(file.name), file.status]),
  )

const closedUrl = async () => `http://127.0.0.1:${await freePort()}`
