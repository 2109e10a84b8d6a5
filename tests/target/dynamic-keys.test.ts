import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { runConformance } from '../../library/run-conformance.ts'
import { folder } from '../cli/conform.ts'
import { askedKey } from '../../harness/target/resolve.ts'
import type { FromCommand } from '../../harness/target/model.ts'

/** A clock that stands still until it is set. */
function stoppedClock() {
  const clock = { now: 1000 }
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => clock.now)
  onTestFinished(() => spy.mockRestore())
  return clock
}

const newContext = () => ({ dir: '.', secrets: [], warnings: [] })

function countingKey(source: (count: number) => string | Promise<string>) {
  const context = newContext()
  let count = 0
  return {
    ask: askedKey(context, 'keys.full', async () => source(++count), '$KEY'),
    secrets: context.secrets,
  }
}

test('a function is asked once a minute, however many ask at once', async () => {
  const clock = stoppedClock()
  const { ask, secrets } = countingKey((count) => `the-key-${count}`)
  expect(await Promise.all([ask(), ask()])).toEqual(['the-key-1', 'the-key-1'])
  clock.now += 59_999
  expect(await ask()).toBe('the-key-1')
  clock.now += 1
  expect(await ask()).toBe('the-key-2')
  expect(secrets).toEqual([
    { value: 'the-key-1', label: '$KEY' },
    { value: 'the-key-2', label: '$KEY' },
  ])
})

test('an answer that failed is not remembered', async () => {
  const { ask, secrets } = countingKey((count) =>
    count === 1 ? Promise.reject(new Error('down')) : `the-key-${count}`,
  )
  await expect(ask()).rejects.toThrow('keys.full: the function that gives the key threw down')
  expect(await ask()).toBe('the-key-2')
  expect(secrets).toEqual([{ value: 'the-key-2', label: '$KEY' }])
})

test('a command is asked again after its ttlSeconds, and without them once', async () => {
  const clock = stoppedClock()
  const command = ['sh', '-c', 'echo key-$$']
  const asked = (source: FromCommand) => askedKey(newContext(), 'keys.full', source, '$KEY')
  const [askOften, askOnce] = [asked({ command, ttlSeconds: 2 }), asked({ command })]
  const [often, once] = [await askOften(), await askOnce()]
  clock.now += 1999
  expect([await askOften(), await askOnce()]).toEqual([often, once])
  clock.now += 10_000_000
  expect(await askOften()).not.toBe(often)
  expect(await askOnce()).toBe(once)
})

test('a key command that fails before the first request, or half-way, ends the run with its last line', async () => {
  const dir = folder()
  const script = `n=$(cat n 2>/dev/null || echo 0); echo $((n + 1)) > n
    if [ "$n" -ge "$1" ]; then echo 'token endpoint: 503' >&2; exit 1; fi; echo the-key-of-the-command`
  for (const times of ['1', '2']) {
    writeFileSync(join(dir, 'n'), '0')
    // Each request asks again.
    const full = { command: ['sh', '-c', script, 'sh', times], ttlSeconds: 1e-9 }
    const fetch = () => Response.json([])
    const { report } = runConformance({ fetch, keys: { full } }, { dir, only: ['files.list/*'] })
    const because =
      'the target: keys.full: the command "sh" failed with exit code 1: token endpoint: 503'
    const { exit, run } = await report
    expect(exit).toMatchObject({ code: 3, because })
    expect(run.requests).toBe(Number(times) - 1)
  }
})
