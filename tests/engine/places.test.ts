import { setTimeout as sleep } from 'node:timers/promises'
import type { Exchange } from '../../harness/journal/index.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Prepared } from '../../harness/run/run.ts'
import { send, sendAtOnce } from '../../harness/run/ask.ts'
import { operationProbe } from '../../harness/client/request.ts'
import type { Transport } from '../../harness/http/message.ts'
import { prepareRun } from '../../suites/judge.ts'
import { judgeUrl } from '../matrix/judge-reference.ts'
import { createReference } from '../../reference/server.ts'
import { randomFrom } from '../support/lossy-network.ts'
import { inVirtualTime } from '../support/virtual-time.ts'
import { answer, judge, lost, via } from './networks.ts'

const purpose = { requirement: 'files.upload/2xx-own-id', role: 'probe' } as const
const held = { awaitFree: async (refusals: readonly Exchange[]) => refusals.at(-1) }

/** A request of that effect that takes one of its own to be made, as the addition of a file that is uploaded for it. */
const made = (run: Prepared, effect: 'creates' | 'none') => async () => {
  await send(run.client, await operationProbe(run.given, 'files.list', {}), purpose, held)
  return operationProbe(run.given, 'graphs.create', { json: { name: 'a' }, effect })
}

/** Ways in which a request takes places of the semaphore. */
const users = {
  one: async (run: Prepared) => send(run.client, made(run, 'none'), purpose, held),
  creation: async (run: Prepared) => send(run.client, made(run, 'creates'), purpose, held),
  alone: async (run: Prepared) =>
    run.client.sendOnce({ source: made(run, 'none'), purpose, alone: true }),
  'after another': async (run: Prepared) =>
    run.client.sendOnce({
      source: made(run, 'none'),
      purpose,
      after: { source: made(run, 'none'), purpose },
    }),
  burst: async (run: Prepared) =>
    sendAtOnce(run.client, { source: made(run, 'creates'), purpose }, 5),
  'burst of all': async (run: Prepared) =>
    sendAtOnce(run.client, { source: made(run, 'none'), purpose }, 99),
} satisfies Record<string, (run: Prepared) => Promise<unknown>>

/** Closes connections and asks for patience: of a hundred requests so many each. */
interface Weather {
  readonly seed: number
  readonly lost: number
  readonly throttled: number
}

function network({ seed, lost: share, throttled }: Weather): Transport {
  const random = randomFrom(seed)
  let sent = 0
  return {
    async send(_, { fresh }) {
      const number = sent++
      const sentAt = performance.now()
      await sleep(1 + Math.floor(10 * random.of(`late ${number}`)))
      if (100 * random.of(`lost ${number}`) < share && !fresh)
        return lost({ staleConnection: true, sentAt })
      const status = 100 * random.of(`throttled ${number}`) < throttled ? 429 : 200
      return { ...answer(status, '{}'), sentAt }
    },
    idle: () => 0,
    close: async () => undefined,
  }
}

test('anyone who holds places of the semaphore waits for none, whatever is lost or throttled', async () => {
  const { run } = await judge(['files.list/2xx-*'])
  const names = Object.keys(users) as (keyof typeof users)[]
  const weather = fc.record({
    seed: fc.nat(),
    lost: fc.constantFrom(0, 10, 50),
    throttled: fc.constantFrom(0, 5, 30),
  })
  const holds = fc.asyncProperty(
    fc.array(fc.constantFrom(...names), { minLength: 2, maxLength: 20 }),
    fc.integer({ min: 1, max: 8 }),
    weather,
    async (company, concurrency, given) => {
      const target = { ...run.given.target, limits: { ...run.given.target.limits, concurrency } }
      const again = prepareRun(target, run.given.options, { transport: network(given) })
      const all = Promise.allSettled(company.map((name) => users[name](again)))
      const isOver = await Promise.race([all.then(() => true), sleep(3_600_000, false)])
      again.client.liveness.stop()
      again.client.life.end('interrupted', 'over')
      return isOver
    },
  )
  await inVirtualTime(() => fc.assert(holds, { seed: 1, numRuns: 40 }))
}, 60_000)

test('objects are made before what waits already: the end of a run looks at them when they have their age', async () => {
  const sent: string[] = []
  const transport = via(({ path }, send) => (sent.push(path), send()))(
    network({ seed: 1, lost: 0, throttled: 0 }),
  )
  await inVirtualTime(async () => {
    const { run } = await judgeUrl(createReference().url, {
      transport,
      options: { only: ['files.list/2xx-*'] },
      limits: { concurrency: 1 },
    })
    const again = prepareRun(run.given.target, run.given.options, { transport })
    sent.length = 0
    const list = await operationProbe(again.given, 'files.list', {})
    const creation = { json: { name: 'a' }, effect: 'creates' } as const
    const graph = await operationProbe(again.given, 'graphs.create', creation)
    const made = { requirement: 'graphs.create/2xx-accepted', role: 'probe' } as const
    await Promise.all([
      ...[1, 2, 3].map(() => again.client.sendOnce({ source: list, purpose })),
      again.client.sendOnce({ source: graph, purpose: made }),
    ])
    again.client.liveness.stop()
  })
  const [files, graphs] = ['/v1/files', '/v1/knowledge-graphs']
  expect(sent).toEqual([files, graphs, files, files])
})
