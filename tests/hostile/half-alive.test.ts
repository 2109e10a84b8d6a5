import { expect, test } from 'vitest'
import { startReference } from '../../reference/server.ts'
import { error, judgeBehind, type Reply } from '../engine/behind.ts'
import { passOn, startRaw } from '../support/raw-server.ts'
import { judgeAsCommand } from './judge-hostile.ts'

const never = new Promise<never>(() => undefined)

test('a target that answers half the run and then nothing is noticed, and what was learned is reported', async () => {
  let asked = 0
  const reply: Reply = (_, answer) => (asked++ < 150 ? answer() : never)
  const { code, report } = await judgeBehind(reply, { limits: { timeoutMs: 60_000 } })
  expect(code).toBe(3)
  expect(report.summary.must.passed).toBeGreaterThan(0)
  expect(report.summary.must.failed).toBe(0)
  expect(report.verdict).toBe('passing')
  const reasons = report.requirements.map(({ reason }) => reason)
  expect(
    reasons.filter((reason) => reason?.startsWith('the target stopped answering: ')).length,
  ).toBeGreaterThan(100)
})

test('the request that ends the process of a target is named', async () => {
  const reference = await startReference({ jobMs: 10, slowJobMs: 100 })
  const port = Number(new URL(reference.url).port)
  const front = await startRaw((asked) => {
    const isLast = asked.path.startsWith('/v1/chat') && /^[^{]|[^}]$/.test(asked.body)
    if (isLast) void front.close()
    else passOn(asked, port)
  })
  const id = 'chat.create/400-malformed-json'
  const options = { only: [id, 'files.list/*'] }
  const { of } = await judgeAsCommand(front.url, { ownKeys: true, options })
  await reference.close()
  expect(of(id).reason).toMatch(
    /^the target stopped answering: connection refused at \S+; under way when it stopped: /,
  )
  expect(of(id).reason).toContain(`POST ${front.url}/v1/chat/completions (${id})`)
})

test('a job whose creation gets an error envelope is not granted, even if no other creation can be sent', async () => {
  const asked = new Set<string>()
  const reply: Reply = async (path, answer) => {
    if (!/\/applications\/[^/]+\/jobs$/.test(path)) return answer()
    const status = asked.has(path) ? 409 : 202
    if ((await answer()).status === 202) asked.add(path)
    return error(status, 'BadRequest')
  }
  const { code, of } = await judgeBehind(reply, { only: ['jobs.*'] })
  expect(code).toBe(1)
  expect(of('jobs.create/202-created').outcome).toBe('failed')
  expect(of('jobs.create/202-created').failures[0]?.exchange?.response?.status).toBe(202)
  expect(of('jobs.create/404-unknown-application').outcome).toBe('not-exercised')
})

test('a target that answers no POST is soon asked no more, and fails what should be granted', async () => {
  const reply: Reply = (_, answer, _ms, { method }) => (method === 'GET' ? answer() : never)
  const { code, failed, of, report } = await judgeBehind(reply, { limits: { timeoutMs: 1500 } })
  expect(failed).toContain('translate.run/2xx-accepted')
  expect(failed.filter((id) => !/\/20[02]-/.test(id) && !id.includes('/2xx-'))).toEqual([])
  const limit = 'no answer within 1,500 ms (limits.timeoutMs)'
  expect(new Set(failed.map((id) => of(id).failures[0]?.actual))).toEqual(new Set([limit]))
  expect(code).toBe(1)
  const silent = report.requirements.filter(({ reason }) => reason?.includes('no answer'))
  expect(silent.length).toBeGreaterThan(20)
})
