import { expect, test } from 'vitest'
import { createCeiling } from '../../harness/engine/ceiling.ts'

const { signal } = new AbortController()

test('who waits comes in by order of arrival, and who is urgent before all that are not', async () => {
  const ceiling = createCeiling(1)
  const entered: string[] = []
  const release = await ceiling.acquire(signal)
  const wait = async (name: string, urgent: boolean): Promise<void> => {
    const next = await ceiling.acquire(signal, { urgent })
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
  const ceiling = createCeiling(2)
  const entered: string[] = []
  const release = await ceiling.acquire(signal)
  const burst = ceiling.acquire(signal, { count: 2, urgent: true }).then((back) => {
    entered.push('burst')
    back()
    back()
  })
  const single = ceiling.acquire(signal).then((back) => {
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
  const ceiling = createCeiling(2)
  const release = await ceiling.acquire(signal)
  const stop = new AbortController()
  const burst = ceiling.acquire(stop.signal, { count: 2 })
  const single = ceiling.acquire(signal)
  stop.abort(new Error('over'))
  await expect(burst).rejects.toThrow('over')
  ;(await single)()
  release()
})
