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
import { stage, writeAtomically } from '../../cli/output/files.ts'
import { parseReportRequests, plannedReports } from '../../cli/output/report-requests.ts'
import { writeReports } from '../../cli/output/write-reports.ts'
import type { Report } from '../../harness/report/report-schema.ts'
import { UserError } from '../../harness/user-error.ts'
import { failed, report, result } from './results.ts'

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
