import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { inVirtualTime } from './virtual-time.ts'

/** Something that takes real time. */
const turns = async (count: number): Promise<void> => {
  for (let left = count; left > 0; left--) await new Promise((resolve) => setImmediate(resolve))
}

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
    return { seen, hours: Math.round((performance.now() - at) / 3_600_000), dateHours: (Date.now() - date) / 3_600_000 }
  })
  expect(told).toEqual({ seen: ['tick', 'tick', 'an hour', 'tick', 'tick'], hours: 2, dateHours: 2 })
  expect(performance.now() - began).toBeLessThan(10_000)
})

test('time stands still during work, but if the work sleeps', async () => {
  const passed = await inVirtualTime(async (time) => {
    const began = performance.now()
    const timer = setTimeout(() => undefined, 5)
    await time.during(() => turns(50))
    const still = performance.now() - began
    clearTimeout(timer)
    await time.during(() => sleep(1000))
    return [still, Math.round(performance.now() - began)]
  })
  expect(passed).toEqual([0, 1000])
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
