import { expect, test } from 'vitest'
import { createCeiling } from '../../harness/engine/ceiling.ts'

const { signal } = new AbortController()

test('who waits comes in by order of arrival, and who is urgent before all that are not', async () => {
  const ceiling = createCeiling(1)
  const entered: string[] = []
  const leave = await ceiling.enter(signal)
  const wait = async (name: string, urgent: boolean): Promise<void> => {
    const next = await ceiling.enter(signal, { urgent })
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
  leave()
  await Promise.all(all)
  expect(entered).toEqual(['first urgent', 'second urgent', 'first', 'second', 'third'])
})

test('a burst enters with all its places, and nobody slips past it', async () => {
  const ceiling = createCeiling(2)
  const entered: string[] = []
  const leave = await ceiling.enter(signal)
  const burst = ceiling.enter(signal, { count: 2, urgent: true }).then((back) => {
    entered.push('burst')
    back()
    back()
  })
  const single = ceiling.enter(signal).then((back) => {
    entered.push('single')
    back()
  })
  await Promise.resolve()
  expect(entered).toEqual([])
  leave()
  await Promise.all([burst, single])
  expect(entered).toEqual(['burst', 'single'])
})

test('who gives up makes room for those behind', async () => {
  const ceiling = createCeiling(2)
  const leave = await ceiling.enter(signal)
  const stop = new AbortController()
  const burst = ceiling.enter(stop.signal, { count: 2 })
  const single = ceiling.enter(signal)
  stop.abort(new Error('over'))
  await expect(burst).rejects.toThrow('over')
  ;(await single)()
  leave()
})
