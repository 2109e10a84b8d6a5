import { expect, test } from 'vitest'
import { startReference, variants } from '../../reference/server.ts'
import { settleMs, withReference } from './client.ts'
import { effects } from './variant-effects.ts'

test('every variant is looked at here', () => {
  expect(Object.keys(effects).toSorted()).toEqual(variants.toSorted())
})

test.each(variants)('%s shows in an answer', async (variant) => {
  const options = { variants: [variant], settleMs, slowRefusalMs: settleMs }
  expect(await withReference(options, effects[variant]!)).toBe(true)
})

test('a name that does not exist is refused', async () => {
  await expect(startReference({ defects: ['jobs.create/202-made'] })).rejects.toThrow(
    'no defect "jobs.create/202-made"',
  )
  await expect(startReference({ variants: ['json/upside-down'] })).rejects.toThrow(
    'no variant "json/upside-down"',
  )
})
