import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folder } from '../cli/conform.ts'
import { canRewrite, colorsFor } from '../../cli/output/say.ts'
import { readBaseline } from '../../harness/report/baseline.ts'
import { readReport } from '../../harness/report/json-file.ts'
import { UserError } from '../../harness/user-error.ts'
import { report, result } from './results.ts'

function file(text: string): string {
  const path = join(folder(), 'x.json')
  writeFileSync(path, text)
  return path
}

test.each([
  ['', /x\.json: is empty, and so is not JSON$/],
  ['\n \n', /x\.json: is empty/],
  ['{\n  "a": 1,\n  oops\n}\n', /x\.json: is not JSON at line 3, column 3$/],
  ['secret-key-123\nmore\n', /x\.json: is not JSON at line 1, column 1$/],
  ['{"expected": [', /x\.json: is not JSON at line 1, column \d+$/],
])('a file that is no JSON is one line, which quotes nothing of it: %j', (text, message) => {
  for (const read of [() => readReport(file(text)), () => readBaseline(file(text), 'exact')]) {
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
