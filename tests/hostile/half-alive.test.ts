import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { type Change, startProxy } from '../../bench/oracle-score/proxy.ts'
import { startReference } from '../../reference/server.ts'
import { type HostileSettings, judgeHostile, type Outcome } from './judge-hostile.ts'
import { proveSound } from './proof.ts'

const never = new Promise<never>(() => undefined)

/** Judges the reference behind a proxy, with the reference's own key. */
async function judgeBehind(change: Change, settings: HostileSettings): Promise<Outcome> {
  const reference = await startReference({ jobMs: 10, slowJobMs: 100 })
  const proxy = await startProxy(reference.url, change)
  try {
    return await judgeHostile(proxy.url, { ownKeys: true, ...settings })
  } finally {
    await proxy.close()
    await reference.close()
  }
}

test.concurrent(
  'a target that answers half the run and then nothing is noticed, and what was learned is told',
  async () => {
    const change: Change = ({ number }, response) => (number < 150 ? response() : never)
    const outcome = await judgeBehind(change, { limits: { timeoutMs: 60_000 } })
    expect(outcome.code).toBe(3)
    expect(outcome.report.summary.must.passed).toBeGreaterThan(0)
    expect(outcome.report.summary.must.failed).toBe(0)
    expect(outcome.report.verdict).toBe('passing')
    const reasons = outcome.report.requirements.map(({ reason }) => reason)
    expect(reasons.filter((reason) => reason?.startsWith('the target stopped answering: ')).length).toBeGreaterThan(100)
    await proveSound(outcome)
  },
)

test.concurrent('a target whose process ends half-way is not failed for what it can no longer answer', async () => {
  const reference = await startReference({ jobMs: 10, slowJobMs: 100 })
  const proxy = await startProxy(reference.url, async ({ number }, response) => {
    if (number < 60) return response()
    void proxy.close()
    return never
  })
  const outcome = await judgeHostile(proxy.url, { ownKeys: true })
  await reference.close()
  expect(outcome.report.requirements.filter(({ outcome: found }) => found === 'failed')).toEqual([])
  expect(outcome.code).toBe(3)
  expect(outcome.report.run.requests).toBeLessThan(120)
  await proveSound(outcome)
})

test.concurrent('a target that answers no POST is soon asked no more, and fails what should be granted', async () => {
  const change: Change = ({ method }, response) => (method === 'GET' ? response() : never)
  const outcome = await judgeBehind(change, { limits: { timeoutMs: 1500 } })
  const failed = outcome.report.requirements.filter(({ outcome: found }) => found === 'failed')
  expect(failed.map(({ id }) => id)).toContain('translate.run/2xx-accepted')
  expect(failed.filter(({ id }) => !/\/20[02]-/.test(id) && !id.includes('/2xx-'))).toEqual([])
  const limit = 'no answer within 1,500 ms (limits.timeoutMs)'
  expect(new Set(failed.map(({ failures: [first] }) => first?.actual))).toEqual(new Set([limit]))
  expect(outcome.code).toBe(1)
  const silent = outcome.report.requirements.filter(({ reason }) => reason?.includes('no answer'))
  expect(silent.length).toBeGreaterThan(20)
  await proveSound(outcome)
})

test.concurrent('a slow target is judged like a quick one', async () => {
  const change: Change = async (_, response) => {
    const answer = await response()
    await sleep(900)
    return answer
  }
  const only = ['files.list/*', 'files.retrieve/*', 'translate.*', 'envelope/shape']
  const limits = { timeoutMs: 30_000, concurrency: 64 }
  const outcome = await judgeBehind(change, { limits, options: { only } })
  expect(outcome.report.requirements.filter(({ outcome: found }) => found === 'failed').map(({ id }) => id)).toEqual([])
  expect(outcome.report.requirements.filter(({ outcome: found }) => found === 'passed').length).toBeGreaterThan(20)
})
