import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { HttpResponse } from '../../harness/journal/exchange.ts'
import { rateOf } from '../../harness/report/reason.ts'
import { createPacer, createThrottle } from '../../harness/client/pace.ts'
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
      onTimeout: ({ operations }) => void told.push(operations),
    })
    const answered = (status: number) =>
      ({ status, header: () => undefined }) as unknown as HttpResponse
    const limit = answered(429)
    throttle.hold('files.list', limit, 0)
    await sleep(29_000)
    throttle.see({ response: answered(200), sentAt: performance.now() })
    for (const operation of ['jobs.create', 'files.upload', 'jobs.create'])
      throttle.hold(operation, limit, 0)
    await sleep(29_000)
    expect(told).toEqual([])
    await sleep(2000)
    expect(told).toEqual([['jobs.create', 'files.upload']])
  }))

test('a wait that an answer asks for counts before the 30 s', () =>
  inVirtualTime(async () => {
    const told: number[] = []
    const onTimeout = ({ ms }: { ms: number }): void => void told.push(Math.round(ms))
    const throttle = createThrottle({ baseMs: 1, onTimeout })
    const limit = (seconds: number): HttpResponse =>
      ({
        status: 429,
        header: (name: string) => (name === 'retry-after' ? `${seconds}` : undefined),
      }) as unknown as HttpResponse
    throttle.hold('files.list', limit(30), 0)
    await sleep(59_000)
    expect(told).toEqual([])
    // More is asked each time: 60 s in all are granted.
    throttle.hold('files.list', limit(60), 1)
    await sleep(30_000)
    expect(told).toEqual([])
    await sleep(2000)
    expect(told).toEqual([90_000])
    throttle.release()
    // One that asks for no wait asks for none.
    throttle.hold('files.list', limit(0), 0)
    await sleep(20_000)
    throttle.hold('files.list', limit(0), 1)
    await sleep(11_000)
    expect(told).toEqual([90_000, 30_000])
    throttle.release()
    // Nobody waits for an hour.
    throttle.hold('files.list', limit(3600), 0)
    await sleep(2000)
    expect(told).toEqual([90_000, 30_000, 1000])
  }))

test('a rate is one of requests a second, or a minute', () => {
  expect(['10', '60/min', '1.5 / min', '0', '60/h', '', '-1'].map(rateOf)).toEqual([
    ...[10, 1, 0.025, 0],
    ...[undefined, undefined, undefined],
  ])
})
