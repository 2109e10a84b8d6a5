import { describe, expect, test } from 'vitest'
import { observedRequirements } from '../../suites/checks/observed.ts'
import { needsSocket } from '../../reference/server.ts'
import { expectConforming, inProcess, large } from './allowed-differences.ts'
import { refusals } from '../../reference/switches.ts'
import { judge } from '../engine/networks.ts'
import { ownId, redUnder } from './also-red.ts'
import { withoutCleanup } from './changed-targets.ts'
import { isOfStates } from './every-case.ts'
import { expectListed, switches } from './kill-matrix.ts'

/** The switch of each requirement that `every-case` does not judge; `npm run test:servers` has all the others. */
const main = switches.filter((defect) => defect === ownId(defect) && !needsSocket(defect))

/** One case of many shows these, and a quick run draws one. */
const isRare = (defect: string): boolean =>
  /\/(?:bad-input-no-5xx|200-query-config|2xx-query-config|2xx-filtered|4xx-no-effect|409-atomic)$/.test(
    defect,
  )

/** Judged by the responses to others. */
const isOfAnswers = (id: string): boolean =>
  id === 'envelope/large-body' || observedRequirements.some((one) => one === id)

/** What any response may break shows in the responses to others; those of two operations are enough. */
const asked = (defect: string): string[] => [
  ...redUnder(defect),
  ...(redUnder(defect).every((id) => isOfAnswers(id))
    ? ['jobs.retrieve/*', 'translate.run/*']
    : []),
]

test.each(main)('a server that breaks %s fails it', (defect) =>
  expectListed(defect, { only: asked(defect), depth: isRare(defect) ? 'full' : 'quick' }),
)

const grants = refusals.filter((defect) => !isOfStates(defect))
const operationOf = (defect: string): string => defect.replace(/\/.*/, '')
/** Counts the refusals of an operation from 1. */
const numberOf = (defect: string): number =>
  1 + grants.filter((one) => operationOf(one) === operationOf(defect)).indexOf(defect)

// Of each two of an operation, one is granted without the other in some run.
test.each([1, 2, 4, 8, 16])(
  'a server that grants the refusals whose numbers have the bit %i fails these, and no other',
  async (bit) => {
    const defects = grants.filter((defect) => numberOf(defect) & bit)
    const reference = { jobMs: 15, slowJobMs: 300, defects }
    const { failed } = await judge(grants, { reference, change: withoutCleanup, depth: 'quick' })
    expect(failed.toSorted()).toEqual(defects.toSorted())
    expect(Math.max(...grants.map(numberOf))).toBeLessThan(32)
  },
)

describe('a few cases of each kind accuse none of the ways to conform', () => {
  // `npm run test:servers` judges all of them; megabytes in each answer take long.
  const ways = inProcess
    .filter((_, at) => at % 3 === 0)
    .map((group) => group.filter((variant) => !large.includes(variant)))
    .map((group) => [group[0]!, group] as const)
  test.each(ways)('%s and what shares its server', (_, group) => expectConforming(group, 'quick'))
})
