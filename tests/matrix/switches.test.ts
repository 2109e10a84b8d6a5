import { expect, test } from 'vitest'
import { catalogue } from '../../catalogue/catalogue.ts'
import { defects, variants } from '../../reference/server.ts'
import { alsoRed, ownId } from './also-red.ts'
import { unexercised } from './unexercised.ts'

const ids: readonly string[] = catalogue.map(({ id }) => id)

test('each requirement has a switch of its name, and each switch a requirement', () => {
  expect(ids.filter((id) => !defects.includes(id))).toEqual([])
  expect(defects.filter((defect) => !ids.includes(ownId(defect)))).toEqual([])
})

test('what else a switch fails, and what a variant hides, is listed for those that exist', () => {
  expect([...alsoRed.keys()].filter((name) => !defects.includes(name))).toEqual([])
  expect(Object.keys(unexercised).filter((name) => !variants.includes(name))).toEqual([])
  expect([...alsoRed.values()].flat().filter((id) => !ids.includes(id))).toEqual([])
})
