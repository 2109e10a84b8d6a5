import { expect, test } from 'vitest'
import { createDynamicKeys } from '../../harness/target-file/resolve-key.ts'

function countingKeys(source: (count: number) => string | Promise<string>) {
  const clock = { now: 1000 }
  const learned: string[] = []
  let count = 0
  const keys = createDynamicKeys(
    '.',
    (path, { value, label }) => learned.push(`${path} ${value} ${label}`),
    () => clock.now,
  )
  keys.add('keys.full', async () => source(++count), '$KEY')
  return { clock, keys, learned }
}

test('a function is asked once a minute, however many ask at once', async () => {
  const { clock, keys, learned } = countingKeys((count) => `key-${count}`)
  expect(await Promise.all([keys.read('keys.full'), keys.read('keys.full')])).toEqual(['key-1', 'key-1'])
  clock.now += 59_999
  expect(await keys.read('keys.full')).toBe('key-1')
  clock.now += 1
  expect(await keys.read('keys.full')).toBe('key-2')
  expect(learned).toEqual(['keys.full key-1 $KEY', 'keys.full key-2 $KEY'])
})

test('an answer that failed is not remembered', async () => {
  const { keys, learned } = countingKeys((count) => (count === 1 ? Promise.reject(new Error('down')) : `key-${count}`))
  await expect(keys.read('keys.full')).rejects.toThrow('keys.full: the function that gives the key threw an error')
  expect(await keys.read('keys.full')).toBe('key-2')
  expect(learned).toEqual(['keys.full key-2 $KEY'])
})

test('a command is asked again after its ttlSeconds, and without them once', async () => {
  const clock = { now: 0 }
  const keys = createDynamicKeys(
    '.',
    () => undefined,
    () => clock.now,
  )
  const command = [process.execPath, '-p', '"key-" + process.hrtime.bigint()']
  keys.add('often', { command, ttlSeconds: 2 }, '$KEY')
  keys.add('once', { command }, '$KEY')
  const [often, once] = [await keys.read('often'), await keys.read('once')]
  clock.now = 1999
  expect([await keys.read('often'), await keys.read('once')]).toEqual([often, once])
  clock.now = 10_000_000
  expect(await keys.read('often')).not.toBe(often)
  expect(await keys.read('once')).toBe(once)
})
