import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { allEnded } from '../../harness/client/state.ts'
import { createSemaphore } from '../../harness/client/pace.ts'
import { inVirtualTime } from '../support/virtual-time.ts'

const { signal } = new AbortController()

test('who waits comes in by order of arrival, and who is urgent before all that are not', async () => {
  const semaphore = createSemaphore(1, signal)
  const entered: string[] = []
  const release = await semaphore.acquire()
  const wait = async (name: string, urgent: boolean): Promise<void> => {
    const next = await semaphore.acquire(1, urgent)
    entered.push(name)
    next()
  }
  const all = [
    wait('first', false),
    wait('second', false),
    wait('first urgent', true),
    wait('third', false),
    wait('second urgent', true),
  ]
  release()
  await Promise.all(all)
  expect(entered).toEqual(['first urgent', 'second urgent', 'first', 'second', 'third'])
})

test('a burst enters with all its places, and nobody slips past it', async () => {
  const semaphore = createSemaphore(2, signal)
  const entered: string[] = []
  const release = await semaphore.acquire()
  const burst = Promise.resolve(semaphore.acquire(2, true)).then((back) => {
    entered.push('burst')
    back()
    back()
  })
  const single = Promise.resolve(semaphore.acquire()).then((back) => {
    entered.push('single')
    back()
  })
  await Promise.resolve()
  expect(entered).toEqual([])
  release()
  await Promise.all([burst, single])
  expect(entered).toEqual(['burst', 'single'])
})

test('the end of the run is the end of all who wait', async () => {
  const stop = new AbortController()
  const semaphore = createSemaphore(2, stop.signal)
  const release = await semaphore.acquire()
  const waits = [semaphore.acquire(2), semaphore.acquire()]
  stop.abort(new Error('over'))
  for (const one of waits) await expect(one).rejects.toThrow('over')
  release()
  await expect(semaphore.acquire()).rejects.toThrow('over')
})

test('what goes on together is waited for, also if one of it throws', () =>
  inVirtualTime(async () => {
    const ended: number[] = []
    const work = async (ms: number, error?: Error): Promise<void> => {
      await sleep(ms)
      ended.push(ms)
      if (error) throw error
    }
    const all = allEnded([work(10, new Error('first')), work(30, new Error('last')), work(20)])
    await expect(all).rejects.toThrow('first')
    expect(ended).toEqual([10, 20, 30])
  }))
