import { expect, test } from 'vitest'
import { operations } from '../../catalogue/operations.ts'
import { renderBadge } from '../../reporters/badge.ts'
import { runNotes } from '../../reporters/view/standing.ts'
import { estimate } from '../../suites/estimate.ts'
import { judge } from '../engine/networks.ts'
import { idsOf } from './judge-reference.ts'

const quick = { depth: 'quick', refusalRuns: 1, grantedRuns: 1 } as const

test('a quick run judges all that a full one does, of the reference by at most 30 requests an operation', async () => {
  const reference = { jobMs: 15, slowJobMs: 300 }
  const { results, facts, run, verdict, report } = await judge([], { reference, ...quick })
  expect(verdict).toBe('conformant')
  expect(idsOf(results, 'not-exercised')).toEqual([])
  expect(facts.requests).toBeLessThanOrEqual(30 * operations.length)
  expect(facts.requests).toBeGreaterThan(18 * operations.length)
  expect(report.run).toMatchObject({ depth: 'quick', credentialProbes: 'few' })
  expect(runNotes(report).join()).toContain('--depth quick')
  expect(renderBadge({ ...report, exit: { code: 0, because: '' } })).toContain('conformant (quick)')
  // Of jobs.retrieve the polls are estimated, which nobody can know.
  const rows = estimate(run.given.plan, run.given.target, run.given.options)
  const known = rows.filter(({ operation }) => operation !== 'jobs.retrieve')
  expect(known.reduce((sum, { most }) => sum + most, 0)).toBeLessThan(70 * operations.length)
})

test('which of the cases that have a name a quick run sends, its seed draws', async () => {
  const bodies = async (seed: number): Promise<readonly string[]> => {
    const sent: string[] = []
    await judge(['*/400-malformed-json', '*/400-wrong-content-type'], {
      ...quick,
      seed,
      observe({ purpose: { role, what } }) {
        if (role === 'probe') sent.push(what ?? '')
      },
    })
    return sent.sort()
  }
  const [one, other] = [await bodies(1), await bodies(2)]
  expect(other).not.toEqual(one)
  expect(new Set(one).size).toBeGreaterThan(5)
  // One of each kind for each of the operations that take JSON.
  expect(one).toHaveLength(2 * operations.filter(({ body }) => body === 'json').length)
})

test('--bail drops what is under way: of one request at a time nothing but the next one follows the failing answer', async () => {
  const failing = 'files.upload/401-missing-credentials'
  const sent: string[] = []
  const { failed, results } = await judge(['files.*'], {
    reference: { defects: [failing] },
    bail: 1,
    limits: { concurrency: 1 },
    way: (_, send, { purpose }) => {
      // What cleans up has no tag.
      if (purpose) sent.push(purpose.requirement ?? purpose.role)
      return send()
    },
  })
  expect(failed).toEqual([failing])
  expect(sent.slice(sent.indexOf(failing) + 1).length).toBeLessThanOrEqual(1)
  const open = results.filter(
    ({ id, outcome }) => id.startsWith('files.') && outcome === 'not-exercised',
  )
  expect(new Set(open.map(({ reason }) => reason))).toEqual(new Set(['left out: --bail']))
})
