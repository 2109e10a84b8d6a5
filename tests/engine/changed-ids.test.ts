import { expect, test } from 'vitest'
import { changedId } from '../../harness/checks/seed.ts'
import type { Run } from '../../harness/engine/run.ts'

const run = { objects: { takenIds: new Set(['12xxxxxxx']) } } as unknown as Run

test.each([
  ['7', 'lengthened', '7xxxxxxxx'],
  ['123456789', 'lengthened', '123456789x'],
  ['12', 'lengthened', undefined],
  ['12345', 'cut', undefined],
  ['7000000000000001', 'cut', '700000000000000'],
  ['file_12345', 'lengthened', undefined],
  ['kg-abcdef', 'lengthened', 'kg-abcdefb'],
] as const)('the id %s, %s: %s', (id, way, made) => {
  expect(changedId(run, id, way)).toBe(made)
})
