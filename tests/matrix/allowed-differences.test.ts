import { describe, expect, test } from 'vitest'
import { variants } from '../../reference/server.ts'
import { expectConforming, inCompany, onSockets, otherPairs } from './allowed-differences.ts'
import { unexercised } from './unexercised.ts'

const shared = (['first', 'second'] as const).flatMap((way) =>
  inCompany(way).map((hand) => [`${way} way: ${hand[0]}`, hand] as const),
)

describe('fails nothing, and exercises all but what is listed, under', () => {
  test.each(shared)('%s and what shares its server', (_, hand) => expectConforming(hand))

  otherPairs().forEach((set, at) => {
    test(`other pairs, set ${at + 1}: ${set.length} of them`, () => expectConforming(set))
  })
})

test('every variant is on in some server, and the table names none that does not exist', () => {
  const hands = [...shared.map(([, hand]) => hand), ...otherPairs(), ...onSockets]
  expect(new Set(hands.flat())).toEqual(new Set(variants))
  expect([...Object.keys(unexercised), ...hands.flat()].filter((name) => !variants.includes(name))).toEqual([])
})
