import { expect, test } from 'vitest'
import { catalogue } from '../../catalogue/catalogue.ts'
import { withReference, settleMs, type Story } from './client.ts'
import { isRefused, provoke, refusalRows } from './refusal-rows.ts'
import { stories } from './stories.ts'
import { variants, defects, startReference } from '../../reference/server.ts'
import { effects } from './variant-effects.ts'

test('every requirement is looked at here, but the removal of the PDF parser', () => {
  const covered = new Set([...refusalRows.map(([id]) => id), ...Object.keys(stories)])
  expect(catalogue.map(({ id }) => id).filter((id) => !covered.has(id))).toEqual([
    'pdf.parse/4xx-removed',
  ])
})

test('every refusal is one that the interface asks for', () =>
  withReference({}, async (server) => {
    for (const row of refusalRows) {
      const [id, , ...pairs] = row
      const answer = await provoke(server, row)
      expect(isRefused(answer, pairs), `${id}: ${answer.status} ${answer.text}`).toBe(true)
    }
  }))

test.each(Object.entries(stories))('%s', async (_, story) => {
  expect(await withReference({ slowJobMs: 700 }, story)).toBe(true)
})

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

// tests/spec/requirements.txt guards the ids.
const ids: readonly string[] = catalogue.map(({ id }) => id)

test('every requirement has a defect of its name, and every defect is of a requirement', () => {
  expect(ids.filter((id) => !defects.includes(id))).toEqual([])
  expect(defects.filter((name) => !ids.includes(name.replace(/#.*/, '')))).toEqual([])
})

test('no name stands twice', () => {
  expect(new Set(defects).size).toBe(defects.length)
  expect(new Set(variants).size).toBe(variants.length)
})

test('a name that does not exist is refused', async () => {
  await expect(startReference({ defects: ['jobs.create/202-made'] })).rejects.toThrow(
    'no defect "jobs.create/202-made"',
  )
  await expect(startReference({ variants: ['json/upside-down'] })).rejects.toThrow(
    'no variant "json/upside-down"',
  )
})
