import { expect, test } from 'vitest'
import type { HttpResult, Transport } from '../../harness/http/message.ts'
import { reasons } from '../matrix/judge-reference.ts'
import { randomFrom } from '../support/lossy-network.ts'
import { answered, envelope, headerOf, isGranted, judge, losing, via } from './networks.ts'

// All requirements, two seeds: chance and copies that lag behind make no innocent one fail.

const failedOf = async (
  network: (transport: Transport) => Transport,
  seed: number,
  limits?: { settleMs: number },
): Promise<string> => {
  const { results } = await judge([], { network, seed, backoffMs: 250, limits })
  return reasons(results.filter(({ outcome }) => outcome === 'failed'))
}

const seeds = [1, 2]

test.each(seeds)('2 % of all answers are cut, seed %i', async (seed) => {
  expect(await failedOf(losing({ seed, lost: 0.02, before: 0 }), seed)).toBe('')
})

test.each(seeds)('5 % of all connections are reset, seed %i', async (seed) => {
  expect(await failedOf(losing({ seed, lost: 0.05 }), seed)).toBe('')
})

test.each([11, 14])('10 % of them, seed %i', async (seed) => {
  expect(await failedOf(losing({ seed, lost: 0.1 }), seed)).toBe('')
})

test.each(seeds)('10 % of all requests get no answer in time, seed %i', async (seed) => {
  expect(await failedOf(losing({ seed, lost: 0.1, cause: 'timeout' }), seed)).toBe('')
})

/** Two replicas answer in turn; one of them learns of creations and changes only that many ms later. */
function lagging(seed: number, lagMs: number) {
  const random = randomFrom(seed)
  const madeAt = new Map<string, number>()
  const known = new Map<string, { at: number; result: HttpResult }[]>()
  let sent = 0
  return via(async (request, send) => {
    const { method, path } = request
    const name = `${path} ${headerOf(request, 'authorization')}`
    const number = sent++
    const result = await send()
    const now = performance.now()
    if (result.kind !== 'answer') return result
    if (method !== 'GET') {
      const [, id] = /"id"\s*:\s*"([^"]+)"/.exec(new TextDecoder().decode(result.body)) ?? []
      if (isGranted(result) && id !== undefined && !madeAt.has(id)) madeAt.set(id, now)
      return result
    }
    const [made] = [...madeAt].filter(([id]) => path.includes(id))
    if (!made) return result
    const answers = known.get(name) ?? []
    known.set(name, [...answers, { at: now, result }])
    if (random.of(`copy ${number}`) < 0.5) return result
    if (now - made[1] >= lagMs)
      return answers.findLast(({ at }) => at <= now - lagMs)?.result ?? result
    return answered(result, 404, envelope('ResourceNotFound'))
  })
}

test.each(seeds)('copies 8 s behind, and settleMs says so, seed %i', async (seed) => {
  expect(await failedOf(lagging(seed, 8000), seed, { settleMs: 10_000 })).toBe('')
})

test.each(seeds)('copies 8 s behind, and nothing says so, seed %i', async (seed) => {
  const failed = await failedOf(lagging(seed, 8000), seed)
  // What was made is not found for longer than settleMs: that is all.
  const isOwn =
    /^(?:jobs\.retrieve\/200-(?:job|identity|stable)|files\.(?:upload\/2xx-retrievable|retrieve\/2xx-accepted)|jobs\.create\/202-retrievable): .* \| 404 ResourceNotFound/
  expect(failed.split('\n').filter((line) => line !== '' && !isOwn.test(line))).toEqual([])
})
