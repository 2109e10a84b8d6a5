import type { Handler } from '../../harness/http/handler-transport.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startProxy } from './proxy.ts'
import { createReference, startReference } from '../../reference/server.ts'
import { transportTo } from '../matrix/judge-reference.ts'
import { inVirtualTime } from '../support/virtual-time.ts'
import { type HostileSettings, judgeHostile, type Shown } from './judge-hostile.ts'
import { proveJunit, proveSound } from './proof.ts'

const never = new Promise<never>(() => undefined)

/** Gives the answer that comes in place of the reference's; one that never settles is none. `number` counts from 0. */
type Change = (
  asked: { number: number; method: string; url: string },
  answer: () => Promise<Response>,
) => Promise<Response>

/** Judges the reference, in this process and in virtual time, with the reference's own key. */
function judgeBehind(change: Change, settings: HostileSettings): Promise<Shown> {
  return inVirtualTime(async () => {
    const { url, handle } = createReference({ jobMs: 10, slowJobMs: 100 })
    let number = 0
    const changed: Handler = (request) =>
      change({ number: number++, method: request.method, url: request.url }, () => handle(request))
    const transport = transportTo({ url, handle: changed })
    return judgeHostile(url, { ownKeys: true, transport, ...settings })
  })
}

test('a target that answers half the run and then nothing is noticed, and what was learned is told', async () => {
  const change: Change = ({ number }, answer) => (number < 150 ? answer() : never)
  const outcome = await judgeBehind(change, { limits: { timeoutMs: 60_000 } })
  expect(outcome.code).toBe(3)
  expect(outcome.report.summary.must.passed).toBeGreaterThan(0)
  expect(outcome.report.summary.must.failed).toBe(0)
  expect(outcome.report.verdict).toBe('passing')
  const reasons = outcome.report.requirements.map(({ reason }) => reason)
  expect(
    reasons.filter((reason) => reason?.startsWith('the target stopped answering: ')).length,
  ).toBeGreaterThan(100)
  proveSound(outcome, 'half of it')
})

test('a target whose process ends half-way is not failed for what it can no longer answer', async () => {
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
  expect(outcome.report.run.requests).toBeLessThan(200)
  proveSound(outcome, 'ended')
})

test('the request that ends the process of a target is named', async () => {
  const reference = await startReference({ jobMs: 10, slowJobMs: 100 })
  const isMalformed = (body: string): boolean => {
    try {
      return body !== '' && JSON.parse(body) === undefined
    } catch {
      return true
    }
  }
  const proxy = await startProxy(reference.url, async ({ body, url }, response) => {
    if (!url.startsWith('/v1/chat') || !isMalformed(body.toString())) return response()
    void proxy.close()
    return never
  })
  const id = 'chat.create/400-malformed-json'
  const { report } = await judgeHostile(proxy.url, {
    ownKeys: true,
    options: { only: [id, 'files.list/*'] },
  })
  await reference.close()
  const why = report.requirements.find((result) => result.id === id)?.reason
  expect(why).toMatch(
    /^the target stopped answering: connection refused at \S+; under way when it stopped: /,
  )
  expect(why).toContain(`POST ${proxy.url}/v1/chat/completions (${id})`)
})

test('a job whose creation is answered with an error envelope is not granted, even if no other creation can be sent', async () => {
  const asked = new Set<string>()
  const change: Change = async ({ url }, answer) => {
    if (!/\/applications\/[^/]+\/jobs$/.test(url)) return answer()
    const status = asked.has(url) ? 409 : 202
    if ((await answer()).status === 202) asked.add(url)
    return Response.json({ tpe: 'BadRequest', errors: [], extras: {} }, { status })
  }
  const { code, report } = await judgeBehind(change, {
    limits: { jobTimeoutMs: 2000 },
    options: { only: ['jobs.*'] },
  })
  const of = (id: string) => report.requirements.find((result) => result.id === id)
  expect(code).toBe(1)
  expect(of('jobs.create/202-created')?.outcome).toBe('failed')
  expect(of('jobs.create/202-created')?.failures[0]?.exchange?.response?.status).toBe(202)
  expect(of('jobs.create/404-unknown-application')?.outcome).toBe('not-exercised')
})

test('a graph that keeps the last of several files which are added at the same moment is noticed', async () => {
  let latest = 0
  const change: Change = async ({ url, number }, answer) => {
    if (!/\/knowledge-graphs\/[^/]+\/files$/.test(url)) return answer()
    latest = number
    // So long another addition may come in between: ms of virtual time.
    await sleep(5)
    return latest === number ? answer() : Response.json({})
  }
  const id = 'graphs.add-file/409-already-in-graph'
  const { report } = await judgeBehind(change, { limits: { settleMs: 4 }, options: { only: [id] } })
  const found = report.requirements.find((result) => result.id === id)
  expect(found?.outcome).toBe('failed')
  expect(found?.failures[0]?.message).toContain(
    'with the same file as a file in a graph that exists, made 3.0 s before',
  )
})

test('a target that answers no POST is soon asked no more, and fails what should be granted', async () => {
  const change: Change = ({ method }, answer) => (method === 'GET' ? answer() : never)
  const outcome = await judgeBehind(change, { limits: { timeoutMs: 1500 } })
  const failed = outcome.report.requirements.filter(({ outcome: found }) => found === 'failed')
  expect(failed.map(({ id }) => id)).toContain('translate.run/2xx-accepted')
  expect(failed.filter(({ id }) => !/\/20[02]-/.test(id) && !id.includes('/2xx-'))).toEqual([])
  const limit = 'no answer within 1,500 ms (limits.timeoutMs)'
  expect(new Set(failed.map(({ failures: [first] }) => first?.actual))).toEqual(new Set([limit]))
  expect(outcome.code).toBe(1)
  const silent = outcome.report.requirements.filter(({ reason }) => reason?.includes('no answer'))
  expect(silent.length).toBeGreaterThan(20)
  proveSound(outcome, 'no POST')
})

test('a slow target is judged like a quick one', async () => {
  const change: Change = async (_, answer) => {
    await sleep(900)
    return answer()
  }
  const only = ['files.list/*', 'files.retrieve/*', 'translate.*', 'envelope/shape']
  const limits = { timeoutMs: 30_000, concurrency: 64 }
  const outcome = await judgeBehind(change, { limits, options: { only } })
  expect(
    outcome.report.requirements
      .filter(({ outcome: found }) => found === 'failed')
      .map(({ id }) => id),
  ).toEqual([])
  expect(
    outcome.report.requirements.filter(({ outcome: found }) => found === 'passed').length,
  ).toBeGreaterThan(20)
})

test('the JUnit report of each of these runs is one', proveJunit)
