import { expect, test } from 'vitest'
import type { Transport } from '../../harness/http/message.ts'
import { idsOf, judgeReference, type Judged } from '../matrix/judge-reference.ts'
import { randomFrom } from '../support/lossy-network.ts'
import { judgeBehind, json } from './behind.ts'

const limited = (retryAfter: number): Response =>
  json(429, { tpe: 'QuotaExceeded', errors: [], extras: {} }, { 'retry-after': String(retryAfter) })

test('a quota of 60 a minute that asks to wait is waited for, and its rate is advised', async () => {
  const granted = new Map<number, number>()
  const { report, run } = await judgeBehind(
    (_, answer, sinceMs) => {
      const minute = Math.floor(sinceMs / 60_000)
      const used = granted.get(minute) ?? 0
      if (used >= 60) return limited(30)
      granted.set(minute, used + 1)
      return answer()
    },
    { only: ['translate.*', 'web-search.*', 'files.*'] },
  )
  expect(run.life.ended).toBeUndefined()
  expect(granted.size).toBeGreaterThan(2)
  expect(report.run.suggestedRate).toMatch(/^(?:[4-5]\d|60)\/min$/)
})

test.each([
  [
    'a quota of a day',
    () => limited(40_000),
    /every answer of the target was 429, and it asks to wait 40000 s: that is a quota of hours or days$/,
  ],
  [
    'an outage',
    () => json(503, { tpe: 'ServiceUnavailable', errors: [], extras: {} }),
    /every answer of the target was 503: it is out of service, or takes no more requests$/,
  ],
])('%s is named, and no rate is advised', async (_, answerOf, named) => {
  let sent = 0
  const { report, run } = await judgeBehind(
    (_path, answer) => (++sent > 40 ? answerOf() : answer()),
    { only: ['translate.*', 'web-search.*', 'files.*'], backoffMs: 250 },
  )
  expect(run.life.ended?.message).toMatch(named)
  expect(report.run.suggestedRate).toBeUndefined()
})

test('a setup that is throttled is sent again after the wait asked for', async () => {
  let asked = 0
  const { report, run } = await judgeBehind(
    (path, answer) => (path.endsWith('/v1/warm-up') && asked++ === 0 ? limited(2) : answer()),
    { only: ['files.list/*'], backoffMs: 250 },
    (file) => ({ ...file, setup: [{ method: 'GET', url: '/v1/warm-up' }] }),
  )
  expect(asked).toBe(2)
  expect(run.life.ended?.message ?? '').not.toContain('429')
  expect(report.exit.because).not.toContain('429')
})

test('load that refuses one request of twenty is no limit of requests', async () => {
  const random = randomFrom(1)
  let sent = 0
  const { report, run } = await judgeBehind(
    (_path, answer) =>
      random.of(`refused ${sent++}`) < 0.05
        ? json(503, { tpe: 'ServiceUnavailable', errors: [], extras: {} })
        : answer(),
    { only: ['translate.*', 'web-search.*', 'files.*'], backoffMs: 250 },
  )
  expect(run.life.ended).toBeUndefined()
  expect(report.run.throttled).toBeGreaterThan(10)
  expect(report.run.suggestedRate).toBeUndefined()
})

test('a service that is read only for a while grants no rate', async () => {
  const { report } = await judgeBehind(
    (_path, answer, _ms, { method }) =>
      method === 'POST'
        ? json(503, { tpe: 'ServiceUnavailable', errors: [], extras: {} })
        : answer(),
    { only: ['translate.*', 'web-search.*', 'files.*'], backoffMs: 250 },
  )
  expect(report.run.throttled).toBeGreaterThan(10)
  expect(report.run.suggestedRate).toBeUndefined()
})

/** Judges at that rate; gives the ms at which each request was sent. */
async function sentAtRate(
  requestsPerSecond: number,
): Promise<readonly number[] & { judged?: Judged }> {
  const sent: number[] = []
  const network = (transport: Transport): Transport => ({
    ...transport,
    send(request, options) {
      sent.push(performance.now())
      if (options.after) sent.push(performance.now())
      return transport.send(request, options)
    },
  })
  const { results } = await judgeReference(
    {},
    {
      network,
      limits: { requestsPerSecond },
      // A scenario that repeats its request until the condition shows keeps no rate.
      options: { only: ['graphs.create/*', 'files.*'], skip: ['*/429-*'] },
    },
  )
  expect(idsOf(results, 'failed')).toEqual([])
  return sent
}

test('a rate is kept by everything that is sent: what goes at once is paid back', async () => {
  const sent = await sentAtRate(1)
  expect(sent.length).toBeGreaterThan(100)
  const [first = 0] = sent
  // Five creations go at once, and a read on each of their connections before.
  const ahead = sent.map((at, number) => number - (at - first) / 1000)
  expect(Math.max(...ahead)).toBeLessThan(12)
  expect((sent.at(-1)! - first) / 1000).toBeGreaterThan(sent.length - 12)
  // Wherever a minute of a quota of 60 begins.
  const inMinute = sent.map((from) => sent.filter((at) => at >= from && at < from + 60_000).length)
  expect(Math.max(...inMinute)).toBeLessThanOrEqual(60)
})
