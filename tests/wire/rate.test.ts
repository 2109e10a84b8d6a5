import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { HttpResponse } from '../../harness/engine/response.ts'
import { createPacer, createThrottle } from '../../harness/engine/throttle.ts'
import { inVirtualTime } from '../support/virtual-time.ts'

/** How many ms each of these waits took from its beginning on. */
async function passedIn(
  waits: readonly (Promise<void> | undefined)[],
  start: number,
): Promise<number[]> {
  return Promise.all(
    waits.map(async (wait) => {
      await wait
      return Math.round(performance.now() - start)
    }),
  )
}

test('0 waits for nothing', () =>
  inVirtualTime(async () => {
    const { wait } = createPacer(0)
    const start = performance.now()
    for (let time = 0; time < 1000; time += 1) await wait()
    expect(performance.now()).toBe(start)
  }))

test('requests are spaced evenly, and idle time is not saved up', () =>
  inVirtualTime(async () => {
    const { wait } = createPacer(10)
    const start = performance.now()
    expect(await passedIn([wait(), wait(), wait()], start)).toEqual([0, 100, 200])
    await sleep(800)
    expect(await passedIn([wait(), wait()], start)).toEqual([1000, 1100])
  }))

test('an abort ends the waiting', () =>
  inVirtualTime(async () => {
    const ending = new AbortController()
    const { wait } = createPacer(0.001)
    const start = performance.now()
    await wait(ending.signal)
    const waiting = wait(ending.signal)
    ending.abort()
    await waiting
    await wait(ending.signal)
    expect(performance.now()).toBe(start)
  }))

test('names the operations that alone were throttled for 30 s', () =>
  inVirtualTime(async () => {
    const told: (readonly string[])[] = []
    const throttle = createThrottle({
      baseMs: 1,
      onTimeout: (operations) => void told.push(operations),
    })
    const limit = { status: 429, header: () => undefined } as unknown as HttpResponse
    throttle.hold('files.list', limit, 0)
    await sleep(29_000)
    throttle.answered()
    for (const operation of ['jobs.create', 'files.upload', 'jobs.create'])
      throttle.hold(operation, limit, 0)
    await sleep(29_000)
    expect(told).toEqual([])
    await sleep(2000)
    expect(told).toEqual([['jobs.create', 'files.upload']])
  }))
