import { existsSync } from 'node:fs'
import net from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startReference } from '../../reference/server.ts'
import { referenceTargetFile } from '../../schemas/validate.ts'
import { conformProcess, folder } from '../cli/conform.ts'
import { randomFrom } from '../support/lossy-network.ts'
import { passOn, startRaw } from '../support/raw-server.ts'

// A process of its own: one whose event loop is empty ends without a word.
test('behind a proxy that resets one request in ten a run ends with a verdict and a report', async () => {
  const reference = await startReference({ jobMs: 15, slowJobMs: 1200 })
  const port = Number(new URL(reference.url).port)
  const random = randomFrom(1)
  let resets = 0
  const proxy = await startRaw((asked) => {
    const { number, socket, text } = asked
    if (random.of(`reset ${number}`) >= 0.1) return passOn(asked, port)
    // Before the target has the request, or once it has answered.
    if (resets++ % 2) return void socket.resetAndDestroy()
    const onward = net.connect(port, '127.0.0.1').on('error', () => undefined)
    onward.once('data', () => (onward.destroy(), socket.resetAndDestroy()))
    onward.write(text, 'latin1')
  })
  onTestFinished(async () => {
    await proxy.close()
    await reference.close()
  })
  const cwd = folder()
  const only = ['graphs.*', 'files.*', 'applications.*'].flatMap((each) => ['--only', each])
  const args = [proxy.url, '--target', referenceTargetFile, ...only, '--runs', '1', '--seed', '1']
  const { code, stdout } = await conformProcess([...args, '--report', 'json'], { cwd })
  expect(resets).toBeGreaterThan(30)
  expect([0, 1, 3], stdout).toContain(code)
  expect(stdout.trimEnd().split('\n').at(-1)).toMatch(/^exit \d: /)
  expect(existsSync(join(cwd, 'conform-report.json'))).toBe(true)
})
