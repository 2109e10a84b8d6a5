import { formatNames } from '../../reporters/index.ts'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { type Ended, folder, ids, readReport, type Running, start, targetFile } from './conform.ts'
import { reference } from './reference.ts'
import { slowTarget } from './processes.ts'

/**
 * Time for an interrupted run to end, in ms: ten times the two seconds that it may take. One that misses the signal waits for its
 * target three times as long.
 */
const limitMs = 20_000

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  '%s ends a run that waits for its target, and what was learned is reported',
  async (signal) => {
    const { url } = await reference()
    const slow = await slowTarget(url, (line) => line === 'POST /v1/completion')
    const cwd = folder()
    const only = ['--only', 'files.*', '--only', 'completion.*', '--runs', '1']
    const reports = ['json', 'html', 'har', 'junit'].flatMap((name) => ['--report', name])
    const run = start(['-t', targetFile(cwd, slow.url), ...only, ...reports], { cwd })
    await slow.held(1)
    const began = performance.now()
    run.child.kill(signal)
    const { code, stdout, stderr } = await run.ended
    expect(performance.now() - began).toBeLessThan(limitMs)
    expect(code).toBe(3)
    expect(stderr).toBe('')
    expect(stdout).toMatch(/interrupted/)

    const report = readReport(cwd)
    expect(report.run.interrupted).toBe(true)
    expect(report.verdict).not.toBe('conformant')
    expect(ids(report, 'failed')).toEqual([])
    const completion = report.requirements.filter(
      ({ operation }) => operation === 'completion.create',
    )
    expect(completion.map(({ reason }) => reason)).toContain('left out: interrupted')
    expect(completion.filter(({ outcome }) => outcome === 'passed')).toEqual([])
    expect(readdirSync(cwd).sort()).toEqual(
      [
        'conform-report.har',
        'conform-report.html',
        'conform-report.json',
        'conform-report.xml',
        'target.json',
      ].sort(),
    )

    // Clean-up is sent all the same, for whatever the run is known to have created.
    const removed = slow.passed
      .filter((line) => line.startsWith('DELETE /admin/files/'))
      .map((line) => line.split('/').at(-1))
    const uploads = report.run.created
      .filter(({ operation }) => operation === 'files.upload')
      .map(({ id }) => id)
    expect(removed.sort()).toEqual(uploads.sort())
  },
)

test('a second signal ends the process at once, and nothing of it is left', async () => {
  const { url } = await reference()
  // Clean-up never ends by itself: the first signal waits for it.
  const slow = await slowTarget(
    url,
    (line) => line === 'POST /v1/completion' || line.startsWith('DELETE '),
  )
  const cwd = folder()
  const temporary = folder()
  const only = ['--only', 'files.upload/*', '--only', 'completion.*', '--runs', '1']
  const run = start(['-t', targetFile(cwd, slow.url), ...only, '--report', 'json'], {
    cwd,
    env: { TMPDIR: temporary },
  })
  await slow.held(1)
  run.child.kill('SIGINT')
  // Where nothing had been created yet there is nothing to clean up, and the first signal ends it.
  await Promise.race([slow.held(2), run.ended])
  run.child.kill('SIGINT')
  const { code } = await run.ended
  expect([130, 3]).toContain(code)
  expect(tmpdir()).not.toBe(temporary)
  expect(readdirSync(temporary).filter((name) => name.startsWith('conform-run-'))).toEqual([])
})

const reportArguments = formatNames.flatMap((format) => ['--report', `${format}=report.${format}`])
const nothingKnown =
  'conform: interrupted before the target file was read: nothing was judged, no report was written\n'

/** Says on stderr, from the thread that loads modules, that the command line is about to be loaded; then does the rest. */
const told = (then: string): string => {
  const hooks = `import { writeSync } from 'node:fs'
export async function load(url, context, next) {
  if (url.endsWith('/dist/conform.js')) { writeSync(2, 'told: loading\\n'); ${then} }
  return next(url, context)
}
`
  return `import { register } from 'node:module'
register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hooks)}`)})
`
}

/** Starts `conform`, telling what it does. */
function startTold(cwd: string, args: readonly string[], then = ''): Running {
  const preload = join(cwd, 'told.mjs')
  writeFileSync(preload, told(then))
  return start(args, { cwd, env: { NODE_OPTIONS: `--import ${pathToFileURL(preload).href}` } })
}

const withoutTold = (stderr: string): string => stderr.replaceAll(/^told: .*\n/gm, '')

/** Sends it, and gives the end and how long it took, in ms. */
async function end(
  run: Running,
  ...signals: readonly NodeJS.Signals[]
): Promise<Ended & { tookMs: number }> {
  const began = performance.now()
  for (const signal of signals) run.child.kill(signal)
  const ended = await run.ended
  return { ...ended, tookMs: performance.now() - began }
}

function proveReported(cwd: string, { stdout }: Ended): void {
  const texts = formatNames.map(
    (format) => [format, readFileSync(join(cwd, `report.${format}`), 'utf8')] as const,
  )
  for (const [format, text] of texts)
    if (format !== 'badge') expect(text, format).toMatch(/interrupted/)
  expect(stdout).toMatch(/interrupted/)
  const whole = Object.fromEntries(texts)
  expect(() => JSON.parse(whole['har']!) as unknown).not.toThrow()
  expect(whole['html']!.trimEnd().endsWith('</html>')).toBe(true)
  expect(whole['junit']!.trimEnd().endsWith('</testsuites>')).toBe(true)
  expect(readReport(cwd, 'report.json').run).toMatchObject({ interrupted: true, requests: 0 })
}

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s while the command line is being loaded ends it in time',
  async (signal) => {
    const cwd = folder()
    const run = startTold(cwd, ['-t', targetFile(cwd, 'http://127.0.0.1:9'), ...reportArguments])
    await run.says('told: loading')
    const ended = await end(run, signal)
    expect(ended.tookMs).toBeLessThan(limitMs)
    expect(ended.code).toBe(3)
    // How far it had come is a matter of the machine: either is whole.
    if (withoutTold(ended.stderr) === '') proveReported(cwd, ended)
    else {
      expect(withoutTold(ended.stderr)).toBe(nothingKnown)
      expect(readdirSync(cwd).sort()).toEqual(['target.json', 'told.mjs'])
    }
  },
)

test('a signal while a target file is being read ends it with one line', async () => {
  const cwd = folder()
  const file = join(cwd, 'target.mjs')
  writeFileSync(
    file,
    "console.error('reading')\nsetInterval(() => {}, 1000)\nawait new Promise(() => {})\n",
  )
  const run = start(['-t', file, ...reportArguments], { cwd })
  await run.says('reading')
  const { tookMs, code, stderr } = await end(run, 'SIGINT')
  expect(tookMs).toBeLessThan(limitMs)
  expect({ code, stderr }).toEqual({ code: 3, stderr: `reading\n${nothingKnown}` })
  expect(readdirSync(cwd)).toEqual(['target.mjs'])
})

test.each(['SIGINT', 'SIGTERM'] as const)(
  '%s before the first request: reports, and nothing is sent',
  async (signal) => {
    const { url } = await reference()
    const target = await slowTarget(url, () => false)
    const cwd = folder()
    const file = join(cwd, 'target.mjs')
    // The key is the last that is read of a target. What arrives as a signal is reported at once: the system would deliver
    // it a turn later, and on some versions of Node a request has begun by then.
    const key = `() => { process.emit('${signal}', '${signal}'); console.error('told: asked for a key'); return 'a-key-of-nobody' }`
    writeFileSync(file, `export default { baseUrl: '${target.url}', keys: { full: ${key} } }\n`)
    const run = start(['-t', file, ...reportArguments], { cwd })
    await run.says('told: asked for a key')
    const ended = await end(run)
    expect(ended.tookMs).toBeLessThan(limitMs)
    expect(ended.code).toBe(3)
    expect(withoutTold(ended.stderr)).toBe('')
    proveReported(cwd, ended)
    expect(target.passed).toEqual([])
  },
)

test('two signals while the command line is being loaded end it at once', async () => {
  const cwd = folder()
  const run = startTold(cwd, ['-t', targetFile(cwd, 'http://127.0.0.1:9'), ...reportArguments])
  await run.says('told: loading')
  const { code, stderr } = await end(run, 'SIGINT', 'SIGTERM')
  expect([130, 143]).toContain(code)
  expect(withoutTold(stderr)).toBe('')
})

test('a signal ends a command that is not a run as if nobody listened', async () => {
  // It sends the signal to itself: from outside, the short command may be over before the signal comes.
  const ended = await startTold(folder(), ['list'], "process.kill(process.pid, 'SIGTERM')").ended
  expect(ended.stdout).toBe('')
  // A machine that takes long to load the command line has ended it by then, as it ends a run.
  if (ended.signal === null)
    expect([ended.code, withoutTold(ended.stderr)]).toEqual([3, nothingKnown])
  else expect(ended.signal).toBe('SIGTERM')
})
