/** Where reports go, and what no report is ever written over. */
import fs, {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { filesNamedIn } from '../../cli/run/find-target.ts'
import { readBaseline } from '../../harness/report/baseline.ts'
import { readReport } from '../../harness/report/json-file.ts'
import type { Report } from '../../schemas/report.ts'
import { UserError } from '../../harness/user-error.ts'
import {
  parseReportRequests,
  plannedReports,
  stage,
  streamForPeople,
  writeAtomically,
  colorsFor,
} from '../../library/output.ts'
import { formatNames, formats } from '../../reporters/index.ts'
import { report as reportOf, result } from '../gates/results.ts'
import { folder, targetFile } from './conform.ts'
import { conform, judged, reference } from './in-process.ts'

const known = 'files.retrieve/404-unknown-file'
const lastLine = (stdout: string) => stdout.trimEnd().split('\n').at(-1)
const plan = (...values: string[]) => plannedReports(values, {})

test('each format has a usual file; a path or stdout takes its place', async () => {
  expect(parseReportRequests(['json', 'ctrf', 'html=a=b.html', 'junit=-'])).toEqual([
    { format: 'json', path: 'conform-report.json' },
    { format: 'ctrf', path: 'conform-report.ctrf.json' },
    { format: 'html', path: 'a=b.html' },
    { format: 'junit', path: '-' },
  ])
  expect(streamForPeople(parseReportRequests(['json', 'junit=-']))).toBe(process.stderr)
  expect(streamForPeople(parseReportRequests(['json']))).toBe(process.stdout)
  const others = formatNames.filter((name) => name !== 'json').map((name) => `--report ${name}`)
  const { code, cwd } = await judged(`--only ${known} ${others.join(' ')}`)
  const files = Object.values(formats).map(({ file }) => file)
  expect({ code, files: readdirSync(cwd) }).toMatchObject({
    ...{ code: 0, files: expect.arrayContaining(files) },
  })
})

test('a report on stdout moves what is for people to stderr', async () => {
  const { url } = await reference()
  const args = `-t ${targetFile(folder(), url)} --only ${known} --report json=-`
  const summary = join(folder(), 'summary.md')
  const env = { GITHUB_ACTIONS: '', GITHUB_STEP_SUMMARY: summary }
  const { stdout, stderr } = await conform(args, { env })
  expect((JSON.parse(stdout) as Report).verdict).toBe('passing')
  expect(stderr).toMatch(/^Incomplete: /m)
  expect(existsSync(summary)).toBe(false)
})

test.each([
  [['jsno'], '--report jsno: jsno is not a format here'],
  [['json='], '--report json=: give a path after ='],
  [['json=-', 'html=-'], '--report html=-: stdout (-) is taken by --report json=-'],
  [['json=x', 'html=x'], '--report html=x: x is taken by --report json=x'],
])('--report %s is refused', (values, message) => {
  expect(() => parseReportRequests(values)).toThrow(message)
})

test('a report that cannot be written: exit 2 before anything is sent, and nothing is made but folders', async () => {
  const cwd = folder()
  const target = targetFile(cwd, 'http://127.0.0.1:9')
  const before = readFileSync(target, 'utf8')
  mkdirSync(join(cwd, 'taken'))
  for (const [path, problem] of [
    ['taken', 'is a folder'],
    [target, 'would overwrite the target file; give another file'],
    [`${target}/r.html`, 'cannot be written \\((ENOTDIR|EEXIST)\\)'],
    // Node would never return from making this folder by itself.
    ['/proc/conform/x.html', 'cannot be written \\(E[A-Z]+\\)'],
  ]) {
    const args = `-t ${target} --report json=a/b/good.json --report html=${path}`
    const { code, stdout, stderr } = await conform(args, { cwd })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(new RegExp(`^conform: --report html=.*${problem}.*\n$`))
  }
  expect(readFileSync(target, 'utf8')).toBe(before)
  expect(readdirSync(cwd, { recursive: true }).toSorted()).toEqual([
    ...['a', 'a/b', 'taken', 'target.json'],
  ])
})

test('a report is never written over an input or another report, whatever their names', () => {
  const at = folder()
  const target = join(at, 'target.json')
  writeFileSync(target, '{}')
  symlinkSync(target, join(at, 'soft.json'))
  linkSync(target, join(at, 'hard.json'))
  // A baseline that is to be written is an input that is not there yet.
  const inputs = { 'the target file': target, 'the baseline': join(at, 'new.json') }
  const up = `../${at.split('/').at(-1)}/target.json`
  for (const name of ['target.json', 'soft.json', 'hard.json', up, './new.json'])
    expect(() => plannedReports([`json=${at}/${name}`], inputs)).toThrow(/would overwrite the/)
  plannedReports([`json=${at}/other.json`], inputs)
  expect(() => plan(`json=${at}/r`, `html=${at}/./r`)).toThrow(
    /html=.*: is the same file as --report json=/,
  )
  expect(() => plan(`json=${target}`, `html=${at}/soft.json`)).toThrow(/is the same file as/)
})

test('the files that a target file names are inputs', () => {
  const at = folder()
  for (const name of ['key.txt', 'ca.pem', 'big.pdf']) writeFileSync(join(at, name), '')
  const target = {
    name: 'x',
    tls: { ca: 'ca.pem' },
    keys: { full: { file: 'key.txt' }, expired: { file: 'none.txt' } },
    resources: { oversizedPdfFile: { upload: './big.pdf' } },
    unreachable: [1, null, ''],
  }
  const names = ['ca.pem', 'key.txt', 'big.pdf']
  expect(Object.values(filesNamedIn(target, at))).toEqual(names.map((name) => join(at, name)))
})

test('a file is written whole or stays as it was, and a link is replaced', async () => {
  const at = folder()
  const path = join(at, 'r.json')
  writeFileSync(path, 'before', { mode: 0o600 })
  const state = () => [readFileSync(path, 'utf8'), readdirSync(at)]
  async function* breaksOff() {
    yield 'half'
    await Promise.resolve()
    throw new Error('full')
  }
  await expect(stage(path, breaksOff())).rejects.toThrow('full')
  const staged = await stage(path, 'after')
  expect(readFileSync(path, 'utf8')).toBe('before')
  staged.commit()
  expect(state()).toEqual(['after', ['r.json']])
  expect(statSync(path).mode & 0o777).toBe(0o600)
  ;(await stage(path, 'never')).discard()
  expect(state()).toEqual(['after', ['r.json']])
  symlinkSync(path, join(at, 'link'))
  await writeAtomically(join(at, 'link'), 'own')
  const both = ['link', 'r.json'].map((name) => readFileSync(join(at, name), 'utf8'))
  expect(both).toEqual(['own', 'after'])
})

test.skipIf(!existsSync('/dev/full'))(
  'a disk that is full at the end: exit 2, and the other reports say so',
  async () => {
    const reports = '--report html=/dev/full --report junit=new/x.xml'
    const { code, cwd, report, stdout, stderr } = await judged(`--only ${known} ${reports}`)
    const problem = '--report html=/dev/full: cannot be written (ENOSPC)'
    expect({ code, stderr }).toEqual({ code: 2, stderr: `conform: ${problem}\n` })
    expect(lastLine(stdout)).toBe(`exit 2: ${problem}`)
    expect(report).toMatchObject({ verdict: 'passing', exit: { code: 2, because: problem } })
    expect(readFileSync(join(cwd, 'new/x.xml'), 'utf8')).toMatch(
      /<error message="--report html=.*ENOSPC/,
    )
  },
)

test('a baseline excuses what it expects, decides once that is fixed, and is rewritten on demand', async () => {
  const broken = await reference({ defects: [known] })
  const fixed = await reference()
  const cwd = folder()
  const file = join(cwd, 'baseline.json')
  const run = (url: string, more = '') =>
    conform(`-t ${targetFile(cwd, url)} --only ${known} --baseline ${file} ${more}`, { cwd })
  const made = await run(broken.url, '--update-baseline')
  expect(made.stdout).toContain('baseline.json is updated:\n')
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ expected: [{ id: known }] })
  const excused = await run(broken.url)
  expect(lastLine(excused.stdout)).toBe(`exit 0: 1 failure, expected by ${file}`)
  const stale = await run(fixed.url)
  expect(stale.stdout).toContain(`stale entry         ${known}: it passed`)
  expect([made.code, excused.code, stale.code]).toEqual([0, 0, 1])
})

describe('a key is never overwritten', () => {
  const cwd = folder()
  const at = (name: string) => join(cwd, name)
  let pem: string
  beforeAll(async () => {
    await conform(['keygen'], { cwd })
    pem = readFileSync(at('conform-key.pem'), 'utf8')
    symlinkSync(at('conform-key.pem'), at('target.ts'))
    linkSync(at('conform-key.pem'), at('hard.html'))
    const chain = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n'
    writeFileSync(at('chain.pem'), chain + pem)
    writeFileSync(at('page.html'), `<html><pre>\n${pem}</pre></html>`)
  })

  const reports = [
    'json=conform-key.pem',
    'html=hard.html',
    'json=conform-key.pub.pem',
    'junit=chain.pem',
  ]
  test.each([
    ...reports.map((report) => `http://127.0.0.1:9 --report ${report}`),
    'init target.ts --from report.json',
  ])('%s', async (args) => {
    const { code, stderr } = await conform(args, { cwd })
    expect(code).toBe(2)
    expect(stderr).toContain('contains a key, which is never overwritten; give another file')
    expect(readFileSync(at('conform-key.pem'), 'utf8')).toBe(pem)
  })

  test('an HTML page that quotes a key may be overwritten', () => {
    plan(`html=${at('page.html')}`)
  })
})

test('a folder that another run makes at the same moment is made', () => {
  const at = folder()
  const { mkdirSync: make } = fs
  // Another process is always a moment sooner.
  fs.mkdirSync = ((path: string) => (make(path), make(path))) as typeof make
  syncBuiltinESMExports()
  try {
    plan(`json=${at}/reports/today/r.json`)
  } finally {
    fs.mkdirSync = make
    syncBuiltinESMExports()
  }
  expect(existsSync(join(at, 'reports/today'))).toBe(true)
})

function file(text: string): string {
  const path = join(folder(), 'x.json')
  writeFileSync(path, text)
  return path
}

test.each([
  ['\n \n', /x\.json: is empty, not JSON$/],
  ['{\n  "a": 1,\n  oops\n}\n', /x\.json: is not JSON at line 3, column 3$/],
  ['secret-key-123\nmore\n', /x\.json: is not JSON at line 1, column 1$/],
])('a file that is not JSON is one line, which quotes nothing of it: %j', (text, message) => {
  for (const read of [() => readReport(file(text)), () => readBaseline(file(text))]) {
    expect(read).toThrow(UserError)
    expect(read).toThrow(message)
    expect(read).not.toThrow(/secret-key-123|\n/)
  }
})

test('a report is read with a byte order mark', () => {
  const text = JSON.stringify(reportOf([result('a.b/1')]))
  expect(readReport(file(`\uFEFF${text}`)).report.verdict).toBe('conformant')
})

test.each(['conformance-report/2', 'CTRF'])('a report of the format %s is refused', (format) => {
  expect(() => readReport(file(JSON.stringify({ format })))).toThrow(
    'is not a report (its format is not conformance-report/1); write one with --report json',
  )
})

test.each<[colored: boolean, isTTY: boolean, env: Record<string, string>]>([
  [true, true, {}],
  [false, false, {}],
  [false, true, { TERM: 'dumb' }],
  [false, true, { NO_COLOR: '1', FORCE_COLOR: '1' }],
  [true, true, { NO_COLOR: '' }],
  [false, true, { FORCE_COLOR: 'false' }],
  [false, false, { FORCE_COLOR: '0', CI: 'true' }],
  [true, true, { FORCE_COLOR: '1', TERM: 'dumb' }],
  [true, false, { CI: 'true' }],
  [false, false, { CI: 'true', TERM: 'dumb' }],
])('colours are %s on a terminal (%s) with %j', (colored, isTTY, env) => {
  expect(colorsFor({ isTTY }, env).isColorSupported).toBe(colored)
})
