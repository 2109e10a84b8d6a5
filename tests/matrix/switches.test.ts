import { expect, test } from 'vitest'
import { judgeOf } from '../../suites/all.ts'
import { defects } from '../../reference/server.ts'
import { catalogue } from '../../catalogue/catalogue.ts'
import { alsoRed, ownId } from './also-red.ts'
import { brokenServers, parts, serversOf } from './servers.ts'

const ids: readonly string[] = catalogue.map(({ id }) => id)

test('every id has a check and a main switch', () => {
  expect(ids.filter((id) => judgeOf(id) === undefined)).toEqual([])
  expect(ids.filter((id) => !defects.includes(id))).toEqual([])
})

test('every switch is named after a requirement', () => {
  expect(defects.filter((defect) => !ids.includes(ownId(defect)))).toEqual([])
})

test('every switch stands in the matrix once, a main switch by itself', () => {
  expect(brokenServers.flatMap((server) => server.defects).toSorted()).toEqual(defects.toSorted())
  expect(
    brokenServers.filter((server) => server.defects.some((name) => ids.includes(name)) && server.defects.length > 1),
  ).toEqual([])
})

test('the parts of the matrix are the whole of it, and no server is in two', () => {
  const dealt = Array.from({ length: parts }, (_, part) => serversOf(part)).flat()
  expect(dealt.map(({ name }) => name).toSorted()).toEqual(brokenServers.map(({ name }) => name).toSorted())
})

test('what else turns red is told of switches and requirements that exist', () => {
  expect(Object.keys(alsoRed).filter((name) => !defects.includes(name))).toEqual([])
  expect(
    Object.values(alsoRed)
      .flatMap((also) => also.ids)
      .filter((id) => !ids.includes(id)),
  ).toEqual([])
})
