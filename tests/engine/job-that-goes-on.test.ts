import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import target from '../../fixtures/reference.target.json' with { type: 'json' }
import { historyOf } from '../../harness/journal/journal.ts'
import type { TargetFile } from '../../harness/target/model.ts'
import { ids, rulesAfter } from '../../suites/jobs/rules.ts'
import { viewOf } from '../../suites/jobs/view.ts'
import { error, judgeBehind, json, type Reply, withoutApplications } from './behind.ts'
import { judge, lost, refusal, type Way } from './networks.ts'

const { id: application } = target.resources.application
const { id: slow } = target.resources.slowApplication

/** What the rules of refused creations need: the states that they are looked at in. */
const states = ['jobs.create/4*', 'jobs.create/202-*', 'jobs.retrieve/200-*']

/** One job never ends: the application stays busy with it. */
function withEndlessJob(which: number): Reply {
  let made = 0
  let endless: string | undefined
  return async (path, answer) => {
    const response = await answer()
    const isGranted = path.endsWith(`/${application}/jobs`) && response.status === 202
    // What is refused anyway is refused as before.
    if (endless !== undefined && isGranted) return error(409, 'BadRequest')
    if (isGranted && ++made === which)
      endless = ((await response.clone().json()) as { id: string }).id
    if (endless === undefined || !path.endsWith(`/jobs/${endless}`) || response.status !== 200)
      return response
    const { completed_at: _, data: __, ...job } = (await response.json()) as Record<string, unknown>
    return json(200, { ...job, status: 'in_progress' })
  }
}

// One that is made, by whichever requirement, between two looks at what refused creations do.
test.each([12, 14])(
  'creation %d makes a job that goes on: no refused creation is blamed',
  async (which) => {
    const { failed } = await judgeBehind(withEndlessJob(which), { only: states })
    expect(failed).toEqual(['jobs.retrieve/200-outcome'])
  },
)

// It follows a granted one, with none refused in between.
test.each([409, 500])(
  'a creation that is answered %d locks the application: no refused one is blamed',
  async (status) => {
    let [granted, isNext, isLocked] = [0, false, false]
    const reply: Reply = async (path, answer) => {
      const response = await answer()
      if (/\/applications\/[^/]+\/jobs$/.test(path) && response.status < 500)
        isNext &&= response.status === 202 || response.status === 409
      if (!path.endsWith(`/${application}/jobs`) || response.status !== 202) return response
      if (isLocked) return error(409, 'BadRequest')
      isLocked = isNext && granted >= 8
      if (isLocked) return error(status, status === 409 ? 'BadRequest' : 'InternalError')
      granted++
      isNext = true
      return response
    }
    const { failed } = await judgeBehind(reply, { only: states }, withoutApplications)
    expect(failed).toContain('jobs.create/409-released')
    expect(failed).not.toContain('jobs.create/4xx-no-effect')
  },
)

// A gateway that lets one creation through at a time, and a model that is asked before anything else, may answer.
test.each([
  ['a 500', () => error(500, 'InternalError'), ['jobs.create/409-job-in-progress']],
  ['a 409 of another name', () => error(409, 'Conflict'), ['jobs.create/409-job-in-progress']],
  ['a 502', () => new Response('', { status: 502 }), []],
  ['a model error', () => error(500, 'CompletionModelInternalError'), []],
])(
  '%s in place of a conflict, for creations that come while one is granted',
  async (_, refused, expected) => {
    const underWay = new Map<string, number>()
    let raced = 0
    const reply: Reply = async (path, answer) => {
      if (!/\/applications\/[^/]+\/jobs$/.test(path)) return answer()
      const before = underWay.get(path) ?? 0
      underWay.set(path, before + 1)
      const response = await answer()
      await sleep(1)
      underWay.set(path, underWay.get(path)! - 1)
      if (before === 0 || response.status !== 409) return response
      raced++
      return refused()
    }
    const { failed, passed } = await judgeBehind(reply, { only: ['jobs.create/409-*'] })
    expect(raced).toBeGreaterThan(1)
    expect(failed).toEqual(expected)
    if (expected.length === 0) expect(passed).toContain('jobs.create/409-job-in-progress')
  },
)

test('each slow job is met by creations during its whole life, and by none once it was read as ended', async () => {
  const { run } = await judge(['jobs.create/409-*'], {
    reference: { jobMs: 15, slowJobMs: 1200 },
  })
  const { jobs, creations } = viewOf(historyOf(run)).applicationOf(slow)
  const beside = creations.filter(
    ({ exchange: { purpose } }) =>
      purpose.requirement === ids.inProgress && purpose.role === 'probe',
  )
  expect(jobs).toHaveLength(3)
  for (const { creation, end } of jobs) {
    const endedAt = end?.endedAt ?? Infinity
    const during = beside.filter(({ sentAt }) => sentAt > creation.endedAt && sentAt < endedAt)
    expect(during.map(({ request }) => request)).toEqual(expect.arrayContaining(['valid', 'odd']))
    expect(during.at(-1)!.sentAt - creation.endedAt).toBeGreaterThan(600)
  }
  expect(beside.every(({ status }) => status === 409)).toBe(true)
})

test('one application may be declared twice: each time with its own inputs', async () => {
  const inputs = [
    { id: 'topic', value: ['slow'] },
    { id: 'tone', value: ['calm'] },
  ]
  const change = (file: TargetFile): TargetFile => ({
    ...file,
    resources: { ...file.resources, slowApplication: { id: application, inputs } },
  })
  const bodies: string[] = []
  const way: Way = ({ body }, send, { purpose }) => {
    if (purpose?.requirement === ids.noEffect) bodies.push(String(body))
    return send()
  }
  await judge(['jobs.create/409-*', ids.noEffect], { reference: { jobMs: 300 }, way, change })
  expect(bodies.filter((body) => body.includes('tea')).length).toBeGreaterThan(5)
  expect(bodies.filter((body) => body.includes('slow'))).toEqual([])
})

test('if creations at once are all throttled, one by itself shows the rest', async () => {
  const way: Way = (_, send, { purpose }) =>
    purpose?.requirement === ids.atomic ? refusal(429, 'QuotaExceeded') : send()
  const change = (file: TargetFile): TargetFile => ({
    ...withoutApplications(file),
    resources: { application: target.resources.slowApplication },
  })
  const reference = { slowJobMs: 1200 }
  const { passed } = await judge(['jobs.create/409-*'], { reference, way, change })
  expect(passed).toEqual([ids.inProgress, ids.released])
})

test.each([
  ['failed', 'jobs.retrieve/200-stable'],
  ['cancelled', 'jobs.retrieve/200-outcome'],
])('a job in the middle that reads as %s is read again at the end', async (status, expected) => {
  let made = 0
  let odd: { readonly id: string; readonly at: number } | undefined
  const reply: Reply = async (path, answer) => {
    const response = await answer()
    if (path.endsWith(`/${application}/jobs`) && response.status === 202 && ++made === 3)
      odd = {
        id: ((await response.clone().json()) as { id: string }).id,
        at: performance.now(),
      }
    if (!odd || !path.endsWith(`/jobs/${odd.id}`) || response.status !== 200) return response
    const job = (await response.json()) as Record<string, unknown>
    const isLate = performance.now() - odd.at > 1000
    if (job['status'] === 'in_progress' || (isLate && status === 'failed')) return json(200, job)
    const { completed_at: _, data: __, ...rest } = job
    return json(200, { ...rest, status })
  }
  const { failed } = await judgeBehind(reply, { only: states })
  expect(made).toBeGreaterThan(8)
  expect(failed).toContain(expected)
})

// Each causes what its rule needs, whatever else is asked for, and waits for nothing that did not happen.
test.each([...rulesAfter('conflicts'), ...rulesAfter('refusals')])(
  '%s passes by itself, in less than 10 s of the time that a run has',
  async (id) => {
    let [first, last] = [0, 0]
    const way: Way = (_, send) => {
      last = performance.now()
      first ||= last
      return send()
    }
    const { passed } = await judge([id], { reference: { jobMs: 15, slowJobMs: 1200 }, way })
    expect(passed).toContain(id)
    expect(last - first).toBeLessThan(10_000)
  },
)

const declared = Object.values(target.resources).flatMap((one) =>
  typeof one === 'object' && 'id' in one ? [one.id] : [],
)
const isOnCreated = (path: string): boolean => {
  const id = /\/applications\/([^/]+)\/jobs$/.exec(path)?.[1]
  return id !== undefined && !declared.includes(id)
}

test('a creation whose answer is lost on a created application locks it: nobody is blamed', async () => {
  let creations = 0
  const way: Way = async ({ path }, send) => {
    if (!isOnCreated(path) || ++creations !== 2) return send()
    // Longer than any job of the reference lasts.
    await sleep(40_000)
    const { sentAt } = await send()
    return lost({ staleConnection: true, sentAt })
  }
  const { failed } = await judge(['jobs.create/409-*'], { reference: { jobMs: 300 }, way })
  expect(creations).toBeGreaterThan(5)
  expect(failed).toEqual([])
})

test('a copy that does not know a created application yet breaks no conflict', async () => {
  let asked = 0
  const { failed } = await judgeBehind(
    (path, answer) =>
      isOnCreated(path) && ++asked % 2 === 0 ? error(404, 'ResourceNotFound') : answer(),
    { only: ['jobs.create/409-job-in-progress'] },
  )
  expect(asked).toBeGreaterThan(1)
  expect(failed).toEqual([])
})

test.each([[[]], [['jobs/instant']]])(
  'jobs that cannot be read are not waited for again once that is known, %j',
  async (variants) => {
    let [first, last] = [0, 0]
    const way: Way = (request, send) => {
      last = performance.now()
      first ||= last
      return send({ ...request, path: request.path.replace('/applications/jobs/', '/nothing/') })
    }
    const reference = { jobMs: 300, slowJobMs: 1200, variants }
    const { failed, passed } = await judge(['jobs.create/*'], { reference, way })
    expect(failed).toEqual(['jobs.create/202-retrievable'])
    expect(last - first).toBeLessThan(20_000)
    // If they end at once, all else is judged.
    if (variants.length > 0)
      expect(passed).toEqual(
        expect.arrayContaining(['jobs.create/202-created', 'jobs.create/400-malformed-inputs']),
      )
  },
)

test('jobs of which no answer can be read are not waited for', async () => {
  let busyUntil = -Infinity
  const marked: Reply = async (path, answer, sinceMs) => {
    const isCreation = /\/applications\/[^/]+\/jobs$/.test(path)
    const response = isCreation && sinceMs < busyUntil ? error(409, 'BadRequest') : await answer()
    if (isCreation && response.status === 202) busyUntil = sinceMs + 30_000
    const { status, headers } = response
    return new Response(`\ufeff${await response.text()}`, { status, headers })
  }
  const { tookMs, failed } = await judgeBehind(marked, { depth: 'quick', only: ['jobs.*'] })
  expect(failed.length).toBeGreaterThan(0)
  // The end of a run comes 2 s after what it looks at again.
  expect(tookMs).toBeLessThan(3000)
})
