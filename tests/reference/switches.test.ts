import { expect, test } from 'vitest'
import { catalogue } from '../../catalogue/catalogue.ts'
import { defects, startReference, variants } from '../../reference/server.ts'

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
