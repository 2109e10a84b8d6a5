import { describe, expect, test } from 'vitest'
import { defects, needsSocket } from '../../reference/server.ts'
import { observedRequirements } from '../../harness/checks/envelope-watch.ts'
import { deal } from './deals.ts'
import { ownId, redUnder } from './also-red.ts'
import { expectListed } from './kill-matrix.ts'
import { brokenServer } from './servers.ts'
import { expectConforming, inCompany } from './allowed-differences.ts'

/** The main switch of each requirement; `npm run test:servers` judges all the others. */
const main = defects.filter((defect) => defect === ownId(defect) && !needsSocket(defect))
const hands = deal(main, 'one-each').map((hand) => [hand[0]!, hand] as const)

/** What any response may break shows by the responses of other requirements: those of one operation are enough. */
function asked(hand: readonly string[]): readonly string[] {
  const isObserved = hand.some((defect) => observedRequirements.some((id) => id === ownId(defect)))
  return [...new Set([...hand.flatMap(redUnder), ...(isObserved ? ['jobs.retrieve/*', 'translate.run/*'] : [])])]
}

describe('each requirement fails if a server breaks it, and only what is listed with it', () => {
  test.each(hands)('%s and what shares its server', (_, hand) =>
    expectListed({ ...brokenServer(hand), only: asked(hand) }),
  )
})

test('the reference, with no switch on, fails nothing', () => expectConforming([]))

describe('a few cases of each kind accuse none of the ways to conform', () => {
  const ways = inCompany('first').map((hand) => [hand[0]!, hand] as const)
  test.each(ways)('%s and what shares its server', (_, hand) => expectConforming(hand, 'quick'))
})

test('the main switches are those of all requirements', () => {
  expect(hands.flatMap(([, hand]) => hand).length).toBeGreaterThan(330)
})
