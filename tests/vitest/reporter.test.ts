import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { TestModule, Vitest } from 'vitest/node'
import ConformanceReporter from '../../library/vitest/reporter.ts'
import { folder } from '../cli/conform.ts'
import { failed, report, result } from '../gates/results.ts'

test('on a terminal it breaks no word at the edge', async () => {
  const { columns, isTTY } = process.stdout
  onTestFinished(() => {
    Object.assign(process.stdout, { columns, isTTY })
  })
  Object.assign(process.stdout, { columns: 40, isTTY: true })
  const said: string[] = []
  const reporter = new ConformanceReporter({ reports: [] })
  reporter.onInit({
    config: { root: folder() },
    logger: { log: (line: string) => said.push(line) },
  } as unknown as Vitest)
  const module = {
    meta: () => ({ conformance: [{ report: report([failed('a.b/1'), failed('a.b/2')]) }] }),
  } as unknown as TestModule
  await reporter.onTestRunEnd([module])
  expect(said[0]).toMatch(/^conform: /)
  expect(said.length).toBeGreaterThan(1)
  expect(said.every((line) => line.length <= 40)).toBe(true)
  expect(said.map((line) => line.trim()).join(' ')).toMatch(/; reports: none$/)
})

test.skipIf(!existsSync('/dev/full'))(
  'names the reports that are written, and what became of the others',
  async () => {
    const { exitCode } = process
    onTestFinished(() => {
      process.exitCode = exitCode
    })
    const root = folder()
    const said: string[] = []
    const vitest = {
      config: { root },
      logger: { log: (line: string) => said.push(line) },
    } as unknown as Vitest
    const reporter = new ConformanceReporter({ reports: ['junit=/dev/full', 'json'] })
    reporter.onInit(vitest)
    const module = {
      meta: () => ({ conformance: [{ report: report([result('a.b/1')]) }] }),
    } as unknown as TestModule
    await reporter.onTestRunEnd([module])
    expect(said).toEqual([
      'conform: --report junit=/dev/full: cannot be written (ENOSPC)',
      expect.stringMatching(/^conform: Example: Conformant/),
      expect.stringMatching(/^ {2}seed 421; reports: /),
    ])
    expect(said[2]?.split('reports: ')[1]).toBe(join(root, 'conform-report.json'))
    expect(process.exitCode).toBe(2)
  },
)
