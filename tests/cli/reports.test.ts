import { formatNames, formats } from '../../reporters/index.ts'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import type { Report } from '../../harness/report/report-schema.ts'
import { conformProcess, folder, readReport, targetFile } from './conform.ts'
import { conform } from './in-process.ts'
import { reference } from './reference.ts'

const known = 'files.retrieve/404-unknown-file'

test('a report on stdout moves what is for people to stderr', async () => {
  const { url } = await reference()
  const cwd = folder()
  const { code, stdout, stderr } = await conform(
    ['-t', targetFile(cwd, url), '--only', known, '--report', 'json=-'],
    {
      cwd,
    },
  )
  expect(code).toBe(0)
  expect((JSON.parse(stdout) as Report).verdict).toBe('passing')
  expect(stderr).toMatch(/^Incomplete \(passing\): /m)
})

test('every format goes to its usual file', async () => {
  const { url } = await reference()
  const cwd = folder()
  const reports = formatNames.flatMap((name) => ['--report', name])
  const { code } = await conform(['-t', targetFile(cwd, url), '--only', known, ...reports], { cwd })
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
    const args = ['-t', target, '--report', `html=${path}`, '--report', 'json=good.json']
    const { code, stderr, stdout } = await conform(args, { cwd })
    expect({ code, stderr, stdout }).toEqual({
      code: 2,
      stderr: `conform: --report html=${path}: ${problem}\n`,
      stdout: '',
    })
  }
  expect(readFileSync(target, 'utf8')).toBe(before)
  expect(existsSync(join(cwd, 'good.json'))).toBe(false)
})

test.skipIf(!existsSync('/dev/full'))(
  'a disk that is full at the end: exit 2, the others are written',
  async () => {
    const { url } = await reference({ defects: [known] })
    const cwd = folder()
    const args = [
      '-t',
      targetFile(cwd, url),
      '--only',
      known,
      '--report',
      'html=/dev/full',
      '--report',
      'junit=new/x.xml',
    ]
    const { code, stdout, stderr } = await conform([...args, '--report', 'json=good.json'], { cwd })
    expect(code).toBe(2)
    expect(stderr).toBe('conform: --report html=/dev/full: cannot be written (ENOSPC)\n')
    expect(stdout).toMatch(/^Non-conformant: /m)
    expect(stdout.trimEnd().split('\n').at(-1)).toBe(
      'exit 2: --report html=/dev/full: cannot be written (ENOSPC)',
    )
    expect(readReport(cwd, 'good.json')).toMatchObject({
      verdict: 'non-conformant',
      exit: { code: 2 },
    })
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
      .filter((line) => line.startsWith('the exchanges could not be kept ('))
    expect(said).toEqual([
      expect.stringMatching(/: no HAR is written, and HTML shows those of failures only$/),
    ])
    expect(stdout.trimEnd().split('\n').at(-1)).toBe('exit 1: 1 must failed')
    expect(readReport(cwd).exit).toEqual({ code: 1, because: '1 must failed' })
    expect(readdirSync(cwd).sort()).toEqual(
      [
        'conform-report.html',
        'conform-report.json',
        'conform-report.xml',
        'full.mjs',
        'target.json',
      ].sort(),
    )
    expect(readFileSync(join(cwd, 'conform-report.html'), 'utf8').trimEnd()).toMatch(/<\/html>$/)
  },
)

test('a baseline excuses what it names, goes stale loudly, and is rewritten on demand', async () => {
  const broken = await reference({ defects: [known] })
  const mended = await reference()
  const cwd = folder()
  const file = join(cwd, 'baseline.json')
  const at = (url: string): string[] => [
    url,
    '-t',
    targetFile(cwd, url),
    '--only',
    known,
    '--baseline',
    file,
  ]

  const made = await conform([...at(broken.url), '--update-baseline'], { cwd })
  expect(made.code).toBe(0)
  expect(made.stdout).toMatch(/baseline\.json is updated:\n/)
  const { expected } = JSON.parse(readFileSync(file, 'utf8')) as { expected: { id: string }[] }
  expect(expected.map(({ id }) => id)).toEqual([known])

  const excused = await conform(at(broken.url), { cwd })
  expect(excused.stdout).toMatch(/^Non-conformant, as expected: /m)
  expect(excused.code).toBe(0)
  expect(excused.stdout.trimEnd().split('\n').at(-1)).toBe(`exit 0: 1 failure, expected by ${file}`)

  const stale = await conform(at(mended.url), { cwd })
  expect(stale.stdout).toMatch(new RegExp(`stale entry +${known}: it passed`))
  expect(stale.code).toBe(1)

  writeFileSync(file, JSON.stringify({ expected: [{ id: known, until: '2020-01-31' }] }))
  const late = await conform(at(broken.url), { cwd })
  expect(late.stdout).toMatch(/expected until 2020-01-31/)
  expect(late.code).toBe(1)
})

test('shards with one seed are judged apart and merged into one verdict', async () => {
  const { url } = await reference()
  const cwd = folder()
  const target = targetFile(cwd, url)
  const common = [
    '-t',
    target,
    '--seed',
    '7',
    '--runs',
    '1',
    '--only',
    'files.*',
    '--only',
    'translate.*',
  ]
  for (const part of ['1/2', '2/2']) {
    const { code } = await conform(
      [...common, '--shard', part, '--report', `json=${part[0]}.json`],
      { cwd },
    )
    expect(code).toBe(0)
  }
  const merged = await conform(['merge', '1.json', '2.json', '--report', 'json=whole.json'], {
    cwd,
  })
  expect(merged.code).toBe(0)
  const whole = readReport(cwd, 'whole.json')
  expect(whole.run.shard).toBeNull()
  const missed = whole.requirements.filter(({ reason }) => reason === 'left out: --shard')
  expect(missed).toEqual([])
  expect(
    whole.requirements.filter(
      ({ operation, outcome }) => /^(files|translate)\./.test(operation) && outcome !== 'passed',
    ),
  ).toEqual([])
  expect((await conform(['merge', '1.json'], { cwd })).code).toBe(2)
  expect(existsSync(join(cwd, 'conform-report.json'))).toBe(false)
})
