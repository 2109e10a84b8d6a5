import { fileURLToPath } from 'node:url'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startReference } from '../../reference/server.ts'
import { start } from '../cli/conform.ts'
import { faultyProxy } from '../support/faulty-proxy.ts'

const target = fileURLToPath(new URL('../../fixtures/reference.target.json', import.meta.url))

// A process of its own: one whose event loop is empty ends without a word.
test.concurrent.for([1])(
  'behind a proxy that resets one request in ten a run ends with a verdict and a report, seed %d',
  async (seed, { onTestFinished }) => {
    const { url, close } = await startReference({ jobMs: 15, slowJobMs: 1200 })
    const proxy = await faultyProxy([Number(new URL(url).port)], { seed, reset: 0.1 })
    const cwd = mkdtempSync(join(tmpdir(), 'conform-test-'))
    onTestFinished(async () => {
      await proxy.close()
      await close()
      rmSync(cwd, { recursive: true, force: true })
    })
    const only = ['graphs.*', 'files.*', 'applications.*'].flatMap((each) => ['--only', each])
    const args = [proxy.url, '--target', target, ...only, '--runs', '1', '--seed', String(seed)]
    const ended = await start([...args, '--report', 'json'], { cwd }).ended
    expect(proxy.faults()).toBeGreaterThan(30)
    expect([0, 1, 3], ended.stdout).toContain(ended.code)
    expect(ended.stdout.trimEnd().split('\n').at(-1)).toMatch(/^exit \d: /)
    expect(existsSync(join(cwd, 'conform-report.json'))).toBe(true)
  },
)
