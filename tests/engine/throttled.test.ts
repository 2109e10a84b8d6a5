import { expect, test } from 'vitest'
import { judgeBehind, json } from './behind.ts'

// Each request would be held back for 20 s, one after the other.
test.each([1, 3, 12])(
  'a quota that is spent after %d requests is not waited for again and again',
  async (most) => {
    let asked = 0
    const { report, tookMs } = await judgeBehind(
      (path, answer) =>
        path.endsWith('/translate') && ++asked > most
          ? json(429, { tpe: 'QuotaExceeded', errors: [], extras: {} }, { 'retry-after': '20' })
          : answer(),
      { only: ['translate.*', 'web-search.*'] },
    )
    const reasons = report.requirements.flatMap(({ id, outcome, reason }) =>
      outcome === 'not-exercised' && id.startsWith('translate.') ? [reason ?? ''] : [],
    )
    expect(reasons.length).toBeGreaterThan(0)
    expect(reasons.filter((reason) => !reason.startsWith('throttled: '))).toEqual([])
    const others = report.requirements.filter(({ id }) => !id.startsWith('translate.'))
    expect(others.find(({ id }) => id === 'web-search.run/2xx-accepted')).toMatchObject({
      outcome: 'passed',
    })
    expect(report.requirements.filter(({ outcome }) => outcome === 'failed')).toEqual([])
    // 60 s of waits that are asked for, 30 s more, and what was under way then.
    expect(tookMs).toBeLessThan(180_000)
  },
)

const busy = (headers: Record<string, string> = {}): Response =>
  json(429, { tpe: 'QuotaExceeded', errors: [], extras: {} }, headers)

/** The pauses between the requests to translate, in ms, if its first answers are throttled ones. */
async function pausesBetween(throttled: number, headers: Record<string, string> = {}) {
  const at: number[] = []
  const { report } = await judgeBehind(
    async (path, answer, sinceMs) => {
      if (!path.endsWith('/translate')) return answer()
      return at.push(sinceMs) > throttled ? answer() : busy(headers)
    },
    { only: ['translate.run/2xx-accepted'], depth: 'quick', backoffMs: 250 },
  )
  const { outcome } = report.requirements.find(({ id }) => id === 'translate.run/2xx-accepted')!
  const pauses = at.slice(1, throttled + 1).map((ms, number) => ms - at[number]!)
  return { outcome, pauses: pauses.map((ms) => Math.round(ms / 50) * 50) }
}

// What a user waits for: a longer pause, or a try fewer, is a change to be meant.
test('a request that is throttled is sent five times more, each time after twice the pause', async () => {
  expect(await pausesBetween(5)).toEqual({
    outcome: 'passed',
    pauses: [250, 500, 1000, 2000, 4000],
  })
})

test('a request whose answer names a pause is sent again after that pause', async () => {
  expect(await pausesBetween(2, { 'retry-after': '3' })).toEqual({
    outcome: 'passed',
    pauses: [3000, 3000],
  })
})

test('an operation that is throttled for its faults alone fails, however long the waiting takes', async () => {
  const { report } = await judgeBehind(
    async (path, answer) => {
      const response = await answer()
      return path.endsWith('/translate') && response.status === 400
        ? json(429, { tpe: 'QuotaExceeded', errors: [], extras: {} }, { 'retry-after': '20' })
        : response
    },
    { only: ['translate.*'] },
  )
  const { outcome, reason } = report.requirements.find(
    ({ id }) => id === 'translate.run/400-empty-text',
  )!
  expect([outcome, reason]).toEqual(['failed', undefined])
})

test.each([1, 3, 8])(
  'of creations that are limited after %d requests, all that is not judged says so',
  async (most) => {
    let asked = 0
    const { report } = await judgeBehind(
      (path, answer) =>
        path.endsWith('/knowledge-graphs') && ++asked > most
          ? json(429, { tpe: 'QuotaExceeded', errors: [], extras: {} }, { 'retry-after': '3600' })
          : answer(),
      { only: ['graphs.create/*'] },
    )
    const of = report.requirements.filter(({ operation }) => operation === 'graphs.create')
    expect(of.filter(({ outcome }) => outcome === 'failed')).toEqual([])
    const reasons = of.flatMap(({ reason }) =>
      reason && !reason.startsWith('declare') ? [reason] : [],
    )
    expect(reasons.filter((reason) => !reason.startsWith('throttled: '))).toEqual([])
    expect(reasons.length).toBeGreaterThan(0)
  },
)
