import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folder } from '../cli/conform.ts'
import { filesNamedIn } from '../../cli/run/find-target.ts'
import { stage, writeAtomically } from '../../library/output/files.ts'
import { parseReportRequests, plannedReports, takesStdout } from '../../library/output/files.ts'
import { writeReports, failureExchanges } from '../../library/output/write-reports.ts'
import type { Report } from '../../harness/report/report-schema.ts'
import { UserError } from '../../harness/user-error.ts'
import { failed, report, result, failure, missed } from './results.ts'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { leftOut } from '../../harness/report/reason.ts'
import { canRewrite, colorsFor } from '../../library/output/say.ts'
import { readBaseline } from '../../harness/report/baseline.ts'
import { readReport } from '../../harness/report/json-file.ts'

const check = (values: readonly string[], inputs: readonly string[] = []) =>
  plannedReports(values, { 'the target file': inputs[0] })
const hasFullDevice = existsSync('/dev/full')

test('folders are made, nothing else is', () => {
  const at = folder()
  check([`json=${at}/a/b/r.json`, 'junit=-', `html=${at}/r.html`])
  expect(readdirSync(at)).toEqual(['a'])
  expect(readdirSync(join(at, 'a/b'))).toEqual([])
})

test('a path that cannot be written is refused before anything is sent', () => {
  const at = folder()
  writeFileSync(join(at, 'file'), '')
  mkdirSync(join(at, 'dir'))
  expect(() => check([`json=${at}/file/r.json`])).toThrow(
    /--report json=.*: cannot be written \((ENOTDIR|EEXIST)\)/,
  )
  expect(() => check([`json=${at}/dir`])).toThrow(/: is a folder$/)
  expect(() => check([`json=/proc/r.json`])).toThrow(/cannot be written \(E[A-Z]+\)/)
  expect(() => check([`json=${at}/${'x'.repeat(300)}`])).toThrow(UserError)
})

test('no output is an input, by whatever name', () => {
  const at = folder()
  const target = join(at, 'target.json')
  writeFileSync(target, '{}')
  symlinkSync(target, join(at, 'link.json'))
  linkSync(target, join(at, 'hard.json'))
  for (const name of [
    'target.json',
    'link.json',
    'hard.json',
    '../' + at.split('/').at(-1)! + '/target.json',
  ]) {
    expect(() => check([`json=${at}/${name}`], [target])).toThrow(
      /would overwrite the target file; give another file/,
    )
  }
  // An input that is not there yet, such as a baseline that is to be written, is known by its path.
  expect(() => check([`json=${at}/./new.json`], [join(at, 'new.json')])).toThrow(/would overwrite/)
  check([`json=${at}/other.json`], [target])
})

test('no output is another one', () => {
  const at = folder()
  expect(() => check([`json=${at}/r`, `html=${at}/./r`])).toThrow(
    /--report html=.*: is the same file as --report json=/,
  )
  symlinkSync(join(at, 'r'), join(at, 's'))
  writeFileSync(join(at, 'r'), '')
  expect(() => check([`json=${at}/r`, `html=${at}/s`])).toThrow(/is the same file as/)
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
  expect(Object.values(filesNamedIn(target, at))).toEqual(
    ['ca.pem', 'key.txt', 'big.pdf'].map((name) => join(at, name)),
  )
})

test('a file is whole or as it was', async () => {
  const at = folder()
  const path = join(at, 'r.json')
  writeFileSync(path, 'before', { mode: 0o600 })
  async function* breaksOff() {
    yield 'half'
    await Promise.resolve()
    throw Object.assign(new Error('full'), { code: 'ENOSPC' })
  }
  await expect(stage(path, breaksOff())).rejects.toThrow('full')
  expect([readFileSync(path, 'utf8'), readdirSync(at)]).toEqual(['before', ['r.json']])

  const staged = await stage(path, 'after')
  expect(readFileSync(path, 'utf8')).toBe('before')
  staged.commit()
  expect([readFileSync(path, 'utf8'), readdirSync(at)]).toEqual(['after', ['r.json']])
  expect(statSync(path).mode & 0o777).toBe(0o600)
  ;(await stage(path, 'never')).discard()
  expect([readFileSync(path, 'utf8'), readdirSync(at)]).toEqual(['after', ['r.json']])
})

test('a link is replaced, and what it leads to stays', async () => {
  const at = folder()
  mkdirSync(join(at, 'real'))
  writeFileSync(join(at, 'real/r'), 'before')
  symlinkSync(join(at, 'real/r'), join(at, 'r'))
  await writeAtomically(join(at, 'r'), 'after')
  expect(readFileSync(join(at, 'real/r'), 'utf8')).toBe('before')
  expect(readFileSync(join(at, 'r'), 'utf8')).toBe('after')
  expect(readdirSync(join(at, 'real'))).toEqual(['r'])
})

test.skipIf(!hasFullDevice)(
  'a full disk costs that report, and the others say that the exit code is 2',
  async () => {
    const at = folder()
    const whole = report([result('a.b/1'), failed('a.b/2')])
    const requests = parseReportRequests([
      'html=/dev/full',
      `json=${at}/r.json`,
      `junit=${at}/r.xml`,
    ])
    check(['html=/dev/full'])
    const {
      problems,
      report: told,
      written,
    } = await writeReports(requests, { report: whole, exchanges: () => [] })
    expect(problems).toEqual(['--report html=/dev/full: cannot be written (ENOSPC)'])
    expect(told.exit).toEqual({ code: 2, because: problems[0] })
    expect(written).toEqual(requests.slice(1))
    expect((JSON.parse(readFileSync(join(at, 'r.json'), 'utf8')) as Report).exit.code).toBe(2)
    expect(readFileSync(join(at, 'r.xml'), 'utf8')).toMatch(
      /<error message="--report html=.*ENOSPC/,
    )
    expect(readdirSync(at).sort()).toEqual(['r.json', 'r.xml'])
  },
)

test.runIf(!hasFullDevice)(
  'NOT TESTED HERE: there is no /dev/full on this machine',
  () => undefined,
)

test('the device that takes all may be named twice', () => {
  check(['json=/dev/null', 'html=/dev//null'])
})

test('a report goes to its usual file, to a path, or to stdout', () => {
  expect(parseReportRequests(['json', 'ctrf', 'html=a=b.html', 'junit=-'])).toEqual([
    { format: 'json', path: 'conform-report.json' },
    { format: 'ctrf', path: 'conform-report.ctrf.json' },
    { format: 'html', path: 'a=b.html' },
    { format: 'junit', path: '-' },
  ])
  expect(takesStdout(parseReportRequests(['json', 'junit=-']))).toBe(true)
  expect(takesStdout(parseReportRequests(['json']))).toBe(false)
})

test.each([
  [['jsno'], '--report jsno: jsno is not a format here; did you mean json?'],
  [['JSON=x'], 'JSON is not a format here'],
  [['json='], '--report json=: give a path after ='],
  [['json=-', 'html=-'], '--report html=-: stdout (-) is taken by --report json=-'],
  [['json=x', 'html=x'], '--report html=x: x is taken by --report json=x'],
])('%s is refused', (values, message) => {
  expect(() => parseReportRequests(values)).toThrow(message)
})

test('a report that cannot be written is named, and the others are written', async () => {
  const at = folder()
  const whole = report([failed('a.b/1')])
  const requests = parseReportRequests([
    `json=${at}/none/r.json`,
    `junit=${at}/r.xml`,
    `json=${at}/r.json`,
  ])
  const { problems, report: written } = await writeReports(requests, {
    report: whole,
    exchanges: () => [],
  })
  expect(problems).toEqual([`--report json=${at}/none/r.json: cannot be written (ENOENT)`])
  expect(written).toEqual({ ...whole, exit: { code: 2, because: problems[0] } })
  expect(JSON.parse(readFileSync(join(at, 'r.json'), 'utf8'))).toEqual(written)
  expect(readFileSync(join(at, 'r.xml'), 'utf8')).toContain('<testsuite')
})

test('a page and a summary say next what the terminal says: the command of the run', async () => {
  const at = folder()
  const command = 'conform --target t.json'
  const cut = report([result('a.b/1'), missed('a.b/2', leftOut('interrupted'))], {
    interrupted: true,
    command,
  })
  const requests = parseReportRequests([`html=${at}/r.html`, `markdown=${at}/r.md`])
  await writeReports(requests, { report: cut, exchanges: () => [] })
  for (const file of ['r.html', 'r.md'])
    expect(readFileSync(join(at, file), 'utf8')).toContain(`${command} --failed`)
})

test('stdout gets the report and stays open', async () => {
  const stdout = new PassThrough()
  const whole = report([result('a.b/1')])
  const source = { report: whole, exchanges: () => [], stdout }
  expect((await writeReports(parseReportRequests(['json=-']), source)).problems).toEqual([])
  stdout.end('.')
  const written = await text(stdout)
  expect(JSON.parse(written.slice(0, -1))).toEqual(whole)
})

test('the exchanges of failures are those of the report, in order', () => {
  const silent = failure()
  delete silent.exchange
  const row = result('a.b/2', { outcome: 'failed', failures: [silent, failure()] })
  expect(
    failureExchanges(report([failed('a.b/1'), row])).map(({ n, requirement, role }) => [
      n,
      requirement,
      role,
    ]),
  ).toEqual([
    [0, 'a.b/1', 'probe'],
    [1, 'a.b/2', 'probe'],
  ])
})

function file(text: string): string {
  const path = join(folder(), 'x.json')
  writeFileSync(path, text)
  return path
}

test.each([
  ['', /x\.json: is empty, not JSON$/],
  ['\n \n', /x\.json: is empty/],
  ['{\n  "a": 1,\n  oops\n}\n', /x\.json: is not JSON at line 3, column 3$/],
  ['secret-key-123\nmore\n', /x\.json: is not JSON at line 1, column 1$/],
  ['{"expected": [', /x\.json: is not JSON at line 1, column \d+$/],
])('a file that is not JSON is one line, which quotes nothing of it: %j', (text, message) => {
  for (const read of [() => readReport(file(text)), () => readBaseline(file(text))]) {
    expect(read).toThrow(UserError)
    expect(read).toThrow(message)
    expect(read).not.toThrow(/secret-key-123|\n/)
  }
})

test('a byte order mark is no fault', () => {
  expect(
    readReport(file(`\uFEFF${JSON.stringify(report([result('a.b/1')]))}`)).report.verdict,
  ).toBe('conformant')
})

test.each([
  [
    'conformance-report/2',
    'is a report of a newer format (conformance-report/2); this version reads conformance-report/1: update',
  ],
  ['conformance-report/0', 'is not a report'],
  ['conformance-report/x', 'is not a report'],
  [
    'CTRF',
    'is not a report (its format is not conformance-report/1); write one with --report json',
  ],
])('a report of format %s', (format, message) => {
  expect(() => readReport(file(JSON.stringify({ format })))).toThrow(message)
})

test.each<[colored: boolean, isTTY: boolean, env: Record<string, string>]>([
  [true, true, {}],
  [false, false, {}],
  [false, true, { TERM: 'dumb' }],
  [false, true, { NO_COLOR: '1' }],
  [true, true, { NO_COLOR: '' }],
  [false, true, { NO_COLOR: '1', FORCE_COLOR: '1' }],
  [false, true, { FORCE_COLOR: '0' }],
  [false, true, { FORCE_COLOR: 'false' }],
  [false, false, { FORCE_COLOR: '0', CI: 'true' }],
  [true, false, { FORCE_COLOR: '1' }],
  [true, true, { FORCE_COLOR: '1', TERM: 'dumb' }],
  [true, false, { CI: 'true' }],
  [false, false, { CI: 'true', TERM: 'dumb' }],
])('colours %s on a terminal (%s) with %j', (colored, isTTY, env) => {
  expect(colorsFor({ isTTY }, env).isColorSupported).toBe(colored)
})

test('a dumb terminal gets no line that is rewritten', () => {
  expect(canRewrite({ isTTY: true }, {})).toBe(true)
  expect(canRewrite({ isTTY: true }, { TERM: 'dumb' })).toBe(false)
  expect(canRewrite({}, {})).toBe(false)
})
