import { expect, test } from 'vitest'
import { network } from '../support/lossy-network.ts'
import { needsSocket } from '../../reference/server.ts'
import { redUnder, surelyRedUnder } from './also-red.ts'
import { idsOf, judgeReference } from './judge-reference.ts'
import { type BrokenServer, brokenServers } from './servers.ts'

/** Up to 150 ms for each request, and one in fifty loses its connection. */
const slow = { latencyMs: 150, lost: 0.02 }
/** ms; jobs last longer than it takes to ask for them. */
const pace = { jobMs: 500, slowJobMs: 3000 }
/** The least share that is seen: from so far away nobody sees what is over within a few ms, nor what was lost. */
const leastCaught = 0.99

async function judgeFromAfar(
  { defects, variants, only, change }: BrokenServer,
  seed: number,
): Promise<string[]> {
  const { results } = await judgeReference(
    { ...pace, defects, variants },
    {
      change,
      options: { only },
      limits: { jobTimeoutMs: 20_000 },
      network: (transport) => network(transport, { seed, ...slow }),
    },
  )
  return idsOf(results, 'failed')
}

test(
  'a slow network that loses connections hides next to nothing, and accuses nobody',
  { timeout: 600_000 },
  async () => {
    const servers = brokenServers.filter(({ defects }) => !defects.some(needsSocket))
    const extra: string[] = []
    let listed = 0
    let caught = 0
    for (const [seed, server] of servers.entries()) {
      const failed = await judgeFromAfar(server, seed)
      const red = new Set(server.defects.flatMap(redUnder))
      const sure = new Set(server.defects.flatMap(surelyRedUnder))
      listed += sure.size
      caught += failed.filter((id) => sure.has(id)).length
      extra.push(...failed.filter((id) => !red.has(id)).map((id) => `${server.name}: ${id}`))
    }
    expect(extra).toEqual([])
    expect(caught / listed).toBeGreaterThan(leastCaught)
  },
)
