import { expect, test } from 'vitest'
import { type Cell, matrix, sent } from './fault-matrix.ts'
import { operations } from '../../catalogue/operations.ts'
import { faultMatrixCells } from '../../build/site/sources.ts'

const nameOf = ({ operation, fault }: Cell): string => `${operation}: ${fault}`

test('no cell stands twice, and each is sent or has a reason', () => {
  expect(new Set(matrix.map(nameOf)).size).toBe(matrix.length)
  expect(matrix.filter((cell) => 'never' in cell && cell.never === '')).toEqual([])
})

test('each fault that is sent has a cell, but in members that only the declared body shows', () => {
  const cells = new Set(matrix.map(nameOf))
  const shown = new Set(operations.flatMap(({ members }) => members.map(({ at }): string => at)))
  const faults = [...sent].filter(([, { requirement }]) => !/\/2(?:xx|\d\d)-/.test(requirement))
  const strange = faults.filter(([name]) => {
    // One cell stands for all that is sent in later items, and one for each type of a job's body.
    if (name.startsWith('jobs.create: body: ')) return false
    const [, place] = / @ ([/{].*?)(?:, later)?$/.exec(name) ?? []
    const isOwn = place === undefined || (shown.has(place) && !name.endsWith(', later'))
    return isOwn && !cells.has(name)
  })
  expect(strange).toEqual([])
  expect(faults.length).toBeGreaterThan(1000)
})

test('the page of the site shows every cell, under its kind of fault', () => {
  const cells = faultMatrixCells()
  expect(cells.map(({ kind: _, ...cell }) => cell)).toEqual(matrix)
  expect(new Set(cells.map(({ kind }) => kind)).size).toBe(4)
  expect(operations.filter(({ id }) => !cells.some((cell) => cell.operation === id))).toEqual([])
})
