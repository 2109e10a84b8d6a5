import { expect, test } from 'vitest'
import { variants } from '../../reference/server.ts'
import { settleMs, withReference, type Story } from './client.ts'
import { isRefused, provoke, refusalRows } from './refusal-rows.ts'
import { effects } from './variant-effects.ts'

const spelled = variants.filter((variant) => !variant.includes('='))
const alternatives = variants.filter((variant) => variant.includes('='))

const on = (variant: string, look: Story) =>
  withReference({ variants: [variant], settleMs, slowRefusalMs: settleMs }, look)

test('every variant is looked at here', () => {
  expect(Object.keys(effects).sort()).toEqual([...spelled].sort())
})

test.each(spelled)('%s', async (variant) => {
  expect(await on(variant, effects[variant] ?? (() => Promise.resolve(false)))).toBe(true)
})

test.each(alternatives)('%s', async (variant) => {
  const [name = '', pair = ''] = variant.split('=')
  const id = name.replace(/@.*/, '')
  const rows = refusalRows.filter(
    ([of]) => of === id || (id.startsWith('*/') && of.endsWith(id.slice(1))),
  )
  const seen = await on(variant, async (server) => {
    for (const row of rows)
      if (isRefused(await provoke(server, row), [pair.replace('-', ' ')])) return true
    return false
  })
  expect(seen).toBe(true)
})
