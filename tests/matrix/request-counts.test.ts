import { expect, test } from 'vitest'
import { isRefusal } from '../../catalogue/answers.ts'
import { type CatalogueRow, catalogue } from '../../catalogue/catalogue.ts'
import { isOperationId, triesOf } from '../../catalogue/operations.ts'
import { countIn } from '../../harness/engine/cost.ts'
import type { Run } from '../../harness/engine/run.ts'
import { judgeReference } from './judge-reference.ts'

/** Most requests of the requirement's own, by what its row says. */
function mostOf({ maxRequests, gives, operation, alsoSends = {} }: CatalogueRow, { target, options }: Run): number {
  const own = typeof maxRequests === 'function' ? maxRequests(target) : countIn(maxRequests, options)
  const tries = isRefusal(gives) || !isOperationId(operation) ? 1 : triesOf(operation)
  return own * tries + Object.values(alsoSends).reduce((sum, more) => sum + more, 0)
}

test('no requirement sends more than its row says, so that the dry run promises no less than is sent', async () => {
  const sent = new Map<string, number>()
  const { run } = await judgeReference(
    { jobMs: 15, slowJobMs: 1000 },
    {
      options: { refusalRuns: 25, grantedRuns: 5 },
      prepare: ({ client }) =>
        client.observers.push(({ purpose: { requirement, role } }) => {
          if (requirement !== null && role !== 'control') sent.set(requirement, (sent.get(requirement) ?? 0) + 1)
        }),
    },
  )
  expect(sent.size).toBeGreaterThan(200)
  const over = catalogue
    .filter((row) => run.target.scenarios[row.id] === undefined)
    .filter((row) => (sent.get(row.id) ?? 0) > mostOf(row, run))
    .map((row) => `${row.id}: ${sent.get(row.id)} of ${mostOf(row, run)}`)
  expect(over).toEqual([])
})
