import { describe, expect, test } from 'vitest'
import type { TargetFile } from '../../harness/target-file/model.ts'
import { html, type Reply, judgeBehind, json } from './behind.ts'

/** Keys that are right, for one purpose or another. */
const rightKeys = (file: TargetFile): ReadonlySet<string> => {
  const keys = JSON.stringify(file.keys ?? {}).match(/"(?:[^"\\]|\\.)*"/g) ?? []
  return new Set(keys.map((text) => JSON.parse(text) as string))
}

/** Locks the account for 30 s after so many wrong keys in a row; counts the longest row. */
function locking(status: number, after: number, headers: Record<string, string> = {}) {
  let keys: ReadonlySet<string> = new Set()
  let row = 0
  let lockedUntil = -Infinity
  const seen = { longest: 0, locked: 0 }
  const reply: Reply = (_, answer, sinceMs, request) => {
    const key = request.headers.get('authorization')?.replace('Bearer ', '')
    if (key !== undefined && sinceMs < lockedUntil) {
      seen.locked++
      return json(
        status,
        {
          tpe: status === 403 ? 'InsufficientAccessRights' : 'QuotaExceeded',
          errors: [],
          extras: {},
        },
        headers,
      )
    }
    const isRight = key !== undefined && keys.has(key)
    if (key !== undefined) row = isRight ? 0 : row + 1
    seen.longest = Math.max(seen.longest, row)
    if (row >= after) {
      lockedUntil = sinceMs + 30_000
      row = 0
    }
    return answer()
  }
  const change =
    (limits: object) =>
    (file: TargetFile): TargetFile => {
      keys = rightKeys(file)
      return { ...file, limits: { ...file.limits, ...limits } }
    }
  return { seen, reply, change }
}

const only = ['*/401-*', '*/403-insufficient-rights', '*/2xx-*', '*/200-*', 'envelope/*']

describe('a target that locks keys out for 30 s after ten wrong ones in a row', () => {
  test.each([
    [403, {}],
    [429, {}],
    [429, { 'retry-after': '30' }],
  ] as const)(
    'by %d, %o, is named, and blamed for nothing that came after',
    async (status, headers) => {
      const { seen, reply, change } = locking(status, 10, headers)
      const options = { only, backoffMs: 250, refusalRuns: 25 }
      const { report, terminal } = await judgeBehind(reply, options, change({}))
      expect(seen.locked).toBeGreaterThan(0)
      const failed = report.requirements.filter(({ outcome }) => outcome === 'failed')
      expect(failed.map(({ id }) => id)).toEqual([])
      expect(report.exit.code).toBe(3)
      expect(terminal()).toMatch(
        /exit 3: the target locks keys out after wrong ones: declare credentialProbes: "few" in limits/,
      )
    },
  )

  test.each([
    ['credentialProbes: "few"', { depth: 'full' }, { credentialProbes: 'few' }],
    ['--depth quick', { depth: 'quick' }, {}],
  ] as const)(
    'is judged whole with %s: ten wrong keys in a row never come',
    async (_, depth, limits) => {
      const { seen, reply, change } = locking(403, 10)
      const options = { only, backoffMs: 250, ...depth }
      const { report, run } = await judgeBehind(reply, options, change(limits))
      expect(seen.longest).toBeGreaterThan(1)
      expect(seen.longest).toBeLessThan(9)
      expect(run.life.ended).toBeUndefined()
      const failed = report.requirements.filter(({ outcome }) => outcome === 'failed')
      expect(failed.map(({ id }) => id)).toEqual([])
    },
  )
})

test('a quota of 60 a minute for each key is no lock-out, though wrong keys come in rows', async () => {
  let keys: ReadonlySet<string> = new Set()
  const used = new Map<string, number>()
  const options = { only, backoffMs: 250 }
  const reply: Reply = (_, answer, sinceMs, request) => {
    const key = request.headers.get('authorization')?.replace('Bearer ', '') ?? ''
    if (!keys.has(key)) return answer()
    const window = `${key} ${Math.floor(sinceMs / 60_000)}`
    used.set(window, (used.get(window) ?? 0) + 1)
    if (used.get(window)! <= 60) return answer()
    const error = { tpe: 'QuotaExceeded', errors: [], extras: {} }
    return json(429, error, { 'retry-after': String(Math.ceil(60 - (sinceMs % 60_000) / 1000)) })
  }
  const { report, run } = await judgeBehind(reply, options, (file) => {
    keys = rightKeys(file)
    return file
  })
  expect(report.run.throttled).toBeGreaterThan(0)
  expect(run.life.ended).toBeUndefined()
  expect(report.requirements.filter(({ outcome }) => outcome === 'failed')).toEqual([])
})

/** A quota of so many requests each 10 s. */
function quotaOf(most: number, counts: (request: Request) => boolean): Reply {
  const used = new Map<number, number>()
  return (_, answer, sinceMs, request) => {
    if (!counts(request)) return answer()
    const window = Math.floor(sinceMs / 10_000)
    used.set(window, (used.get(window) ?? 0) + 1)
    if (used.get(window)! <= most) return answer()
    const error = { tpe: 'QuotaExceeded', errors: [], extras: {} }
    return json(429, error, { 'retry-after': String(Math.ceil(10 - (sinceMs % 10_000) / 1000)) })
  }
}

test.each([20, 100])(
  'a quota of %d requests with any key is no lock-out, though requests without one are free',
  async (most) => {
    const reply = quotaOf(most, ({ headers }) => headers.has('authorization'))
    const { report, run } = await judgeBehind(reply, { only, backoffMs: 250 })
    expect(report.run.throttled).toBeGreaterThan(0)
    expect(run.life.ended).toBeUndefined()
    expect(report.requirements.filter(({ outcome }) => outcome === 'failed')).toEqual([])
    expect(report.run.suggestedRate).toMatch(
      most === 100 ? /^[6-9]$|^10$/ : /^(?:[6-9]\d|1[01]\d|120)\/min$|^2$/,
    )
  },
)

test('a quota of all keys that is used up for good is not taken for a lock-out alone', async () => {
  let used = 0
  const reply: Reply = (_, answer, _ms, request) =>
    !request.headers.has('authorization') || ++used <= 300
      ? answer()
      : json(429, { tpe: 'QuotaExceeded', errors: [], extras: {} })
  const { report, run } = await judgeBehind(reply, { only, backoffMs: 250 })
  expect(report.requirements.filter(({ outcome }) => outcome === 'failed')).toEqual([])
  expect(run.life.ended?.message).toMatch(
    /takes no key any more .* 429 .*or a quota of these keys is used up$|every answer of the target was 429$/,
  )
  expect(report.run.suggestedRate).toBeUndefined()
})

test('an address that is locked out after wrong keys is told as that, and nothing that came after is judged', async () => {
  let wrong = 0
  let until = 0
  const reply: Reply = async (_, answer, sinceMs, request) => {
    if (sinceMs < until) return html(403, 'Your address is blocked')
    const response = await answer()
    if (response.status === 401 && request.headers.has('authorization')) wrong++
    if (wrong < 20) return response
    wrong = 0
    until = sinceMs + 60_000
    return response
  }
  const { report, terminal } = await judgeBehind(reply, { backoffMs: 250 })
  expect(report.requirements.filter(({ outcome }) => outcome === 'failed')).toEqual([])
  expect(terminal()).toMatch(
    /exit 3: the target locks this address out after wrong keys: declare credentialProbes: "few" in limits/,
  )
})
