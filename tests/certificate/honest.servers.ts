/** The exchanges of a run that nobody changed never contradict its report, whatever the target does and the road is like. */
import { describe, expect, test } from 'vitest'
import { defects } from '../../reference/server.ts'
import { inCohorts, judgeConforming, onSockets, otherPairs } from '../matrix/allowed-differences.ts'
import { withoutCleanup } from '../matrix/changed-targets.ts'
import { judgeReference } from '../matrix/judge-reference.ts'
import { losesConnections } from '../matrix/lossy-network.ts'
import type { Transport } from '../../harness/http/message.ts'
import { ownRun, problemsOf } from './honest.ts'

const groups = [
  ...[...inCohorts('first'), ...onSockets].map((group) => [group[0], group, 'full'] as const),
  ...otherPairs().map((group) => [group[0], group, 'quick'] as const),
]

describe('an honest run contradicts itself nowhere', () => {
  test.each(groups)('under %s and what shares its server', async (_, group, depth) => {
    const run = await ownRun((options) =>
      judgeConforming(group, { options: { ...options, depth } }),
    )
    expect(problemsOf(run)).toEqual([])
  })

  test.each([2, 3, 4])('where connections are lost, %i', async (seed) => {
    const network = (transport: Transport) => losesConnections(transport, seed)
    const judge = (options: object) =>
      judgeReference({ jobMs: 300, slowJobMs: 1800 }, { change: withoutCleanup, network, options })
    expect(problemsOf(await ownRun(judge))).toEqual([])
  })

  test.each(['exact', 'family'] as const)('by %s names, of a server with others', async (tpe) => {
    const names = defects.filter((defect) => defect.endsWith('#tpe'))
    const judge = (options: object) =>
      judgeReference(
        { jobMs: 15, slowJobMs: 1000, defects: names },
        { change: withoutCleanup, options },
      )
    expect(problemsOf(await ownRun(judge, { tpe }))).toEqual([])
  })
})
