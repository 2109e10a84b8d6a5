import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import target from '../../fixtures/reference.target.json' with { type: 'json' }
import { runNotes } from '../../reporters/view/standing.ts'
import { randomFrom } from '../support/lossy-network.ts'
import { error, html, json, judgeBehind, limited, type Reply } from './behind.ts'
import { judge, type Way } from './networks.ts'

/** Targets that take so many requests, at one time or in all, and those that lock keys out. */

const isTranslation = (path: string): boolean => path.endsWith('/translate')
const busy = () => error(503, 'ServiceUnavailable')
const backoffMs = 250

describe('an operation that takes few requests', () => {
  test.each([
    [1, isTranslation, 20],
    [12, isTranslation, 20],
    [3, (path: string) => path.endsWith('/knowledge-graphs'), 3600],
  ])('%d in all: it is not waited for again and again', async (most, isLimited, waitS) => {
    let asked = 0
    const { report, failed, of, tookMs } = await judgeBehind(
      (path, answer) => (isLimited(path) && ++asked > most ? limited(waitS) : answer()),
      { only: [isLimited === isTranslation ? 'translate.*' : 'graphs.create/*', 'web-search.*'] },
    )
    const reasons = report.requirements.flatMap(({ operation, reason }) =>
      /^(?:translate|graphs)/.test(operation) && reason && !/^(?:declare|left out)/.test(reason)
        ? [reason]
        : [],
    )
    expect(reasons.length).toBeGreaterThan(0)
    expect(reasons.filter((reason) => !reason.startsWith('throttled: '))).toEqual([])
    expect(of('web-search.run/2xx-accepted').outcome).toBe('passed')
    expect(failed).toEqual([])
    // 60 s of waits that are asked for, 30 s more, and what was under way then.
    expect(tookMs).toBeLessThan(180_000)
  })

  test('a quota of hours that the last requests meet ends the run', async () => {
    let most = Infinity
    let asked = 0
    const reply: Reply = (_, answer, _ms, { method }) =>
      method !== 'DELETE' && ++asked > most ? limited(3600) : answer()
    const options = { only: ['files.list/*'] }
    expect((await judgeBehind(reply, options)).report.exit.code).toBe(0)
    most = asked - 1
    asked = 0
    const { report } = await judgeBehind(reply, options)
    expect(report.exit).toMatchObject({ code: 3, because: expect.stringContaining('a quota') })
  })

  // What a user waits for: a longer pause, or a try fewer, is a change to be meant.
  test.each([
    [
      'five times more, each time after twice the pause',
      5,
      undefined,
      [250, 500, 1000, 2000, 4000],
    ],
    [
      'again after the pause that the answer names, and a bit later if that was too short',
      3,
      { 'retry-after': '3' },
      [3000, 3500, 4000],
    ],
    [
      'again at the time that the answer names, by its own clock',
      2,
      { date: 'Thu, 01 Jan 2026 00:00:00 GMT', 'retry-after': 'Thu, 01 Jan 2026 00:00:03 GMT' },
      [3000, 3500],
    ],
  ])('is asked %s', async (_, throttled, headers, expected) => {
    const at: number[] = []
    const id = 'translate.run/2xx-accepted'
    const { passed } = await judgeBehind(
      (path, answer, sinceMs) =>
        !isTranslation(path) || at.push(sinceMs) > throttled
          ? answer()
          : error(429, 'QuotaExceeded', headers),
      { only: [id], depth: 'quick', backoffMs },
    )
    const pauses = at.slice(1, throttled + 1).map((ms, number) => ms - at[number]!)
    expect(pauses.map((ms) => Math.round(ms / 50) * 50)).toEqual(expected)
    expect(passed).toEqual([id])
  })

  test('holds back no other one', async () => {
    const searches: number[] = []
    const { report } = await judgeBehind(
      (path, answer, sinceMs) => {
        if (isTranslation(path)) return limited(20)
        if (path.endsWith('-search')) searches.push(sinceMs)
        return answer()
      },
      { only: ['translate.*', 'web-search.*'], backoffMs },
    )
    expect(report.run.throttled).toBeGreaterThan(3)
    // What runs alone at the end waits for all the rest.
    expect(searches.filter((ms) => ms < 20_000).length).toBeGreaterThan(0.9 * searches.length)
  })

  test('and throttles its faults alone fails nothing', async () => {
    const { of } = await judgeBehind(
      async (path, answer) => {
        const response = await answer()
        return isTranslation(path) && response.status === 400 ? limited(20) : response
      },
      { only: ['translate.run/2*', 'translate.run/400-*'] },
    )
    const { outcome, reason } = of('translate.run/400-empty-text')
    expect([outcome, reason]).toEqual(['not-exercised', expect.stringMatching(/^throttled: /)])
  })
})

const several = ['translate.*', 'web-search.*', 'files.*']

describe('a quota of all requests', () => {
  test('of 40 a minute that asks to wait is waited for, and reported', async () => {
    const granted = new Map<number, number>()
    const { report, run } = await judgeBehind(
      (_, answer, sinceMs) => {
        const minute = Math.floor(sinceMs / 60_000)
        const used = granted.get(minute) ?? 0
        if (used >= 40) return limited(30)
        granted.set(minute, used + 1)
        return answer()
      },
      { only: several, depth: 'quick' },
    )
    expect(run.client.life.ended).toBeUndefined()
    expect(granted.size).toBeGreaterThan(2)
    expect(runNotes(report).join()).toMatch(
      /throttled: \d+ answers asked to slow down \(429, 503\), and to wait 30 s at most; use --rate or --concurrency/,
    )
  })

  test.each([
    [
      'of a day',
      () => limited(40_000),
      /the target answered only 429, and asks to wait 40000 s: a quota of hours or days$/,
    ],
    [
      'that is an outage',
      busy,
      /the target answered only 503: it is out of service, or accepts no more requests$/,
    ],
  ])('%s is named', async (_, answerOf, named) => {
    let sent = 0
    const { failed, report, run, tookMs } = await judgeBehind(
      (_path, answer) => (++sent > 60 ? answerOf() : answer()),
      { only: several, depth: 'quick', backoffMs },
    )
    expect(run.client.life.ended?.message).toMatch(named)
    expect(report.exit).toMatchObject({
      code: 3,
      because: expect.stringMatching(/: .*; \d+ of \d+ required checks were not tested$/) as string,
    })
    expect(failed).toEqual([])
    // 30 s, and nothing is waited for after that.
    expect(tookMs).toBeLessThan(40_000)
  })

  test('of a day that is used up from the start says that no required check was tested', async () => {
    const { report } = await judgeBehind(() => limited(40_000), { only: several, backoffMs })
    expect(report.exit.because).toMatch(/429, .*; (\d+) of \1 required checks were not tested$/)
  })

  // The second Retry-After ends before the second does, by up to 0.4 s.
  test.each([
    ['to the end of it', (ms: number) => ms / 1000],
    ['for less than that', (ms: number) => Math.max(0.1, ms / 1000 - 0.4)],
  ])('of 30 a second that asks to wait %s leaves nothing untested', async (_, asks) => {
    let [second, used] = [0, 0]
    const { failed, report, tookMs } = await judgeBehind(
      (_path, answer, sinceMs) => {
        const now = Math.floor(sinceMs / 1000)
        if (now !== second) [second, used] = [now, 0]
        return ++used > 30 ? limited(asks(1000 - (sinceMs % 1000))) : answer()
      },
      { only: [...several, 'completion.*', 'ai-detect.*', 'vision.*'], depth: 'quick', backoffMs },
    )
    const throttled = report.requirements.filter(({ reason }) => reason?.startsWith('throttled'))
    expect(failed).toEqual([])
    expect(throttled.map(({ id }) => id)).toEqual([])
    expect(tookMs).toBeLessThan(1500 * (report.run.requests / 30))
  })

  test('is not seen in load that refuses one of twenty', async () => {
    const random = randomFrom(1)
    let sent = 0
    const { report, run } = await judgeBehind(
      (_path, answer) => (random.of(`refused ${sent++}`) < 0.05 ? busy() : answer()),
      { only: ['translate.*', 'files.*'], backoffMs },
    )
    expect(run.client.life.ended).toBeUndefined()
    expect(report.run.throttled).toBeGreaterThan(10)
  })
})

test('what a target file asks for is sent again after the wait asked for', async () => {
  let asked = 0
  let counted = 0
  const id = 'translate.run/429-quota-exceeded'
  const warmUp = [{ method: 'GET', url: '/v1/warm-up' }]
  const { of, run } = await judgeBehind(
    (path, answer, _, { headers }) => {
      if (path.endsWith('/v1/warm-up')) return asked++ % 2 === 0 ? limited(2) : json(200, {})
      // What was limited on its way does not count.
      return headers.has('x-rate-bucket') && counted++ % 2 === 0 ? busy() : answer()
    },
    {
      only: ['files.list/429-*', id],
      backoffMs,
      change: ({ scenarios, ...file }) => ({
        ...file,
        setup: warmUp,
        scenarios: { ...scenarios, [id]: { ...scenarios?.[id], before: warmUp } },
      }),
    },
  )
  expect(run.client.life.ended).toBeUndefined()
  expect(asked).toBe(4)
  for (const one of ['files.list/429-quota-exceeded', id])
    expect(of(one)).toMatchObject({ outcome: 'passed' })
})

// A minute is what a run waits for a job, too.
test.each([
  [40_000, undefined],
  [Infinity, 'after a scenario, translate.run still refused valid requests after 60000 ms'],
])(
  'a limit that a scenario leaves %d ms late is waited for, and is not counted as one of the run',
  async (lateMs, reason) => {
    const own = 'translate.run/429-quota-exceeded'
    const next = 'translate.run/503-unavailable'
    const requestTo = (path: string) => [{ method: 'POST', url: `/v1/${path}` }]
    let limitedUntil = -Infinity
    const { of, report } = await judgeBehind(
      (path, answer, sinceMs) => {
        const [, state] = /\/v1\/(enter|leave)$/.exec(path) ?? []
        if (state) limitedUntil = state === 'enter' ? Infinity : sinceMs + lateMs
        if (state) return json(200, {})
        const isLimited = isTranslation(path) && sinceMs < limitedUntil
        return isLimited ? error(429, 'QuotaExceeded') : answer()
      },
      {
        only: [own, next],
        backoffMs,
        limits: { jobTimeoutMs: 60_000 },
        change: ({ scenarios, ...file }) => ({
          ...file,
          scenarios: {
            [own]: { before: requestTo('enter'), after: requestTo('leave') },
            [next]: { ...scenarios?.[next], repeat: 1 },
          },
        }),
      },
    )
    expect([of(own).outcome, of(next).reason, report.run.throttled]).toEqual(['passed', reason, 0])
  },
)

test('a rate is kept by everything that is sent: what goes at once is paid back', async () => {
  const sent: number[] = []
  const way: Way = (_, send, { options }) => {
    sent.push(performance.now())
    if (options.after) sent.push(performance.now())
    return send()
  }
  const limits = { requestsPerSecond: 1 }
  const only = ['graphs.create/*', 'files.*']
  // A burst that a scenario repeats until the condition shows is paid back as well, but not saved up for.
  const { failed } = await judge(['files.list/*'], { limits, way })
  expect(failed).toEqual([])
  expect((sent.at(-1)! - sent[0]!) / 1000).toBeGreaterThan(sent.length - 3)
  sent.length = 0
  expect((await judge(only, { skip: ['*/429-*', '*/401-*'], limits, way })).failed).toEqual([])
  expect(sent.length).toBeGreaterThan(100)
  // Whole ms since the first: the clock begins anywhere, and its fractions are rounded.
  const times = sent.map((at) => Math.round(at - sent[0]!))
  // Five creations go at once, and a read on each of their connections before.
  const ahead = times.map((at, number) => number - at / 1000)
  expect(Math.max(...ahead)).toBeLessThan(12)
  expect(times.at(-1)! / 1000).toBeGreaterThan(sent.length - 12)
  // Wherever a minute of a quota of 60 begins.
  const inMinute = times.map(
    (from) => times.filter((at) => at >= from && at < from + 60_000).length,
  )
  expect(Math.max(...inMinute)).toBeLessThanOrEqual(60)
})

const keyOf = ({ headers }: Request) => headers.get('authorization')?.replace('Bearer ', '')

/** Whether the key is right, for one purpose or another. */
const isRight = (key: string): boolean => Object.values(target.keys).includes(key)

// No jobs: a quota of 10 s and a job that is waited for 2 s say nothing about each other.
const asked = ['files.*', 'translate.run', 'pdf.parse']
const only = [
  ...asked.flatMap((id) => [`${id}/401-*`, `${id}/403-insufficient-rights`, `${id}/2*`]),
  'envelope/shape',
]

const lockedOut =
  /exit 3: the target locks keys out after wrong ones: declare credentialProbes: "few" in limits/

const families = ['jobs', 'pdf', 'graphs']

test('a limit on requests without a right key leaves nothing untested', async () => {
  let [second, used] = [0, 0]
  const { failed, report } = await judgeBehind(
    (_path, answer, sinceMs, request) => {
      if (isRight(keyOf(request) ?? '')) return answer()
      const now = Math.floor(sinceMs / 1000)
      if (now !== second) [second, used] = [now, 0]
      return ++used > 10 ? limited(1) : answer()
    },
    { only: families.map((family) => `${family}.*/401-*`), refusalRuns: 5, backoffMs },
  )
  const throttled = report.requirements.filter(({ reason }) => reason?.startsWith('throttled'))
  expect(failed).toEqual([])
  expect(throttled.map(({ id }) => id)).toEqual([])
})

/** Locks the account for 30 s after ten wrong keys in a row; counts the longest row. */
function locking(status: number, headers: Record<string, string>) {
  let row = 0
  let lockedUntil = -Infinity
  const seen = { longest: 0, locked: 0 }
  const reply: Reply = (_, answer, sinceMs, request) => {
    const key = keyOf(request)
    if (key !== undefined && sinceMs < lockedUntil) {
      seen.locked++
      return error(status, status === 403 ? 'InsufficientAccessRights' : 'QuotaExceeded', headers)
    }
    if (key !== undefined) row = isRight(key) ? 0 : row + 1
    seen.longest = Math.max(seen.longest, row)
    if (row >= 10) {
      lockedUntil = sinceMs + 30_000
      row = 0
    }
    return answer()
  }
  return { seen, reply }
}

describe('a target that locks keys out for 30 s after ten wrong ones in a row', () => {
  test.each([
    [403, {}],
    [429, { 'retry-after': '30' }],
  ] as const)(
    'by %d, %o, is named, and blamed for nothing that came after',
    async (status, headers) => {
      const { seen, reply } = locking(status, headers)
      const how = { only, backoffMs, refusalRuns: 25 }
      const { report, failed, terminal } = await judgeBehind(reply, how)
      expect(seen.locked).toBeGreaterThan(0)
      expect(failed).toEqual([])
      expect(report.exit.code).toBe(3)
      expect(terminal()).toMatch(lockedOut)
    },
  )

  test.each([
    ['credentialProbes: "few"', { limits: { credentialProbes: 'few' } }],
    ['--depth quick', { depth: 'quick' }],
  ] as const)('is judged whole with %s: ten wrong keys in a row never come', async (_, how) => {
    const { seen, reply } = locking(403, {})
    const everywhere = ['*/401-*', '*/403-insufficient-rights', '*/2xx-accepted']
    const { failed, run } = await judgeBehind(reply, { only: everywhere, backoffMs, ...how })
    expect(seen.longest).toBeGreaterThan(1)
    expect(seen.longest).toBeLessThan(9)
    expect(run.client.life.ended).toBeUndefined()
    expect(failed).toEqual([])
  })
})

test.each([
  ['in all', () => true],
  ['of the right keys', (key?: string) => key !== undefined && isRight(key)],
] as const)(
  'a quota %s that is used up for good, answered 402: nothing that came after is judged',
  async (_, isCounted) => {
    let used = 0
    const { report, failed, terminal } = await judgeBehind(
      (_path, answer, _ms, request) =>
        isCounted(keyOf(request)) && ++used > 150
          ? json(402, { message: 'Quota exceeded' })
          : answer(),
      { only: ['translate.*', 'ai-detect.*', 'files.*', 'jobs.retrieve/*'], backoffMs },
    )
    expect(failed).toEqual([])
    expect(report.exit.code).toBe(3)
    expect(terminal()).toMatch(
      /is now refused \(.*Quota exceeded.*if its quota is used up, raise it/,
    )
  },
)

test('an operation that alone answers 402 is judged', async () => {
  const { failed, run } = await judgeBehind(
    (path, answer) => (isTranslation(path) ? json(402, { message: 'Payment required' }) : answer()),
    { only: ['translate.*', 'files.*'], depth: 'quick', backoffMs },
  )
  expect(run.client.life.ended).toBeUndefined()
  expect(failed).toContain('translate.run/2xx-accepted')
})

test.each([
  ['each right key, though wrong keys come in rows', true],
  ['wrong keys', false],
])('a quota of 60 a minute for %s is no lock-out', async (_, isOfRight) => {
  const used = new Map<string, number>()
  const reply: Reply = (_, answer, sinceMs, request) => {
    const key = keyOf(request)
    if (key === undefined || isRight(key) !== isOfRight) return answer()
    const window = `${isOfRight && key} ${Math.floor(sinceMs / 60_000)}`
    used.set(window, (used.get(window) ?? 0) + 1)
    return used.get(window)! <= 60 ? answer() : limited(Math.ceil(60 - ((sinceMs / 1000) % 60)))
  }
  const { report, failed, run } = await judgeBehind(reply, { only, backoffMs })
  expect(report.run.throttled).toBeGreaterThan(0)
  expect(run.client.life.ended).toBeUndefined()
  expect(failed).toEqual([])
})

test.each([
  [100, 15, only],
  // Where other operations use up each window before the questions about the key.
  [40, 10, [...only, 'graphs.*/2xx-*', 'applications.*/2xx-*', 'vision.*/2xx-*']],
])(
  'a quota of %d in %d s for each right key is no lock-out, though no answer names a time',
  async (most, seconds, ids) => {
    let [window, used] = [0, 0]
    const reply: Reply = (_, answer, sinceMs, request) => {
      if (!isRight(keyOf(request) ?? '')) return answer()
      const now = Math.floor(sinceMs / 1000 / seconds)
      if (now !== window) [window, used] = [now, 0]
      return ++used > most ? error(429, 'QuotaExceeded') : answer()
    }
    const { report, run } = await judgeBehind(reply, { only: ids, backoffMs })
    expect(report.run.throttled).toBeGreaterThan(0)
    expect(run.client.life.ended).toBeUndefined()
  },
)

test('a limit of one request of each key at a time is no lock-out', async () => {
  const open = new Set<string | undefined>()
  const reply: Reply = async (_, answer, _ms, request) => {
    const key = keyOf(request)
    if (key === undefined) return answer()
    if (open.has(key)) return error(429, 'QuotaExceeded')
    open.add(key)
    await sleep(100)
    open.delete(key)
    return answer()
  }
  const { run } = await judgeBehind(reply, { only, backoffMs, refusalRuns: 25 })
  expect(run.client.life.ended).toBeUndefined()
})

test('an address that is locked out after wrong keys: nothing that came after is judged', async () => {
  let wrong = 0
  let until = 0
  const reply: Reply = async (_, answer, sinceMs, request) => {
    if (sinceMs < until) return html(403, 'Your address is blocked')
    const response = await answer()
    if (response.status === 401 && keyOf(request) !== undefined) wrong++
    if (wrong < 20) return response
    wrong = 0
    until = sinceMs + 60_000
    return response
  }
  const { failed, terminal } = await judgeBehind(reply, {
    only: ['jobs.*', 'pdf.parse/*', 'translate.run/*'],
    backoffMs,
  })
  expect(failed).toEqual([])
  expect(terminal()).toMatch(lockedOut)
})

test.each([
  ["the service's own limit", error(429, 'TooManyRequests'), 'translate', 'throttled'],
  [
    "the service's own limit, of another status,",
    error(503, 'ServiceUnavailable'),
    'translate',
    'throttled',
  ],
  ["a gateway's limit of all operations", html(429, 'Too many requests'), 'ai-detect', 'throttled'],
  ['another status on every try', error(503, 'ServiceUnavailable'), 'nothing', undefined],
])('%s is not the limit that a scenario asks for', async (_, limit, limited, reason) => {
  const id = 'translate.run/429-quota-exceeded'
  let asked = 0
  const { of } = await judgeBehind(
    (path, answer, _sinceMs, request) =>
      (path.includes(limited) && ++asked % 5 === 0) ||
      request.headers.get('x-simulate')?.startsWith('429-quota')
        ? limit.clone()
        : answer(),
    { depth: 'quick', only: ['translate.*', 'ai-detect.*'], backoffMs },
  )
  expect([of(id).outcome, of(id).reason?.split(':')[0]]).toEqual([
    reason ? 'not-exercised' : 'failed',
    reason,
  ])
})
