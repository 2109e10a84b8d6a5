import { expect, test } from 'vitest'
import type { HttpResult, Transport } from '../../harness/http/message.ts'
import { judgeReference, reasons } from '../matrix/judge-reference.ts'
import { randomFrom } from '../support/lossy-network.ts'
import { losing } from './losing.ts'

// All requirements, three seeds: chance and copies that lag behind make no innocent one fail.

const failedOf = async (
  network: (transport: Transport) => Transport,
  seed: number,
  settleMs?: number,
): Promise<string> => {
  const { results } = await judgeReference(
    {},
    {
      network,
      options: { seed, backoffMs: 250 },
      ...(settleMs !== undefined && { limits: { settleMs } }),
    },
  )
  return reasons(results.filter(({ outcome }) => outcome === 'failed'))
}

const seeds = [1, 2, 3]

test.each(seeds)('2 % of all answers are cut, seed %i', async (seed) => {
  expect(await failedOf(losing({ seed, lost: 0.02, before: 0 }), seed)).toBe('')
})

test.each(seeds)('5 % of all connections are reset, seed %i', async (seed) => {
  expect(await failedOf(losing({ seed, lost: 0.05 }), seed)).toBe('')
})

test.each([...seeds, 11, 14, 17, 23])('10 % of them, seed %i', async (seed) => {
  expect(await failedOf(losing({ seed, lost: 0.1 }), seed)).toBe('')
})

/** Two copies are read in turn, of which one knows what was made and what changed only so many ms later. */
const lagging =
  (seed: number, lagMs: number) =>
  (transport: Transport): Transport => {
    const random = randomFrom(seed)
    const madeAt = new Map<string, number>()
    const known = new Map<string, { at: number; result: HttpResult }[]>()
    let sent = 0
    return {
      ...transport,
      async send(request, options): Promise<HttpResult> {
        const number = sent++
        const result = await transport.send(request, options)
        const now = performance.now()
        if (result.kind !== 'answer') return result
        if (request.method !== 'GET') {
          const [, id] = /"id"\s*:\s*"([^"]+)"/.exec(new TextDecoder().decode(result.body)) ?? []
          if (result.status < 300 && id !== undefined && !madeAt.has(id)) madeAt.set(id, now)
          return result
        }
        const [made] = [...madeAt].filter(([id]) => request.path.includes(id))
        if (!made) return result
        const answers = known.get(request.path) ?? []
        known.set(request.path, [...answers, { at: now, result }])
        if (random.of(`copy ${number}`) < 0.5) return result
        if (now - made[1] >= lagMs)
          return answers.findLast(({ at }) => at <= now - lagMs)?.result ?? result
        const body = Buffer.from('{"tpe":"ResourceNotFound","errors":[],"extras":{}}')
        return { ...result, status: 404, body }
      },
    }
  }

test.each(seeds)('copies 8 s behind, and settleMs says so, seed %i', async (seed) => {
  expect(await failedOf(lagging(seed, 8000), seed, 10_000)).toBe('')
})

test.each(seeds)('copies 8 s behind, and nothing says so, seed %i', async (seed) => {
  const failed = await failedOf(lagging(seed, 8000), seed)
  // What was made is not found for longer than settleMs: that is all.
  const isOwn =
    /^(?:jobs\.retrieve\/200-job|files\.upload\/2xx-retrievable|jobs\.create\/202-retrievable): /
  expect(failed.split('\n').filter((line) => line !== '' && !isOwn.test(line))).toEqual([])
})
