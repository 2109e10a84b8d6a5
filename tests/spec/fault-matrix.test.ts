import { expect, test } from 'vitest'
import { type Cell, matrix } from './fault-matrix.ts'
import { operations } from '../../catalogue/operations.ts'
import { faultMatrixPage } from '../../build/site/fault-matrix-page.ts'

const nameOf = ({ operation, fault }: Cell): string => `${operation}: ${fault}`

test('no cell stands twice, and each has a requirement or a reason', () => {
  expect(new Set(matrix.map(nameOf)).size).toBe(matrix.length)
  expect(matrix.filter((cell) => ('never' in cell ? cell.never : cell.requirement) === '')).toEqual(
    [],
  )
})

test('the page of the site shows every cell, under its kind of fault and with its operation', () => {
  const page = faultMatrixPage()
  expect(page.match(/^## .*$/gm)).toHaveLength(4)
  expect(page).toContain('| no credential | `*/401-missing-credentials` |')
  const plain = page.replaceAll(/\\([|*])/g, '$1')
  const rows = new Map(
    plain.split('\n').map((line) => [/^\| (.*?) \| [`\w]/.exec(line)?.[1], line]),
  )
  for (const { fault, operation, ...outcome } of matrix) {
    const row = rows.get(fault) ?? rows.get(`${operation}: ${fault}`)
    const told = 'never' in outcome ? outcome.never : outcome.requirement.replace(/^[^/]*/, '*')
    expect(row, `${operation}: ${fault}`).toContain(told)
  }
  expect(operations.filter(({ id }) => !page.includes(id))).toEqual([])
})
