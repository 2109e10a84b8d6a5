/** What is compiled, in a process of its own, says and decides what the sources do that other tests run in theirs. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { bin, conformProcess, type Ended, folder, start, targetFile } from './conform.ts'
import { conform, reference } from './in-process.ts'
import { expectNoKey } from './no-key.ts'

/** Without how long it took. */
const timeless = ({ ms: _, stdout, ...ended }: Ended) => ({
  ...{ ...ended, stdout: stdout.replaceAll(/(\d+ requests?) in [^;]+;/g, '$1;') },
})

/** Runs it both ways. */
async function proveSame(args: readonly string[], code: number, cwd = folder()): Promise<void> {
  const ended = timeless(await conformProcess(args, { cwd }))
  expect(ended.code).toBe(code)
  expect(ended).toEqual(timeless(await conform(args, { cwd })))
}

test.each<[args: string[], code: number]>([
  [['--help'], 0],
  [['--version'], 0],
  // More than a pipe takes at once.
  [['list', '--json'], 0],
  [['--seeed', '4'], 2],
])('%j ends with %i', proveSame)

test('a run that fails ends with 1', async () => {
  const known = 'files.retrieve/404-unknown-file'
  const { url } = await reference({ defects: [known] })
  const cwd = folder()
  const args = ['-t', targetFile(cwd, url), '--only', known, '--seed', '4']
  await proveSame([...args, '--report', 'json=part.json'], 1, cwd)
})

function listTo(where: string) {
  const line = `set -o pipefail; "$0" "$1" list --json ${where}`
  const { status, stderr } = spawnSync('bash', ['-c', line, process.execPath, bin], {
    encoding: 'utf8',
  })
  return { status, stderr }
}

test.skipIf(!existsSync('/dev/full'))(
  'output that cannot be written: exit 2 and one sentence',
  () => {
    expect(listTo('>/dev/full')).toEqual({
      status: 2,
      stderr: 'conform: cannot write output (ENOSPC)\n',
    })
  },
)

test('conform ends with 0 if the reader of its output has read enough', () => {
  expect(listTo('| head -c 1 >/dev/null')).toEqual({ status: 0, stderr: '' })
})

/** Makes the disk of the temporary folder full: when the run's folder is made, or when its exchanges are written down. */
const fullDisk = (when: string): string => `import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
const { mkdirSync } = fs
fs.mkdirSync = (folder, ...rest) => {
  if (!String(folder).includes('conform-run-')) return mkdirSync(folder, ...rest)
  if ('${when}' !== 'later') throw Object.assign(new Error('no space left'), { code: 'ENOSPC' })
  mkdirSync(folder, ...rest)
  fs.symlinkSync('/dev/full', folder + '/exchanges.ndjson')
}
syncBuiltinESMExports()
`

test.skipIf(!existsSync('/dev/full')).each(['at its beginning', 'later'])(
  'a temporary folder that is full %s costs the HAR and the passed exchanges, and one line says so',
  async (when) => {
    const known = 'files.retrieve/404-unknown-file'
    const { url } = await reference({ defects: [known] })
    const cwd = folder()
    const preload = join(cwd, 'full.mjs')
    writeFileSync(preload, fullDisk(when))
    const reports = ['json', 'html', 'har', 'junit'].map((format) => `--report ${format}`)
    const { code, stderr, stdout } = await conformProcess(
      `-t ${targetFile(cwd, url)} --only ${known} ${reports.join(' ')}`,
      { cwd, env: { NODE_OPTIONS: `--import ${pathToFileURL(preload).href}` } },
    )
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
    expect(stdout).toMatch(
      /^the exchanges could not be stored \(.*: no HAR is written, and HTML shows those of failures only$/m,
    )
    expect(stdout).toMatch(/^exit 1: 1 required check failed$/m)
    const reported = ['html', 'json', 'xml'].map((ending) => `conform-report.${ending}`)
    expect(readdirSync(cwd).sort()).toEqual([...reported, 'full.mjs', 'target.json'])
    expect(readFileSync(join(cwd, 'conform-report.html'), 'utf8').trimEnd()).toMatch(/<\/html>$/)
  },
)

test('a module that cannot be read is named with line and column', async () => {
  const cwd = folder()
  writeFileSync(join(cwd, 'mine.mjs'), 'export default {\n  name: "x",\n  const y\n}\n')
  expect(await conformProcess('-t mine.mjs', { cwd })).toMatchObject({
    code: 2,
    stderr:
      "conform: mine.mjs:3:3: the module cannot be loaded: ParseError: Unexpected keyword 'const'.\n",
  })
})

test('no key is in any report or on the terminal, whatever is asked of a target that repeats it', () =>
  expectNoKey(''))

test('serve says where it is in one line, and its target file fits it', async () => {
  const server = start('serve')
  onTestFinished(() => void server.child.kill('SIGKILL'))
  const { url, target, ...rest } = JSON.parse(await server.firstLine)
  expect(rest).toEqual({})
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  expect(await conform(`-t ${target} --only translate.run/*`)).toMatchObject({ code: 0 })

  server.child.kill('SIGTERM')
  expect(await server.ended).toMatchObject({
    code: 0,
    stderr: '',
    stdout: expect.stringMatching(/^.*\n$/),
  })
  expect(existsSync(target)).toBe(false)
  await expect(fetch(url)).rejects.toThrow()
})

test('a port that is taken is a mistake of the user', async () => {
  const server = start(['serve'])
  onTestFinished(() => void server.child.kill('SIGKILL'))
  const { url } = JSON.parse(await server.firstLine) as { url: string }
  const { port } = new URL(url)
  const second = await conform(`serve --port ${port}`)
  expect(second).toMatchObject({ code: 2, stdout: '' })
  expect(second.stderr).toBe(
    `conform: --port ${port}: cannot be used (EADDRINUSE); give another, or 0 for any\n`,
  )
})

test('serve ends with the command after --, and with its exit code', async () => {
  const ask = `fetch(process.env.CONFORM_URL + '/v1/files', {
    headers: { authorization: 'Bearer ' + process.env.CONFORM_API_KEY },
  }).then(({ status }) => process.exit(status === 200 && process.env.CONFORM_TARGET ? 7 : 1))`
  const { code, stdout } = await start(['serve', '--', process.execPath, '-e', ask]).ended
  expect(code).toBe(7)
  expect(stdout).toMatch(/^\{.*\}\n$/)
  expect(await start(['serve', '--', 'no-such-program']).ended).toMatchObject({
    code: 2,
    stderr: 'conform: -- no-such-program: cannot be run (ENOENT)\n',
  })
})
