import { describe, expect, test } from 'vitest'
import { variants } from '../../reference/server.ts'
import { expectConforming, inCohorts, onSockets } from './allowed-differences.ts'
import { unexercised } from './unexercised.ts'

/** In another cohort few cases of each kind are enough; `npm run exhaustive` judges each pair of ways by all of them. */
const shared = (
  [
    ['first', 'full'],
    ['second', 'quick'],
  ] as const
).flatMap(([seed, depth]) =>
  inCohorts(seed).map((group) => [`${seed} assignment: ${group[0]}`, group, depth] as const),
)

describe('fails nothing, and exercises all but what is listed, under', () => {
  test.each(shared)('%s and what shares its server', (_, group, depth) =>
    expectConforming(group, depth),
  )
})

test('every variant is on in some server, and the table names none that does not exist', () => {
  const groups = [...shared.map(([, group]) => group), ...onSockets]
  expect(new Set(groups.flat())).toEqual(new Set(variants))
  expect(
    [...Object.keys(unexercised), ...groups.flat()].filter((name) => !variants.includes(name)),
  ).toEqual([])
})
