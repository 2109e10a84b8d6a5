import { expect, test } from 'vitest'
import { type Cell, matrix } from './fault-matrix.ts'
import { operations } from '../../catalogue/operations.ts'
import { faultMatrixCells } from '../../build/site/fault-matrix-page.ts'

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
