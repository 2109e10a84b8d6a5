import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { runNotes } from '../../reporters/view/standing.ts'
import { html, judgeBehind, json, limited } from './behind.ts'
import { judge } from './networks.ts'

const options = { only: ['graphs.create/2xx-*', 'files.upload/2xx-*'] }

test('a clean-up that is throttled is repeated after the wait asked for, and its outcome told', async () => {
  let removals = 0
  let first: string | undefined
  const { report } = await judgeBehind((path, answer, _, { method }) => {
    if (method !== 'DELETE') return answer()
    // One object is never removed.
    first ??= path
    if (path === first) return json(403, {})
    return ++removals % 2 ? limited(2) : answer()
  }, options)
  const { removed, left } = report.run.cleanup
  expect(removed).toBeGreaterThan(5)
  expect(left).toEqual([{ ...left[0], why: 'answered 403' }])
  expect(runNotes(report)).toContainEqual(
    expect.stringMatching(
      new RegExp(`^clean-up: ${removed} of ${removed + 1} created objects removed`),
    ),
  )
})

test('a clean-up that is throttled for ever is given up after a minute, and says so', async () => {
  const { report, tookMs } = await judgeBehind(
    (_, answer, _since, { method }) => (method === 'DELETE' ? limited(20) : answer()),
    options,
  )
  expect(runNotes(report)).toContainEqual(
    expect.stringMatching(/^clean-up: 0 of \d+ created objects removed; \d+ not: answered 429 \(/),
  )
  expect(tookMs).toBeLessThan(150_000)
})

test('what stays on a target that went away is reported, and nothing more is sent to it', async () => {
  let sent = 0
  let removals = 0
  const { report, run } = await judgeBehind((_path, answer, _, { method }) => {
    if (method === 'DELETE') removals++
    return ++sent > 10 ? html(502, '502 Bad Gateway') : answer()
  }, options)
  expect(run.client.life.ended?.cause).toBe('unreachable')
  const { created, cleanup } = report.run
  expect(created.length).toBeGreaterThan(0)
  expect(cleanup.removed + removals).toBe(0)
  expect(cleanup.left).toEqual(
    created.map(({ operation, id }) => ({ operation, id, why: 'the run ended before' })),
  )
})

test('a clean-up after --bail has as much time as any other', async () => {
  const { report, run } = await judgeBehind(
    async (path, answer, _, { method }) => {
      if (path.endsWith('/translate')) return json(500, {})
      if (method === 'DELETE') await sleep(400)
      return answer()
    },
    { only: [...options.only, 'translate.run/2xx-accepted'], bail: 1 },
  )
  const { removed, left } = report.run.cleanup
  expect(run.client.life.ended?.cause).toBe('bail')
  expect(removed).toBeGreaterThan(0)
  expect(left).toEqual([])
})

test('a clean-up keeps the rate of the run', async () => {
  const sent: number[] = []
  await judgeBehind(
    (_, answer, sinceMs, { method }) => {
      if (method === 'DELETE') sent.push(sinceMs)
      return answer()
    },
    { ...options, limits: { requestsPerSecond: 2 } },
  )
  expect(sent.length).toBeGreaterThan(5)
  expect(sent.at(-1)! - sent[0]!).toBeGreaterThanOrEqual((sent.length - 1) * 500 - 20)
})

test('objects stay if nothing gives the key any more, and the report says why', async () => {
  let isOver = false
  const { report } = await judgeBehind(
    (_, answer, _since, { method }) => {
      isOver ||= method === 'DELETE'
      return answer()
    },
    {
      ...options,
      // The key of a function is asked for again after a minute.
      limits: { requestsPerSecond: 0.2 },
      change: ({ keys, ...file }) => ({
        ...file,
        keys: {
          ...keys,
          full: () => {
            if (isOver) throw new Error('the session is over')
            return keys!.full as string
          },
        },
      }),
    },
  )
  expect(runNotes(report)).toContainEqual(
    expect.stringMatching(
      /^clean-up: \d+ of \d+ created objects removed; \d+ not: .*the function that gives the key threw/,
    ),
  )
})

test('a clean-up that breaks leaves nothing open, and takes no teardown with it', async () => {
  const closed: string[] = []
  const sent: string[] = []
  const judging = judge(options.only, {
    change: (file) => ({ ...file, teardown: [{ method: 'POST', url: '/v1/tidy' }] }),
    network: (transport) => ({
      ...transport,
      async send(request, more) {
        if (request.method === 'DELETE') throw new Error('the way is gone')
        sent.push(request.path)
        return transport.send(request, more)
      },
      close: async () => void closed.push('transport'),
    }),
  })
  await expect(judging).rejects.toThrow('the way is gone')
  expect(closed).toEqual(['transport'])
  expect(sent.at(-1)).toBe('/v1/tidy')
})
