/** Signals: a run ends in time, with its reports and its clean-up. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { formatNames } from '../../reporters/index.ts'
import { type Ended, folder, ids, readReport, type Running, start, targetFile } from './conform.ts'
import { reference } from './in-process.ts'
import { slowTarget } from './processes.ts'

/** ms for an interrupted run to end: ten times as long as it may take, and a third of what it takes if it misses the signal. */
const limitMs = 20_000

async function end(run: Running, signal?: NodeJS.Signals): Promise<Ended> {
  const began = performance.now()
  if (signal) run.child.kill(signal)
  const ended = await run.ended
  expect(performance.now() - began).toBeLessThan(limitMs)
  return ended
}

test.each([
  ['SIGINT', 1],
  ['SIGTERM', 2],
  ['SIGHUP', 1],
] as const)(
  '%s, sent %i times at once, ends a run that waits for its target, and what was learned is reported',
  async (signal, times) => {
    const { url } = await reference()
    const slow = await slowTarget(url, (line) => line === 'POST /v1/completion')
    const cwd = folder()
    const args = `-t ${targetFile(cwd, slow.url)} --only files.* --only completion.* --runs 1`
    const reports = ['json', 'html', 'har', 'junit'].map((name) => `--report ${name}`)
    const run = start(`${args} ${reports.join(' ')}`, { cwd })
    await slow.held(1)
    for (let more = 1; more < times; more++) run.child.kill(signal)
    const { code, stdout, stderr } = await end(run, signal)
    expect({ code, stderr }).toEqual({ code: 3, stderr: '' })
    expect(stdout).toMatch(/interrupted/)
    const report = readReport(cwd)
    expect(report.run.interrupted).toBe(true)
    expect(ids(report, 'failed')).toEqual([])
    const cut = report.requirements.filter(({ operation }) => operation === 'completion.create')
    expect(cut.map(({ reason }) => reason)).toContain('left out: interrupted')
    expect(cut.filter(({ outcome }) => outcome === 'passed')).toEqual([])
    const written = ['har', 'html', 'json', 'xml'].map((name) => `conform-report.${name}`)
    expect(readdirSync(cwd).sort()).toEqual([...written, 'target.json'])

    // Clean-up is sent all the same, for whatever the run is known to have created.
    const removed = slow.passed.flatMap(
      (line) => /^DELETE \/admin\/files\/(.*)/.exec(line)?.[1] ?? [],
    )
    const uploads = report.run.created.filter(({ operation }) => operation === 'files.upload')
    expect(removed.sort()).toEqual(uploads.map(({ id }) => id).sort())
  },
)

test('a second signal ends the process at once, and nothing of it is left', async () => {
  const { url } = await reference()
  // Clean-up never ends by itself: the first signal waits for it.
  const isHeld = (line: string) => /^POST \/v1\/completion$|^DELETE /.test(line)
  const slow = await slowTarget(url, isHeld)
  const [cwd, temporary] = [folder(), folder()]
  const args = `-t ${targetFile(cwd, slow.url)} --only files.upload/* --only completion.* --runs 1`
  const run = start(`${args} --report json`, { cwd, env: { TMPDIR: temporary } })
  await slow.held(1)
  run.child.kill('SIGINT')
  // Where nothing had been created yet there is nothing to clean up, and the first signal ends it.
  await Promise.race([slow.held(2), run.ended])
  const { code } = await end(run, 'SIGINT')
  expect([130, 3]).toContain(code)
  expect(readdirSync(temporary).filter((name) => name.startsWith('conform-run-'))).toEqual([])
})

const reports = formatNames.flatMap((format) => ['--report', `${format}=report.${format}`])
const nothingKnown =
  'conform: interrupted before the target file was read: nothing was judged, no report was written\n'

function proveReported(cwd: string, { stdout }: Ended): void {
  expect(stdout).toMatch(/interrupted/)
  for (const format of formatNames) {
    const text = readFileSync(join(cwd, `report.${format}`), 'utf8').trimEnd()
    expect(text, format).toMatch(/interrupted/)
    if (format === 'har') expect(() => JSON.parse(text) as unknown).not.toThrow()
    if (format === 'html') expect(text).toMatch(/<\/html>$/)
    if (format === 'junit') expect(text).toMatch(/<\/testsuites>$/)
  }
  expect(readReport(cwd, 'report.json').run).toMatchObject({ interrupted: true, requests: 0 })
}

/** Says on stderr, from the thread that loads modules, that the command line is about to be loaded. */
const hooks = `import { writeSync } from 'node:fs'
export async function load(url, context, next) {
  if (url.endsWith('/dist/conform.js')) writeSync(2, 'told: loading\\n')
  return next(url, context)
}
`

test('a signal while the command line is being loaded ends it in time', async () => {
  const cwd = folder()
  const preload = join(cwd, 'told.mjs')
  const given = JSON.stringify(`data:text/javascript,${encodeURIComponent(hooks)}`)
  writeFileSync(preload, `import { register } from 'node:module'\nregister(${given})\n`)
  const env = { NODE_OPTIONS: `--import ${pathToFileURL(preload).href}` }
  const run = start(['-t', targetFile(cwd, 'http://127.0.0.1:9'), ...reports], { cwd, env })
  await run.says('told: loading')
  const ended = await end(run, 'SIGINT')
  expect(ended.code).toBe(3)
  // How far it had come is a matter of the machine: either is whole.
  const said = ended.stderr.replace('told: loading\n', '')
  if (said === '') return proveReported(cwd, ended)
  expect(said).toBe(nothingKnown)
  expect(readdirSync(cwd).sort()).toEqual(['target.json', 'told.mjs'])
})

test('a signal while a target file is being read ends it with one line', async () => {
  const cwd = folder()
  const waits = 'setInterval(() => {}, 1000)\nawait new Promise(() => {})\n'
  writeFileSync(join(cwd, 'target.mjs'), `console.error('reading')\n${waits}`)
  const run = start(['-t', 'target.mjs', ...reports], { cwd })
  await run.says('reading')
  const { code, stderr } = await end(run, 'SIGINT')
  expect({ code, stderr }).toEqual({ code: 3, stderr: `reading\n${nothingKnown}` })
  expect(readdirSync(cwd)).toEqual(['target.mjs'])
})

test('a signal before the first request: reports, and nothing is sent', async () => {
  const { url } = await reference()
  const target = await slowTarget(url, () => false)
  const cwd = folder()
  // The key is the last that is read of a target. What arrives as a signal is reported at once: the system would deliver
  // it a turn later, and on some versions of Node a request has begun by then.
  const key = `() => { process.emit('SIGTERM', 'SIGTERM'); return 'a-key-of-nobody' }`
  const module = `export default { baseUrl: '${target.url}', keys: { full: ${key} } }\n`
  writeFileSync(join(cwd, 'target.mjs'), module)
  const ended = await end(start(['-t', 'target.mjs', ...reports], { cwd }))
  expect(ended).toMatchObject({ code: 3, stderr: '' })
  proveReported(cwd, ended)
  expect(target.passed).toEqual([])
})
