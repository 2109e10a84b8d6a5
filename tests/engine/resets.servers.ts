import { fileURLToPath } from 'node:url'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startReference } from '../../reference/server.ts'
import { folder, start } from '../cli/conform.ts'
import { faultyProxy } from '../support/faulty-proxy.ts'

const target = fileURLToPath(new URL('../../fixtures/reference.target.json', import.meta.url))

// A process of its own: one whose event loop is empty ends without a word.
test.concurrent.each([1, 2, 3, 4])(
  'behind a proxy that resets one request in ten a run ends with a verdict and a report, seed %d',
  async (seed) => {
    const { url, close } = await startReference({ jobMs: 15, slowJobMs: 1200 })
    const proxy = await faultyProxy([Number(new URL(url).port)], { seed, reset: 0.1 })
    onTestFinished(async () => {
      await proxy.close()
      await close()
    })
    const cwd = folder()
    const args = [proxy.url, '--target', target, '--runs', '1', '--seed', String(seed)]
    const ended = await start([...args, '--report', 'json'], { cwd }).ended
    expect(proxy.faults()).toBeGreaterThan(100)
    expect([0, 1, 3], ended.stdout).toContain(ended.code)
    expect(ended.stdout.trimEnd().split('\n').at(-1)).toMatch(/^exit \d: /)
    expect(existsSync(join(cwd, 'conform-report.json'))).toBe(true)
  },
)
