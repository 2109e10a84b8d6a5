import { expect, test } from 'vitest'
import { operations } from '../../catalogue/operations.ts'
import { renderBadge } from '../../reporters/badge.ts'
import { runNotes } from '../../reporters/view/standing.ts'
import type { PreviousRequest } from '../../harness/engine/exchange.ts'
import { estimate } from '../../suites/estimate.ts'
import { reportOf } from '../../suites/run-report.ts'
import { idsOf, judgeReference } from './judge-reference.ts'

const options = { depth: 'quick', refusalRuns: 1, grantedRuns: 1 } as const

test('a quick run judges all that a full one does, of the reference by at most 29 requests an operation', async () => {
  const { results, facts, run, verdicts } = await judgeReference(
    { jobMs: 15, slowJobMs: 300 },
    { options },
  )
  expect(verdicts.exact).toBe('conformant')
  expect(idsOf(results, 'not-exercised')).toEqual([])
  expect(facts.requests).toBeLessThanOrEqual(29 * operations.length)
  expect(facts.requests).toBeGreaterThan(18 * operations.length)
  const report = reportOf({
    ...{ target: run.target, options: run.options, startedAt: new Date(0), durationMs: 0, facts },
    results: new Map(results.map((result) => [result.id, result])),
  })
  expect(report.run).toMatchObject({ depth: 'quick', credentialProbes: 'few' })
  expect(runNotes(report).join()).toContain('--depth quick')
  expect(renderBadge({ ...report, exit: { code: 0, because: '' } })).toContain(
    'conformant (exact names, quick)',
  )
  const most = estimate(run.plan, run.target, run.options).filter(
    ({ operation }) => operation !== 'jobs.retrieve',
  )
  // Of jobs.retrieve the polls are estimated, which nobody can know.
  expect(most.reduce((sum, { requests }) => sum + requests, 0)).toBeLessThan(70 * operations.length)
})

test('which of the cases that have a name a quick run sends, its seed draws', async () => {
  const bodies = async (seed: number): Promise<readonly string[]> => {
    const sent: string[] = []
    await judgeReference(
      {},
      {
        options: { ...options, seed, only: ['*/400-malformed-json', '*/400-wrong-content-type'] },
        prepare: ({ client }) =>
          client.observers.push(
            ({ purpose: { role, what } }) => void (role === 'probe' && sent.push(what ?? '')),
          ),
      },
    )
    return sent.sort()
  }
  const [one, again, other] = [await bodies(1), await bodies(1), await bodies(2)]
  expect(one).toEqual(again)
  expect(other).not.toEqual(one)
  expect(new Set(one).size).toBeGreaterThan(5)
  // One of each kind for each of the operations that take JSON.
  expect(one).toHaveLength(2 * operations.filter(({ body }) => body === 'json').length)
})

test('--bail 2 ends the run when so many requirements have failed', async () => {
  const { results } = await judgeReference(
    {
      defects: [
        'translate.run/400-empty-text',
        'ai-detect.run/400-empty-text',
        'web-search.run/400-empty-query',
      ],
    },
    { options: { bail: 2 }, limits: { concurrency: 1 } },
  )
  expect(idsOf(results, 'failed').length).toBeLessThanOrEqual(3)
  expect(idsOf(results, 'failed').length).toBeGreaterThanOrEqual(2)
  expect(results.filter(({ reason }) => reason === 'left out: --bail').length).toBeGreaterThan(50)
})

test('--bail drops what is under way: of one request at a time nothing but the next one follows the failing answer', async () => {
  const failing = 'files.upload/401-missing-credentials'
  const sent: string[] = []
  const { results } = await judgeReference(
    { defects: [failing] },
    {
      options: { bail: 1, only: ['files.*'] },
      limits: { concurrency: 1 },
      network: (transport) => ({
        ...transport,
        send(request, options) {
          const { purpose } = (options.tag ?? {}) as Partial<PreviousRequest>
          // What cleans up has no tag.
          if (purpose) sent.push(purpose.requirement ?? purpose.role)
          return transport.send(request, options)
        },
      }),
    },
  )
  expect(idsOf(results, 'failed')).toEqual([failing])
  expect(sent.slice(sent.indexOf(failing) + 1).length).toBeLessThanOrEqual(1)
  const chosen = results.filter(({ id }) => id.startsWith('files.'))
  const reasons = chosen
    .filter(({ outcome }) => outcome === 'not-exercised')
    .map(({ reason }) => reason)
  expect([...new Set(reasons)]).toEqual(['left out: --bail'])
})
