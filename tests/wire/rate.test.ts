import { expect, test, vi } from 'vitest'
import { createPacer } from '../../harness/engine/throttle.ts'

test('0 waits for nothing', async () => {
  vi.useFakeTimers()
  const { wait } = createPacer(0)
  for (let time = 0; time < 1000; time += 1) await wait()
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

test('requests are spaced evenly, and idle time is not saved up', async () => {
  vi.useFakeTimers()
  const { wait } = createPacer(10)
  const start = performance.now()
  const passed: number[] = []
  const pass = async () => {
    await wait()
    passed.push(performance.now() - start)
  }
  const first = [pass(), pass(), pass()]
  await vi.advanceTimersByTimeAsync(1000)
  await Promise.all(first)
  const second = [pass(), pass()]
  await vi.advanceTimersByTimeAsync(100)
  await Promise.all(second)
  expect(passed).toEqual([0, 100, 200, 1000, 1100])
  vi.useRealTimers()
})

test('an abort ends the waiting', async () => {
  vi.useFakeTimers()
  const ending = new AbortController()
  const { wait } = createPacer(0.001)
  await wait(ending.signal)
  const waiting = wait(ending.signal)
  ending.abort()
  await waiting
  await wait(ending.signal)
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})
