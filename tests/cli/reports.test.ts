import { formatNames, formats } from '../../reporters/index.ts'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import type { Report } from '../../harness/report/report-schema.ts'
import { conformProcess, folder, readReport, targetFile } from './conform.ts'
import { conform } from './in-process.ts'
import { judged, reference } from './reference.ts'

const known = 'files.retrieve/404-unknown-file'
const lastLine = (stdout: string) => stdout.trimEnd().split('\n').at(-1)

test('a report on stdout moves what is for people to stderr', async () => {
  const { url } = await reference()
  const { code, stdout, stderr } = await conform(
    `-t ${targetFile(folder(), url)} --only ${known} --report json=-`,
  )
  expect(code).toBe(0)
  expect((JSON.parse(stdout) as Report).verdict).toBe('passing')
  expect(stderr).toMatch(/^Incomplete: /m)
})

test('every format goes to its usual file', async () => {
  const others = formatNames.filter((name) => name !== 'json').map((name) => `--report ${name}`)
  const { code, cwd } = await judged(`--only ${known} ${others.join(' ')}`)
  expect(code).toBe(0)
  for (const { file } of Object.values(formats))
    expect(readFileSync(join(cwd, file), 'utf8').length).toBeGreaterThan(100)
})

test('a report that cannot be written: exit 2 before anything is sent, and nothing is overwritten', async () => {
  const cwd = folder()
  mkdirSync(join(cwd, 'taken'))
  const target = targetFile(cwd, 'http://127.0.0.1:9')
  const before = readFileSync(target, 'utf8')
  for (const [path, problem] of [
    ['taken', 'is a folder'],
    [target, 'would overwrite the target file; give another file'],
    ...(existsSync('/proc') ? [['/proc/conform/x.html', 'cannot be written (ENOENT)']] : []),
  ]) {
    const args = `-t ${target} --report html=${path} --report json=good.json`
    const stderr = `conform: --report html=${path}: ${problem}\n`
    expect(await conform(args, { cwd })).toMatchObject({ code: 2, stderr, stdout: '' })
  }
  expect(readFileSync(target, 'utf8')).toBe(before)
  expect(existsSync(join(cwd, 'good.json'))).toBe(false)
})

test.skipIf(!existsSync('/dev/full'))(
  'a disk that is full at the end: exit 2, the others are written',
  async () => {
    const reports = '--report html=/dev/full --report junit=new/x.xml'
    const { code, cwd, report, stdout, stderr } = await judged(`--only ${known} ${reports}`, {
      defects: [known],
    })
    expect(code).toBe(2)
    expect(stderr).toBe('conform: --report html=/dev/full: cannot be written (ENOSPC)\n')
    expect(stdout).toMatch(/^Non-conformant: /m)
    expect(lastLine(stdout)).toBe('exit 2: --report html=/dev/full: cannot be written (ENOSPC)')
    expect(report).toMatchObject({ verdict: 'non-conformant', exit: { code: 2 } })
    expect(readFileSync(join(cwd, 'new/x.xml'), 'utf8')).toContain('<error ')
  },
)

/** Makes the disk of the temporary folder full: when the run's folder is made, or when its exchanges are written down. */
const fullDisk = (when: 'at its beginning' | 'later'): string => `import fs from 'node:fs'
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

test.skipIf(!existsSync('/dev/full')).each(['at its beginning', 'later'] as const)(
  'a temporary folder that is full %s costs the HAR and the passed exchanges, and one line says so',
  async (when) => {
    const { url } = await reference({ defects: [known] })
    const cwd = folder()
    const preload = join(cwd, 'full.mjs')
    writeFileSync(preload, fullDisk(when))
    const reports = ['json', 'html', 'har', 'junit'].flatMap((format) => ['--report', format])
    const { code, stderr, stdout } = await conformProcess(
      ['-t', targetFile(cwd, url), '--only', known, ...reports],
      {
        cwd,
        env: { NODE_OPTIONS: `--import ${pathToFileURL(preload).href}` },
      },
    )
    expect(stderr).toBe('')
    expect(code).toBe(1)
    const said = stdout
      .split('\n')
      .filter((line) => line.startsWith('the exchanges could not be stored ('))
    expect(said).toEqual([
      expect.stringMatching(/: no HAR is written, and HTML shows those of failures only$/),
    ])
    expect(lastLine(stdout)).toBe('exit 1: 1 required check failed')
    expect(readReport(cwd).exit).toEqual({ code: 1, because: '1 required check failed' })
    const reported = ['html', 'json', 'xml'].map((ending) => `conform-report.${ending}`)
    expect(readdirSync(cwd).sort()).toEqual([...reported, 'full.mjs', 'target.json'])
    expect(readFileSync(join(cwd, 'conform-report.html'), 'utf8').trimEnd()).toMatch(/<\/html>$/)
  },
)

test('a baseline excuses what it names, goes stale loudly, and is rewritten on demand', async () => {
  const broken = await reference({ defects: [known] })
  const fixed = await reference()
  const cwd = folder()
  const file = join(cwd, 'baseline.json')
  const at = (url: string): string =>
    `${url} -t ${targetFile(cwd, url)} --only ${known} --baseline ${file}`

  const made = await conform(`${at(broken.url)} --update-baseline`, { cwd })
  expect(made.code).toBe(0)
  expect(made.stdout).toMatch(/baseline\.json is updated:\n/)
  const { expected } = JSON.parse(readFileSync(file, 'utf8')) as { expected: { id: string }[] }
  expect(expected.map(({ id }) => id)).toEqual([known])

  const excused = await conform(at(broken.url), { cwd })
  expect(excused.stdout).toMatch(/^Non-conformant, as expected: /m)
  expect(excused.code).toBe(0)
  expect(lastLine(excused.stdout)).toBe(`exit 0: 1 failure, expected by ${file}`)

  const stale = await conform(at(fixed.url), { cwd })
  expect(stale.stdout).toMatch(new RegExp(`stale entry +${known}: it passed`))
  expect(stale.code).toBe(1)

  writeFileSync(file, JSON.stringify({ expected: [{ id: known, until: '2020-01-31' }] }))
  const late = await conform(at(broken.url), { cwd })
  expect(late.stdout).toMatch(/expected until 2020-01-31/)
  expect(late.code).toBe(1)
})
