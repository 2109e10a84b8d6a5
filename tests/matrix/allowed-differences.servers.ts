import { describe, expect, test } from 'vitest'
import { variants } from '../../reference/server.ts'
import { expectConforming, inCompany, onSockets, otherPairs } from './allowed-differences.ts'
import { unexercised } from './unexercised.ts'

/** In other company few cases of each kind are enough; `npm run exhaustive` judges each pair of ways by all of them. */
const shared = (
  [
    ['first', 'full'],
    ['second', 'quick'],
  ] as const
).flatMap(([way, depth]) => inCompany(way).map((hand) => [`${way} way: ${hand[0]}`, hand, depth] as const))

describe('fails nothing, and exercises all but what is listed, under', () => {
  test.each(shared)('%s and what shares its server', (_, hand, depth) => expectConforming(hand, depth))

  otherPairs().forEach((set, at) => {
    test(`other pairs, set ${at + 1}: ${set.length} of them`, () => expectConforming(set, at === 0 ? 'full' : 'quick'))
  })
})

test('every variant is on in some server, and the table names none that does not exist', () => {
  const hands = [...shared.map(([, hand]) => hand), ...otherPairs(), ...onSockets]
  expect(new Set(hands.flat())).toEqual(new Set(variants))
  expect([...Object.keys(unexercised), ...hands.flat()].filter((name) => !variants.includes(name))).toEqual([])
})
