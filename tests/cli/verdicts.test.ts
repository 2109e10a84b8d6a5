/** How a run ends that `conform` starts. Which outcomes and options decide is in `gates/decisions`. */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test, vi } from 'vitest'
import { keepReport, newestReport, withFailed } from '../../cli/run/arguments.ts'
import { runOptionsOf } from '../../harness/client/index.ts'
import { leftOut } from '../../harness/report/reason.ts'
import { resolveTarget } from '../../harness/target/index.ts'
import { noFacts, reportOf } from '../../suites/judge.ts'
import { failure } from '../gates/results.ts'
import { folder, ids, readReport, referenceKey, row, targetFile } from './conform.ts'
import { conform, judged, reference } from './in-process.ts'

const withKey = { env: { CONFORM_API_KEY: referenceKey } }

test('without a key, or with one that is not accepted, nothing is judged', async () => {
  const { url } = await reference()
  const cwd = folder()
  const run = (env = {}) => conform(`${url} --only files.* --runs 1 --report json`, { cwd, env })
  const without = await run()
  expect(without).toMatchObject({ code: 3, stdout: expect.stringContaining('no key') })
  const report = readReport(cwd)
  expect(report.verdict).toBe('not-judged')
  expect([...ids(report, 'passed'), ...ids(report, 'failed')]).toEqual([])
  const wrong = await run({ CONFORM_API_KEY: `${referenceKey.slice(0, -6)}AAAAAA` })
  expect(wrong.code).toBe(3)
  expect(wrong.stdout).toMatch(/^Not judged$/m)
  expect(wrong.stdout).toContain(
    'the key is not accepted: every request with it returned 401 BadToken, so the service itself refused it; the key may have expired; ',
  )
  expect(wrong.stdout).toMatch(/expired; (\d+) of \1 required checks were not tested$/m)
  expect(wrong.stdout).not.toMatch(/✗|Likely/)
})

test('without a key a target that serves everybody is non-conformant', async () => {
  const id = 'files.list/401-missing-credentials'
  const { url } = await reference({ defects: [id] })
  const { code, stdout } = await conform(`${url} --only files.*`)
  expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining(`✗ ${id}`) })
  expect(stdout).toMatch(/^Non-conformant: 1 required check failed, 0 passed, \d+ not tested$/m)
})

test('--key is taken, and shown nowhere', async () => {
  const { url } = await reference()
  const args = `${url} -k ${referenceKey} --only files.list/2xx-accepted`
  const { code, stdout, stderr } = await conform(args)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout + stderr).not.toContain(referenceKey)
})

const broken = 'jobs.create/404-unknown-application'
const otherName = { defects: [`${broken}#tpe`] }

test('a failure shows commands that show it again', async () => {
  const ended = await judged(`--only ${broken} --seed 421`, otherName)
  const { code, cwd, report, stdout, target } = ended
  expect(code).toBe(1)
  const received = /^ +received +404 (\w+) .*"\1" is a code name of 404 in §7\.2/m
  expect(stdout).toMatch(received)
  expect(stdout).toMatch(/^ +note +only the code name differs: passes with --tpe family$/m)
  const [shown] = row(report, broken).failures

  // What a report tells a reader to run is run, as it is.
  const again = stdout.match(/^ +again\n +(conform .*)$/m)?.[1]
  expect(again).toBe(shown?.rerun)
  expect(again).toBe(`conform --target ${target} --only ${broken} --seed 421`)
  const second = await conform(`${again?.slice('conform '.length)} --report json`, { cwd })
  expect(second.code).toBe(1)
  expect(row(readReport(cwd), broken).failures[0]?.message).toBe(shown?.message)

  const curl = stdout.match(/^ +curl\n +(curl .*)$/m)?.[1] ?? ''
  expect(curl).toContain('$CONFORM_API_KEY')
  const env = { ...process.env, ...withKey.env }
  const answer = await promisify(execFile)('bash', ['-c', `${curl} -s`], { env })
  expect(answer.stdout).toContain(`"tpe":"${received.exec(stdout)?.[1]}"`)
})

test('--strict, --require-exercised and --tpe family decide the exit code', async () => {
  const should = 'chat.create/400-malformed-response-format'
  const { url } = await reference({ defects: [should, ...otherName.defects] })
  const target = targetFile(folder(), url)
  const run = (args: string) => conform(`-t ${target} --runs 1 --only ${args}`)
  const lenient = await run(should)
  expect(lenient).toMatchObject({ code: 0, stdout: expect.stringContaining(`✗ ${should}`) })
  expect(await run(`${should} --strict`)).toMatchObject({ code: 1 })
  expect(await run(broken)).toMatchObject({ code: 1 })
  expect(await run(`${broken} --tpe family`)).toMatchObject({ code: 0 })
  const bare = (more: string) => conform(`${url} --only files.list/* --runs 1 ${more}`, withKey)
  expect(await bare('')).toMatchObject({ code: 0 })
  expect(await bare('--require-exercised')).toMatchObject({ code: 1 })
})

test('--skip applies after --only, and the report says which left a requirement out', async () => {
  const only = '--only files.retrieve/* --only translate.run/2xx-*'
  const { code, report } = await judged(`${only} --skip */401-* --runs 1`)
  expect({ code, verdict: report.verdict }).toEqual({ code: 0, verdict: 'passing' })
  const passed = ids(report, 'passed')
  expect(passed).toContain('translate.run/2xx-accepted')
  const chosen = /^(files\.retrieve\/[^4]|files\.retrieve\/4(?!01)|translate\.run\/2xx-)/
  expect(passed.filter((id) => !chosen.test(id))).toEqual([])
  expect(row(report, 'files.retrieve/401-missing-credentials').reason).toBe('left out: --skip')
  expect(row(report, 'files.upload/2xx-accepted').reason).toBe('left out: --only')
})

test('--bail ends the run at the first must that fails, whatever follows it', async () => {
  const failing = 'files.upload/401-missing-credentials'
  const { url } = await reference({ defects: [failing] })
  const cwd = folder()
  const args = `-t ${targetFile(cwd, url)} --only files.* --concurrency 1 --bail ${url} --report json`
  expect(await conform(args, { cwd })).toMatchObject({ code: 1 })
  const report = readReport(cwd)
  expect(ids(report, 'failed')).toEqual([failing])
})

test('--read-only creates nothing', async () => {
  const { code, report } = await judged('--read-only --depth quick --only files.*')
  expect(code).toBe(0)
  expect(report).toMatchObject({ verdict: 'passing', run: { readOnly: true, created: [] } })
})

test('--failed runs what failed in a report and what was cut off, and never writes over it', async () => {
  const cwd = folder()
  const target = targetFile(cwd, (await reference()).url)
  const run = (args: string) => conform(`-t ${target} ${args}`, { cwd })
  await run('--only files.list/40* --report json=before.json')
  expect((await run('--failed before.json')).stderr).toContain('nothing failed in before.json')
  const report = readReport(cwd, 'before.json')
  const [first, second] = report.requirements.filter(({ outcome }) => outcome === 'passed')
  const rerunIds = [first!.id, 'files.list/2xx-accepted']
  Object.assign(first!, { outcome: 'failed', failures: [failure({ rerunIds })] })
  Object.assign(second!, { outcome: 'not-exercised', ...leftOut('interrupted') })
  writeFileSync(join(cwd, 'before.json'), JSON.stringify(report))
  const ended = await run('--failed before.json --report json=again.json')
  expect(ended).toMatchObject({ code: 0 })
  expect(readReport(cwd, 'again.json').run.only).toEqual([...rerunIds, second!.id])
  expect(ended.stdout).toMatch(/^left out: \d+ by --failed$/m)
  const over = await run('--failed before.json --report json=before.json')
  expect(over).toMatchObject({ code: 2 })
  expect(over.stderr).toContain('would overwrite the report of --failed')
})

test('--failed alone goes by the last run of the target, whose report has no key', async () => {
  const id = 'files.retrieve/404-unknown-file'
  const { url } = await reference({ defects: [id] })
  const [cwd, caches] = [folder(), folder()]
  const file = targetFile(cwd, url)
  const run = (args: string) => conform(args, { cwd, env: { XDG_CACHE_HOME: caches } })
  const again = `${url} -t ${file} --failed`
  expect((await run(again)).stderr).toContain('no earlier run of this target was found')
  await run(`${url} -t ${file} --only ${id} --only files.list/401-*`)
  // The address that follows is no report.
  const { stdout } = await run(`-t ${file} --failed ${url}`)
  expect(stdout).toContain(`✗ ${id}`)
  // Another target has its own, and a run that judged nothing takes the place of none.
  expect(await run('http://127.0.0.1:1 --failed')).toMatchObject({ code: 2 })
  expect(await run(`${url} -t ${file} -k wrong-key --only ${id}`)).toMatchObject({ code: 3 })
  expect((await run(again)).stdout).toContain(`✗ ${id}`)
  const kept = join(caches, 'ai-content-conformance')
  const texts = readdirSync(kept).map((name) => readFileSync(join(kept, name), 'utf8'))
  expect(texts).toEqual([expect.stringContaining(id)])
  expect(texts.join()).not.toContain(referenceKey)
})

test('a run is kept if it was interrupted at once, or lacked everything, as its last lines need it', async () => {
  vi.stubEnv('XDG_CACHE_HOME', folder())
  const baseUrl = 'http://127.0.0.1:1'
  const { target } = await resolveTarget({}, { dir: '.', env: {}, baseUrl, key: 'abcdefgh1234' })
  const cut = { cause: 'interrupted', ...leftOut('interrupted') } as const
  const keep = async (id: string, ended: typeof noFacts.ended): Promise<void> => {
    const options = runOptionsOf({ only: [id] }, '')
    const about = { target, options, startedAt: new Date(), durationMs: 1 }
    const report = reportOf({ ...about, results: new Map(), facts: { ...noFacts, ended } })
    expect(report.verdict).toBe('not-judged')
    await keepReport(report, { baseUrl })
  }
  await keep('files.list/2xx-accepted', cut)
  const lists = { only: [], report: [], skip: [] }
  const again = withFailed(baseUrl, { depth: 'full', tpe: 'exact', ...lists })
  expect(again.only).toEqual(['files.list/2xx-accepted'])
  await keep('jobs.create/202-created', null)
  expect(readFileSync(newestReport()!, 'utf8')).toContain('declare resources.application')
  vi.unstubAllEnvs()
})

test('a run that a mistake of the suite ends asks to report it, with the seed', async () => {
  const { target } = await resolveTarget({}, { dir: '.', env: {}, baseUrl: 'http://127.0.0.1:1' })
  const { exit } = reportOf({
    ...{ target, options: runOptionsOf({ seed: 77 }, ''), startedAt: new Date(), durationMs: 1 },
    ...{ results: new Map(), facts: noFacts, problem: 'x is undefined' },
  })
  const because =
    'a bug in the suite ended the run: x is undefined; please report it, with seed 77 (NODE_DEBUG=conform prints the stack)'
  expect(exit).toEqual({ code: 3, because, outside: true })
})
