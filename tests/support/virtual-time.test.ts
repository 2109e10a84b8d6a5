import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { inVirtualTime } from './virtual-time.ts'

test('hours pass at once, in order, on every clock', async () => {
  const began = performance.now()
  const told = await inVirtualTime(async () => {
    const seen: string[] = []
    const [at, date] = [performance.now(), Date.now()]
    setTimeout(() => seen.push('an hour'), 3_600_000)
    const ticks = setInterval(() => seen.push('tick'), 1_500_000)
    clearTimeout(setTimeout(() => seen.push('never'), 10))
    await sleep(7_200_000)
    clearInterval(ticks)
    return {
      seen,
      hours: Math.round((performance.now() - at) / 3_600_000),
      dateHours: (Date.now() - date) / 3_600_000,
    }
  })
  expect(told).toEqual({
    seen: ['tick', 'tick', 'an hour', 'tick', 'tick'],
    hours: 2,
    dateHours: 2,
  })
  // Two hours of virtual time take some ms of real time.
  expect(performance.now() - began).toBeLessThan(10_000)
})

test('time stands still while a signature is made', async () => {
  const { subtle } = globalThis.crypto
  const key = await subtle.importKey(
    'raw',
    Buffer.from('secret'),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign'],
  )
  const passed = await inVirtualTime(async () => {
    const began = performance.now()
    const timer = setTimeout(() => undefined, 5)
    for (let count = 0; count < 20; count++) await subtle.sign('HMAC', key, Buffer.alloc(1_000_000))
    const still = performance.now() - began
    clearTimeout(timer)
    return still
  })
  expect(passed).toBe(0)
  expect(Object.keys(subtle)).toEqual([])
})

test('a sleep ends with its signal', async () => {
  const stop = new AbortController()
  const slept = inVirtualTime(async () => {
    setTimeout(() => stop.abort(new Error('enough')), 10)
    await sleep(1000, undefined, { signal: stop.signal })
  })
  await expect(slept).rejects.toThrow('enough')
})

test('real time is back afterwards, whatever became of the work', async () => {
  const [timer, now] = [setTimeout, performance.now]
  await expect(inVirtualTime(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed')
  expect([setTimeout, performance.now]).toEqual([timer, now])
})

test('a timer that began before time stood still can be stopped while it does', async () => {
  const fired: string[] = []
  const before = setTimeout(() => fired.push('stopped'), 1)
  await inVirtualTime(async () => clearTimeout(before))
  await sleep(2)
  expect(fired).toEqual([])
})
