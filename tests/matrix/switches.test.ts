import { expect, test } from 'vitest'
import { catalogue } from '../../catalogue/catalogue.ts'
import { defects } from '../../reference/server.ts'
import { alsoRed, ownId } from './also-red.ts'

const ids: readonly string[] = catalogue.map(({ id }) => id)

test('each requirement has a switch of its name, and each switch a requirement', () => {
  expect(ids.filter((id) => !defects.includes(id))).toEqual([])
  expect(defects.filter((defect) => !ids.includes(ownId(defect)))).toEqual([])
})

test('what else a switch fails is listed for switches and requirements that exist', () => {
  expect([...alsoRed.keys()].filter((name) => !defects.includes(name))).toEqual([])
  expect([...alsoRed.values()].flat().filter((id) => !ids.includes(id))).toEqual([])
})
