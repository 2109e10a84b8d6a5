import { expect, test } from 'vitest'
import { type Cell, matrix, sent } from './fault-matrix.ts'
import { operations, operationOf, type OperationId } from '../../catalogue/operations.ts'
import {
  everyTurn,
  invalidKeys,
  isFormOn,
  malformedKeys,
  otherPlaces,
  pathAt,
  turnOf,
} from '../../catalogue/faults.ts'
import { malformedForms } from '../../suites/authentication/key-forms.ts'

const nameOf = ({ operation, fault }: Cell): string => `${operation}: ${fault}`

test('no cell is listed twice, and each is sent or has a reason', () => {
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

const ids = operations.map(({ id }): OperationId => id)
const seeds = Array.from({ length: 100 }, (_, seed) => seed + 7001)
const forms = [...malformedKeys, ...invalidKeys]

/** What goes to an operation with that seed: forms of a key, and paths and headers beside its own. */
function sentTo(id: OperationId, seed: number): string[] {
  const turn = turnOf(id, seed)
  const { path } = operationOf(id)
  return [
    ...forms.filter((kind) => isFormOn(id, kind, turn)),
    ...otherPlaces.flatMap((place) => {
      const at = pathAt(id, path, place, turn)
      return at === undefined ? [] : `${place} ${at}`
    }),
  ]
}

test('a hundred seeds send every form of a key to every operation, and one sends some', () => {
  expect(forms.every((kind) => isFormOn('translate.run', kind, 7001))).toBe(false)
  for (const id of ids) {
    const sent = new Set(seeds.flatMap((seed) => sentTo(id, seed)))
    expect(forms.filter((kind) => !sent.has(kind))).toEqual([])
  }
})

test('a hundred seeds send a request without a key to every place that an operation has', () => {
  for (const id of ids) {
    const sent = new Set(seeds.flatMap((seed) => sentTo(id, seed)))
    const possible = Array.from({ length: everyTurn }, (_, turn) => sentTo(id, turn)).flat()
    expect(possible.filter((one) => !sent.has(one))).toEqual([])
    for (const place of ['.json', 'percent-encoded', 'query', 'forwarded', 'no user agent'])
      expect([...sent].some((one) => one.startsWith(`${place} `))).toBe(true)
  }
})

test('with each seed every operation gets the whole key behind another word than Bearer', () => {
  const full = { value: 'k.e.y', label: '$KEY' }
  const spared = ids.flatMap((id) =>
    seeds.filter((seed) => {
      const turn = turnOf(id, seed)
      const sent = malformedForms(full, turn).filter(({ kind }) => isFormOn(id, kind, turn))
      return !sent.some(({ credential: { value = '' } }) => /^(?!Bearer)\S+ k\.e\.y$/.test(value))
    }),
  )
  expect(spared).toEqual([])
})
