import { expect, test } from 'vitest'
import { defects, needsSocket } from '../../reference/server.ts'
import { catalogue } from '../../catalogue/catalogue.ts'
import { alsoRed, ownId } from './also-red.ts'
import { disturbedBy, operationOf } from './assign.ts'
import { brokenServers, needsOtherCohort, parts, serversOf, serversOnSockets } from './servers.ts'

const ids: readonly string[] = catalogue.map(({ id }) => id)
const servers = [...brokenServers, ...serversOnSockets]

test('every id has a main switch', () => {
  expect(ids.filter((id) => !defects.includes(id))).toEqual([])
})

test('every switch is named after a requirement', () => {
  expect(defects.filter((defect) => !ids.includes(ownId(defect)))).toEqual([])
})

test('every switch is on in one server, in two where nothing stamps its evidence', () => {
  const times = (defect: string): number =>
    servers.filter((server) => server.defects.includes(defect)).length
  const expected = (defect: string): number => {
    return !needsSocket(defect) && needsOtherCohort(defect) ? 2 : 1
  }
  expect(defects.filter((defect) => times(defect) !== expected(defect))).toEqual([])
  const operation = (defect: string): string => operationOf(ownId(defect))
  const ofOneOperation = servers.flatMap(({ defects: on }) =>
    on.flatMap((one, at) =>
      on
        .slice(at + 1)
        .filter((other) => operation(other) === operation(one))
        .map((other) => [one, other].toSorted().join(' ')),
    ),
  )
  expect(new Set(ofOneOperation).size).toBe(ofOneOperation.length)
})

test('beside a switch that leaves an operation in disorder there is none of that operation', () => {
  const beside = servers.flatMap(({ defects: on }) =>
    on.flatMap((defect) =>
      disturbedBy(defect).flatMap((operation) =>
        on.filter((other) => other !== defect && operationOf(ownId(other)) === operation),
      ),
    ),
  )
  expect(beside).toEqual([])
})

test('the parts of the matrix are the whole of it, and no server is in two', () => {
  const assigned = Array.from({ length: parts }, (_, part) => serversOf(part)).flat()
  expect(assigned.map(({ name }) => name).toSorted()).toEqual(
    brokenServers.map(({ name }) => name).toSorted(),
  )
})

test('what else turns red is reported of switches and requirements that exist', () => {
  expect(Object.keys(alsoRed).filter((name) => !defects.includes(name))).toEqual([])
  expect(
    Object.values(alsoRed)
      .flatMap(({ ids: also, inSomeOrders = [] }) => [...also, ...inSomeOrders])
      .filter((id) => !ids.includes(id)),
  ).toEqual([])
})
