import { expect, test } from 'vitest'
import { type Cell, matrix } from './fault-matrix.ts'
import { catalogue } from '../../catalogue/catalogue.ts'
import { everyTurn } from '../../catalogue/faults.ts'
import { operations } from '../../catalogue/operations.ts'
import type { Case } from '../../harness/checks/case.ts'
import { runOptionsOf } from '../../harness/engine/run.ts'
import { loadTargetFile } from '../../harness/target-file/load.ts'
import { resolveTarget } from '../../harness/target-file/resolve.ts'
import { referenceTargetFile } from '../../schemas/package-file.ts'
import { plannedCases } from '../../suites/planned-cases.ts'
import { casesOf } from '../../suites/suites.ts'
import { faultMatrixCells } from '../../build/site/sources.ts'

const nameOf = ({ operation, fault }: Cell): string => `${operation}: ${fault}`

test('no cell stands twice, and each has a requirement or a reason', () => {
  expect(new Set(matrix.map(nameOf)).size).toBe(matrix.length)
  expect(matrix.filter((cell) => ('never' in cell ? cell.never : cell.requirement) === '')).toEqual(
    [],
  )
})

test('the page of the site shows every cell, under its kind of fault', () => {
  const cells = faultMatrixCells()
  expect(cells.map(({ kind: _, ...cell }) => cell)).toEqual(matrix)
  expect(new Set(cells.map(({ kind }) => kind)).size).toBe(4)
  expect(operations.filter(({ id }) => !cells.some((cell) => cell.operation === id))).toEqual([])
})

test('each cell of a requirement whose cases are known is one of them', async () => {
  const { file, dir } = await loadTargetFile(referenceTargetFile)
  const { target } = await resolveTarget(file, {
    dir,
    env: {},
    baseUrl: 'http://reference.example',
  })
  const faultsIn = (cases: readonly Case[]): string[] =>
    cases.flatMap(({ fault = '', parts = [] }) => [...fault.split(' + '), ...faultsIn(parts)])
  const withCases = catalogue.filter(({ id }) => casesOf(id))
  // What goes to some operations only goes to others with another seed.
  const seeds = Array.from({ length: everyTurn }, (_, seed) => seed)
  const sent = new Set(
    withCases.flatMap((requirement) =>
      (requirement.fault === 'credentials' ? seeds : [1])
        .map((seed) => runOptionsOf({ seed }, 'conform'))
        .flatMap((options) => faultsIn(plannedCases(requirement, target, options)?.cases ?? []))
        .filter((fault) => fault !== '')
        .map((fault) => `${requirement.id}: ${fault}`),
    ),
  )
  const told = new Set(
    matrix.flatMap((one) => ('requirement' in one ? [`${one.requirement}: ${one.fault}`] : [])),
  )
  const ids = new Set<string>(withCases.map(({ id }) => id))
  const unsent = [...told].filter(
    (name) => ids.has(name.slice(0, name.indexOf(': '))) && !sent.has(name),
  )
  // A member that the valid request lacks cannot be left out of it.
  expect(unsent.filter((name) => !name.includes(': absent @ '))).toEqual([])
  expect(sent.size).toBeGreaterThan(1000)
})
