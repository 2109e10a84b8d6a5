import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folder } from '../cli/conform.ts'
import { githubAnnotations, githubSummary, reportToGithub } from '../../reporters/github.ts'
import { hostile, unsafe } from './hostile.ts'
import { fails, mixed, sampleFailure, sampleReport } from './sample-report.ts'

const lines = (text: string) => text.trimEnd().split('\n')

test('a failed must is an error, a failed should a warning, under --strict an error too', () => {
  const end = (at: number) =>
    at === 7 || at === 14 ? { outcome: 'failed' as const, failures: [sampleFailure('<id>')] } : {}
  const kinds = (strict: boolean) =>
    lines(githubAnnotations(sampleReport({ end, run: { strict } }))).map(
      (line) => line.split(' ')[0],
    )
  expect(kinds(false)).toEqual(['::error', '::warning'])
  expect(kinds(true)).toEqual(['::error', '::error'])
  expect(githubAnnotations(sampleReport({ end }))).toContain(
    'title=pdf.parse/401-malformed-key::A key that is not a key',
  )
})

test('at most ten, and how many more', () => {
  const report = sampleReport({ size: 40, end: fails() })
  const all = lines(githubAnnotations(report))
  expect(all).toHaveLength(11)
  expect(all.at(-1)).toBe(
    '::notice title=conform::30 more failures: see the summary or the reports',
  )
})

test('expected failures are not annotated, stale entries are', () => {
  const report = sampleReport({
    end: (at) => (at === 7 ? fails()!(at) : {}),
    run: {
      baseline: {
        file: 'b',
        expected: ['pdf.parse/401-malformed-key'],
        stale: [{ id: 'a', why: 'it passed' }],
        notExercised: [],
      },
    },
  })
  expect(lines(githubAnnotations(report))).toEqual([
    '::error title=conform::stale entry of the baseline: a: it passed',
  ])
})

test('an answer cannot forge a command', () => {
  const report = sampleReport({
    size: 12,
    end: fails(hostile, { message: `${hostile}\r\n::warning::x`, rerun: '%0A::x' }),
  })
  const text = githubAnnotations(report)
  expect(text).not.toMatch(unsafe)
  expect(text).not.toContain('\r')
  for (const line of lines(text)) expect(line).toMatch(/^::(error|warning|notice) title=[^:,\n]*::/)
  expect(text.match(/^::/gm)).toHaveLength(11)
  expect(text).toContain('%250A::x')
})

test('writes annotations and appends the summary on GitHub Actions only', () => {
  const directory = folder()
  const summary = join(directory, 'summary.md')
  writeFileSync(summary, 'before\n')
  let written = ''
  const how = { write: (text: string) => void (written += text) }
  reportToGithub(sampleReport({ end: mixed }), { GITHUB_STEP_SUMMARY: summary }, how)
  expect([written, readFileSync(summary, 'utf8')]).toEqual(['', 'before\n'])
  reportToGithub(
    sampleReport({ end: mixed, run: { command: 'conform -t t.json' } }),
    { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: summary },
    how,
  )
  expect(written).toMatch(/^::error /)
  const text = readFileSync(summary, 'utf8')
  expect(text).toMatch(/^before\n## ❌ Conformance of Example staging\n/)
  expect(text).toContain('<code>conform -t t.json --failed</code>')
})

test('the summary stays within its room, whatever failed', () => {
  const long = hostile.repeat(40)
  const report = sampleReport({ end: fails(long, { message: long, expected: long, rerun: long }) })
  expect(Buffer.byteLength(githubSummary(report, 1024 * 1024))).toBeLessThanOrEqual(1024 * 1024)
  const few = { ...report, requirements: report.requirements.slice(0, 20) }
  expect(githubSummary(few, 100)).toBe(
    'The report is too large for this summary: the verdict is non-conformant.\n',
  )
  expect(githubSummary(few, 10)).toBe('')
})
