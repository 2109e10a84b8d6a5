/** Locks of jobs that let go or hold on too well. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import target from '../../fixtures/reference.target.json' with { type: 'json' }
import { conflict, json, judgeBehind, type Reply } from './behind.ts'
import { answer, judge } from './networks.ts'

const { slowApplication } = target.resources
const jobsOf = (path: string): string | undefined =>
  /\/applications\/([^/]+)\/jobs$/.exec(path)?.[1]
const jobIn = (path: string): string | undefined => /\/applications\/jobs\/([^/]+)$/.exec(path)?.[1]

test('creations at once that lock each other out fail', async () => {
  const underWay = new Map<string, number>()
  const reply: Reply = async (path, answer) => {
    const id = jobsOf(path)
    if (id === undefined) return answer()
    const count = (): number => underWay.get(id) ?? 0
    underWay.set(id, count() + 1)
    const isAlone = count() === 1
    await sleep(1)
    const isStill = isAlone && count() === 1
    const response = await (isStill ? answer() : conflict('jobs.create'))
    underWay.set(id, count() - 1)
    return response
  }
  const only = ['jobs.create/202-created', 'jobs.create/409-*', 'applications.create/2xx-accepted']
  const { failed, passed } = await judgeBehind(reply, { only })
  expect(failed).toEqual(['jobs.create/202-created'])
  expect(passed).toContain('jobs.create/409-released')
})

test('a creation that is refused late, and keeps the lock for a while, has an effect', async () => {
  const id = 'jobs.create/4xx-no-effect'
  const until = new Map<string, number>()
  const { failed, of } = await judge([id], {
    instead: (reference) => async (request) => {
      const application = jobsOf(new URL(request.url).pathname)
      if (application === undefined) return reference(request)
      if (performance.now() < (until.get(application) ?? 0)) return conflict('jobs.create')
      const response = await reference(request)
      const isLate = (await request.text()).includes('"value":[null')
      if (isLate && response.status === 400) until.set(application, performance.now() + 1500)
      return response
    },
  })
  expect(failed).toEqual([id])
  expect(of(id).failures[0]?.message).toContain('value')
})

test('applications that are all released late fail, which a job without refused creations shows', async () => {
  const id = 'jobs.create/409-released'
  const jobs = new Map<string, string>()
  const until = new Map<string, number>()
  // What creations get: granted, a conflict, a late one, or refused.
  const answers = new Map<string, string>()
  const { failed } = await judge(['jobs.create/*'], {
    reference: { jobMs: 40 },
    instead: (reference) => async (request) => {
      const path = new URL(request.url).pathname
      const application = jobsOf(path) ?? ''
      const isLate = performance.now() < (until.get(application) ?? 0)
      const response = isLate ? conflict('jobs.create') : await reference(request)
      const { status } = response
      const kind = isLate ? 'l' : status === 409 ? 'c' : status < 300 ? 'g' : 'r'
      answers.set(application, `${answers.get(application) ?? ''}${kind}`)
      const body = await response.clone().text()
      const job = body.startsWith('{') ? (JSON.parse(body) as { id?: string; status?: string }) : {}
      if (kind === 'g' && application !== '') jobs.set(job.id!, application)
      const ended = jobIn(path) !== undefined && job.status !== 'in_progress' && jobs.get(job.id!)
      if (ended && jobs.delete(job.id!)) until.set(ended, performance.now() + 3000)
      return response
    },
  })
  expect(failed).toEqual([id])
  const alone = expect.stringMatching(/^gc+r+c+g(l{3,}g){2}$/) as string
  expect([...answers.values()]).toContainEqual(alone)
})

/** A request that takes away the lock of a job in progress: the next creation is granted a second one. */
function unlockedBy(isSuch: (path: string, text: string, status: number) => boolean): Reply {
  let isFree = false
  let made = 0
  const created_at = new Date().toISOString()
  const seconds = new Map<string, number>()
  return async (path, answer) => {
    const job = jobIn(path)
    if (job !== undefined && seconds.has(job)) {
      const readings = seconds.get(job)! + 1
      seconds.set(job, readings)
      const status = readings > 3 ? 'completed' : 'in_progress'
      return json(200, { id: job, application_id: slowApplication.id, status, created_at })
    }
    const response = await answer()
    const text = await response.clone().text()
    if (isSuch(path, text, response.status)) isFree = true
    if (jobsOf(path) !== slowApplication.id || response.status !== 409 || !isFree) return response
    isFree = false
    const id = `6f1c1a52-93f4-4a53-9d3c-${String(++made).padStart(12, '0')}`
    seconds.set(id, 0)
    return json(202, { id, status: 'in_progress', created_at })
  }
}

test.each<[what: string, Parameters<typeof unlockedBy>[0]]>([
  [
    'a malformed creation',
    (path, _, status) => jobsOf(path) === slowApplication.id && status === 400,
  ],
  ['one without a required input', (_, text) => text.includes('missing required inputs')],
  ['one without a key', (path, _, status) => jobsOf(path) === slowApplication.id && status === 401],
  ['a reading without a key', (path, _, status) => jobIn(path) !== undefined && status === 401],
])('%s that frees the lock of a job in progress', async (_what, isSuch) => {
  for (const depth of ['full', 'quick'] as const) {
    const { failed, of } = await judgeBehind(unlockedBy(isSuch), {
      only: ['jobs.create/409-job-in-progress'],
      depth,
    })
    expect(failed).toEqual(['jobs.create/409-job-in-progress'])
    const [failure] = of('jobs.create/409-job-in-progress').failures
    expect(failure).toMatchObject({
      takes: 'refusal-before',
      message: expect.stringContaining('after'),
    })
  }
})

test('one that frees the lock of jobs that end soon after it, with a job that nothing frees in between', async () => {
  const free = unlockedBy(
    (path, _, status) => jobsOf(path) === slowApplication.id && status === 400,
  )
  const only = ['jobs.create/409-job-in-progress']
  // One thing comes after another.
  const later =
    (reply: Reply): Reply =>
    async (...asked) => {
      await sleep(1)
      return reply(...asked)
    }
  const judgeShort = (reply: Reply) => judgeBehind(later(reply), { only, slowJobMs: 25 })
  expect((await judgeShort(free)).failed).toEqual(only)
  expect((await judgeShort((_path, answer) => answer())).failed).toEqual([])
})

test.each(['full', 'quick'] as const)(
  'a job that is read without a key while it is in progress: %s',
  async (depth) => {
    const attack = 'jobs.create/409-job-in-progress'
    const id = 'jobs.retrieve/401-missing-credentials'
    const { of } = await judge([id, attack], {
      depth,
      way: (_request, send, { probe, purpose }) =>
        probe?.operation === 'jobs.retrieve' &&
        !probe.credential.full &&
        purpose?.requirement === attack
          ? answer(200, '{}')
          : send(),
    })
    expect(of(id)).toMatchObject({
      outcome: 'failed',
      failures: [{ rerunIds: [id, attack] }],
    })
  },
)
