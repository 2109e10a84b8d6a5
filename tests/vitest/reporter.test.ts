import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { TestModule, Vitest } from 'vitest/node'
import ConformanceReporter from '../../library/vitest/reporter.ts'
import type { Report } from '../../schemas/report.ts'
import { folder } from '../cli/conform.ts'
import { failed, report, result } from '../gates/results.ts'

/** What the reporter says at the end of a run of one file with that report, in that folder. */
async function said(of: Report, root: string, ...reports: string[]): Promise<string[]> {
  const lines: string[] = []
  const reporter = new ConformanceReporter({ reports })
  const logger = { log: (line: string) => lines.push(line) }
  reporter.onInit({ config: { root }, logger } as unknown as Vitest)
  const meta = () => ({ conformance: [{ report: of }] })
  await reporter.onTestRunEnd([{ meta } as unknown as TestModule], [], 'failed')
  return lines
}

test('a run that vitest stops before its report says that none is written', async () => {
  const reporter = new ConformanceReporter()
  const lines: string[] = []
  const logger = { log: (line: string) => lines.push(line) }
  reporter.onInit({ config: { root: folder() }, logger } as unknown as Vitest)
  const stopped = { meta: () => ({}) } as unknown as TestModule
  await reporter.onTestRunEnd([stopped], [], 'interrupted')
  expect(lines).toEqual(['conform: vitest stopped before there was a report: none is written'])
})

test('on a terminal the reporter of vitest breaks lines between words', async () => {
  const { columns, isTTY } = process.stdout
  onTestFinished(() => void Object.assign(process.stdout, { columns, isTTY }))
  Object.assign(process.stdout, { columns: 40, isTTY: true })
  const lines = await said(report([failed('a.b/1'), failed('a.b/2')]), folder())
  expect(lines[0]).toMatch(/^conform: /)
  expect(lines.length).toBeGreaterThan(1)
  expect(lines.filter((line) => line.length > 40)).toEqual([])
  expect(lines.map((line) => line.trim()).join(' ')).toMatch(/; reports: none$/)
})

test.skipIf(!existsSync('/dev/full'))(
  'the reporter of vitest names the reports that are written, and what became of the others',
  async () => {
    const { exitCode } = process
    onTestFinished(() => void (process.exitCode = exitCode))
    const root = folder()
    expect(await said(report([result('a.b/1')]), root, 'junit=/dev/full', 'json')).toEqual([
      'conform: --report junit=/dev/full: cannot be written (ENOSPC)',
      expect.stringMatching(/^conform: Example: Conformant/),
      `  seed 421; reports: ${join(root, 'conform-report.json')}`,
    ])
    expect(process.exitCode).toBe(2)
  },
)
