import { expect, test } from 'vitest'
import { createSemaphore } from '../../harness/engine/pace.ts'

const { signal } = new AbortController()

test('who waits comes in by order of arrival, and who is urgent before all that are not', async () => {
  const semaphore = createSemaphore(1)
  const entered: string[] = []
  const release = await semaphore.acquire(signal)
  const wait = async (name: string, urgent: boolean): Promise<void> => {
    const next = await semaphore.acquire(signal, { urgent })
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
  const burst = semaphore.acquire(signal, { count: 2, urgent: true }).then((back) => {
    entered.push('burst')
    back()
    back()
  })
  const single = semaphore.acquire(signal).then((back) => {
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
  const burst = semaphore.acquire(stop.signal, { count: 2 })
  const single = semaphore.acquire(signal)
  stop.abort(new Error('over'))
  await expect(burst).rejects.toThrow('over')
  ;(await single)()
  release()
})
