import { expect, test } from 'vitest'
import {
  everyTurn,
  invalidKeys,
  isFormOn,
  isInTurn,
  malformedKeys,
  otherPlaces,
  pathAt,
  turnOf,
} from '../../catalogue/faults.ts'
import { malformedForms } from '../../suites/authentication/key-forms.ts'
import { operation, type OperationId, operations } from '../../catalogue/operations.ts'

const ids = operations.map(({ id }): OperationId => id)
const seeds = Array.from({ length: 100 }, (_, seed) => seed + 7001)
const forms = [...malformedKeys, ...invalidKeys]

/** What goes to an operation with that seed: forms of a key, and paths and headers beside its own. */
function sentTo(id: OperationId, seed: number): string[] {
  const turn = turnOf(id, seed)
  const { path } = operation(id)
  return [
    ...forms.filter((kind) => isFormOn(id, kind, turn)),
    ...otherPlaces.flatMap((place) => {
      const at = pathAt(id, path, place, turn)
      return at === undefined ? [] : `${place} ${at}`
    }),
  ]
}

test('a hundred seeds send every form of a key to every operation', () => {
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

test('with one seed no operation gets all that goes to some of them', () => {
  const some = ids.filter((id) => forms.some((kind) => isInTurn(id, kind)))
  expect(some.length).toBeGreaterThan(10)
  for (const id of some)
    expect(forms.filter((kind) => !isFormOn(id, kind, turnOf(id, 1))).length).toBeGreaterThan(2)
})
