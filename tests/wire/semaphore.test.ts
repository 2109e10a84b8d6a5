import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { allEnded } from '../../harness/client/state.ts'
import { createSemaphore } from '../../harness/client/pace.ts'
import { inVirtualTime } from '../support/virtual-time.ts'

const { signal } = new AbortController()

test('who waits comes in by order of arrival, and who is urgent before all that are not', async () => {
  const semaphore = createSemaphore(1)
  const entered: string[] = []
  const release = await semaphore.acquire(signal)
  const wait = async (name: string, urgent: boolean): Promise<void> => {
    const next = await semaphore.acquire(signal, 1, urgent)
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
  const semaphore = createSemaphore(2)
  const entered: string[] = []
  const release = await semaphore.acquire(signal)
  const burst = Promise.resolve(semaphore.acquire(signal, 2, true)).then((back) => {
    entered.push('burst')
    back()
    back()
  })
  const single = Promise.resolve(semaphore.acquire(signal)).then((back) => {
    entered.push('single')
    back()
  })
  await Promise.resolve()
  expect(entered).toEqual([])
  release()
  await Promise.all([burst, single])
  expect(entered).toEqual(['burst', 'single'])
})

test('who gives up makes room for those behind', async () => {
  const semaphore = createSemaphore(2)
  const release = await semaphore.acquire(signal)
  const stop = new AbortController()
  const burst = semaphore.acquire(stop.signal, 2)
  const single = semaphore.acquire(signal)
  stop.abort(new Error('over'))
  await expect(burst).rejects.toThrow('over')
  ;(await single)()
  release()
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
