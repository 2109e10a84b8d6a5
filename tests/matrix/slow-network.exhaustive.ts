import { expect, test } from 'vitest'
import { needsSocket } from '../../reference/server.ts'
import { network } from '../support/lossy-network.ts'
import { ownId, redUnder } from './also-red.ts'
import { withoutCleanup } from './changed-targets.ts'
import { judgeReference } from './judge-reference.ts'
import { reachOf, switches } from './kill-matrix.ts'

/** Up to 150 ms for each request, and one in fifty loses its connection. */
const slow = { latencyMs: 150, lost: 0.02 }
/** ms; jobs last longer than it takes to ask for them. */
const pace = { jobMs: 500, slowJobMs: 3000 }
/** The least share that is seen: from so far away nobody sees what is over within a few ms, nor what was lost. */
const leastCaught = 0.99

test(
  'a slow network that loses connections hides next to nothing, and accuses nobody',
  { timeout: 900_000 },
  async () => {
    const inProcess = switches.filter((defect) => !needsSocket(defect))
    const extra: string[] = []
    let caught = 0
    for (const [seed, defect] of inProcess.entries()) {
      const { failed } = await judgeReference(
        { ...pace, defects: [defect] },
        {
          change: withoutCleanup,
          options: { only: reachOf(defect) },
          limits: { jobTimeoutMs: 20_000 },
          network: (transport) => network(transport, { seed, ...slow }),
        },
      )
      if (failed.includes(ownId(defect))) caught++
      const red = redUnder(defect)
      extra.push(...failed.filter((id) => !red.includes(id)).map((id) => `${defect}: ${id}`))
    }
    expect(extra).toEqual([])
    expect(caught / inProcess.length).toBeGreaterThan(leastCaught)
  },
)
