import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { catalogue } from '../../catalogue/catalogue.ts'
import { freePort } from '../support/raw-server.ts'
import { makeProject, type Project, projectIn } from '../vitest/project.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

let all: Project
beforeAll(() => {
  all = makeProject()
})
afterAll(() => all.remove())

/** An example beside the package as it is packed. */
function example(name: string): Project {
  cpSync(join(root, 'docs/examples', name), join(all.dir, name), { recursive: true })
  return projectIn(join(all.dir, name), join(all.dir, 'node_modules'))
}

test('the examples in TypeScript compile with no declaration skipped, the strict one under either resolution, and it judges', async () => {
  const project = example('typescript')
  example('vitest')
  all.write({ 'tsconfig.json': JSON.stringify(together), 'typescript/mistyped.ts': mistyped })
  // As packing does, the declarations are written beside the code.
  const types = [...tsc('typescript-7', join(root, 'scripts/tsconfig.json')), '--outDir']
  const declared = join(all.dir, 'node_modules/ai-content-conformance/dist/types')
  expect(await project.run('node', [...types, declared])).toMatchObject(silent)
  // The one by the compiler that is new, the other by that of most readers.
  expect(await all.run('node', tsc('typescript', 'typescript'))).toMatchObject(silent)
  const { stdout: bundler } = await all.run('node', tsc('typescript-7', '.'))
  const told = bundler.trimEnd().split('\n')
  const places = told.map((line) => line.replace(/,\d+\): error .*/, ''))
  expect([...new Set(places)]).toEqual(
    [4, 5, 6, 7, 8, 9].map((line) => `typescript/mistyped.ts(${line}`),
  )
  expect(bundler).toContain("''jobs.create/404-unknown-aplication'' does not exist in type")

  const { code, stdout, stderr } = await project.run('node', ['out/judge.js'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(
    /^jobs\.create\/404-unknown-application: expected 404 ResourceNotFound .*, received /,
  )
  expect(stdout).toMatch(/\nnon-conformant, \d+ requests, seed -?\d+\n$/)
})

const silent = { code: 0, stdout: '', stderr: '' }
const tsc = (compiler: string, project: string): string[] => [
  join(root, 'node_modules', compiler, 'bin/tsc'),
  ...['-p', project, '--pretty', 'false'],
]

/** Both as strict as the first, in the modules of the second. */
const together = {
  extends: ['./typescript/tsconfig.json', './vitest/tsconfig.json'],
  compilerOptions: { rootDir: '.' },
  files: ['typescript/judge.ts', 'typescript/mistyped.ts'],
  include: ['vitest/*.ts'],
}

/** Lines 4 to 9 must not compile, the rest must. */
const mistyped = `import { catalogue, defineTarget, type JudgedEvent, type Requirement, type RequirementId, runConformance } from 'ai-content-conformance'
import { describeConformance } from 'ai-content-conformance/vitest'
import file from '../node_modules/ai-content-conformance/fixtures/reference.target.json' with { type: 'json' }
defineTarget({ scenarios: { 'jobs.create/404-unknown-aplication': {} } })
defineTarget({ operations: { 'chat.creat': 'not-served' } })
const id: RequirementId = 'jobs.create/404-unknown-aplication'
runConformance(file, { onyl: [id] })
export const isIt = ({ id: one }: Requirement): boolean => one === 'jobs.create/404-unknown-aplication'
describeConformance({ operations: { 'files.uploads': { contentType: 'text/plain' } } })
runConformance(file, { only: ['jobs.create/*', catalogue[0]!.id] })
describeConformance({ operations: { 'files.upload': { contentType: 'text/plain' } } })
runConformance(JSON.parse('{}'))
export const known: RequirementId = 'jobs.create/404-unknown-application'
export const judged = (event: JudgedEvent): RequirementId => event.result.id
export const ids = async (): Promise<RequirementId[]> => (await runConformance(file).report).requirements.map(({ id: one }) => one)
`

test('the example with node:test passes', async () => {
  const args = ['--test', '--test-reporter=tap', 'conformance.test.js']
  const { code, stdout } = await example('node-test').run('node', args)
  expect({ code, stdout }).toMatchObject({ code: 0 })
  expect(stdout).toMatch(/files\.retrieve\/404-unknown-file/)
  expect(stdout).toMatch(/^# fail 0$/m)
})

test('the example with vitest passes, and its reports are written', async () => {
  const project = example('vitest')
  const { code, stdout, stderr } = await project.run('vitest', ['run'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain('conform: Embedded reference server: ')
  // Without a filter everything is judged.
  expect(reportIn(project)).toMatchObject({ exit: { code: 0 }, run: { only: [], skip: [] } })
  const [, passed] = /Tests +(\d+) passed \| 1 skipped/.exec(stdout)!
  expect(Number(passed)).toBe(catalogue.length - 1)
  expect(existsSync(join(project.dir, 'reports/conformance.html'))).toBe(true)
  expect(existsSync(join(project.dir, 'conform-report.xml'))).toBe(true)
})

const reportIn = ({ dir }: Project) =>
  JSON.parse(readFileSync(join(dir, 'conform-report.json'), 'utf8'))

/** The report of the command of an example, as its package.json has it, on another port than the one that it names. */
async function judged(project: Project, port = 0) {
  const { scripts } = JSON.parse(readFileSync(join(project.dir, 'package.json'), 'utf8'))
  const words = [...scripts.conform.matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain,
  )
  const args = words.slice(1).map((word) => word.replace('server.py', `server.py ${port}`))
  const more = port === 0 ? [] : [`http://127.0.0.1:${port}`]
  const conform = join(all.dir, 'node_modules/ai-content-conformance/cli/bin/conform.js')
  const ended = await project.run('node', [
    conform,
    ...args,
    ...more,
    '--strict',
    '--report',
    'json',
  ])
  expect(ended.code, (ended.stdout + ended.stderr).slice(-4000)).toBe(0)
  return reportIn(project)
}

test.each(['fastify', 'hono', 'express'])(
  'the example with %s conforms, and no port is opened',
  async (name) => {
    const target = { baseUrl: 'http://in-process.localhost' }
    expect(await judged(example(name))).toMatchObject({ verdict: 'conformant', target })
  },
)

test('the example in Python is started, conforms, and is ended', async () => {
  const port = await freePort()
  expect(await judged(example('python'), port)).toMatchObject({ verdict: 'conformant' })
  await expect(fetch(`http://127.0.0.1:${port}/v1/files`)).rejects.toThrow()
})

/** A program of somebody's own. */
const program = `import { runConformance } from 'ai-content-conformance'
import { startReference } from 'ai-content-conformance/reference'
const handlers = () => ['SIGINT', 'SIGTERM', 'SIGHUP', 'uncaughtException'].map((name) => process.listenerCount(name))
const server = await startReference()
const before = handlers()
const run = runConformance(server.target, { only: ['jobs.create/*'], runs: 1 })
let during = before
for await (const event of run) if (event.kind === 'judged') during = handlers()
const report = await run.report
await server.close()
console.log(JSON.stringify({ before, during, code: process.exitCode ?? null, exit: report.exit.code }))
`

test('a run says nothing, hears no signal, sets no exit code, and leaves nothing that keeps the process alive', async () => {
  const project = makeProject({ 'judge.js': program })
  onTestFinished(() => project.remove())
  const { code, stderr, stdout } = await project.run('node', ['judge.js'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const none = [0, 0, 0, 0]
  expect(JSON.parse(stdout)).toEqual({ before: none, during: none, code: null, exit: 0 })
})
