import { describe, expect, test } from 'vitest'
import { defects, needsSocket } from '../../reference/server.ts'
import { observedRequirements } from '../../harness/checks/envelope-watch.ts'
import { assign } from './assign.ts'
import { ownId, redUnder } from './also-red.ts'
import { expectListed } from './kill-matrix.ts'
import { brokenServer } from './servers.ts'
import { expectConforming, inCohorts, large } from './allowed-differences.ts'

/** The main switch of each requirement; `npm run test:servers` judges all the others. */
const main = defects.filter((defect) => defect === ownId(defect) && !needsSocket(defect))

/** One case of many shows these, and a quick run draws one. */
const isRare = (defect: string): boolean =>
  /\/(?:bad-input-no-5xx|200-query-config|2xx-query-config|2xx-filtered|4xx-no-effect|409-atomic)$/.test(
    defect,
  )

const assigned = (['quick', 'full'] as const).flatMap((depth) => {
  const switches = main.filter((defect) => isRare(defect) === (depth === 'full'))
  return assign(switches, 'one-each').map((group) => [group[0]!, depth, group] as const)
})

/** Gives the requirements to ask: one that any response may break shows in the responses to others; those of one operation are enough. */
function asked(group: readonly string[]): readonly string[] {
  const isObserved = group.some((defect) => observedRequirements.some((id) => id === ownId(defect)))
  return [
    ...new Set([
      ...group.flatMap(redUnder),
      ...(isObserved ? ['jobs.retrieve/*', 'translate.run/*'] : []),
    ]),
  ]
}

describe('each requirement fails if a server breaks it, and only what is listed with it', () => {
  test.each(assigned)('%s and what shares its server, %s run', (_, depth, group) =>
    expectListed({ ...brokenServer(group), only: asked(group), depth }),
  )
})

describe('a few cases of each kind accuse none of the ways to conform', () => {
  // Megabytes in each answer are judged by themselves, and by `npm run test:servers` together with others.
  const ways = inCohorts('first')
    .map((group) => group.filter((variant) => !large.includes(variant)))
    .map((group) => [group[0]!, group] as const)
  test.each(ways)('%s and what shares its server', (_, group) => expectConforming(group, 'quick'))
})

test('the main switches are those of all requirements', () => {
  expect(assigned.flatMap(([, , group]) => group).length).toBeGreaterThan(330)
})
