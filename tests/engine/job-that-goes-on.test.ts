import { expect, test } from 'vitest'
import target from '../../fixtures/reference.target.json' with { type: 'json' }
import type { TargetFile } from '../../harness/target/model.ts'
import { rulesAfter } from '../../suites/jobs/drive.ts'
import { ids } from '../../suites/jobs/rules.ts'
import { viewOf } from '../../suites/jobs/view.ts'
import { withoutApplications } from './behind.ts'
import { isGranted, jsonIn, judge, refusal, type Way } from './networks.ts'

const { id: application } = target.resources.application
const { id: slow } = target.resources.slowApplication

test('each slow job is met by creations during its whole life, and by none once it was read as ended', async () => {
  const { run } = await judge(['jobs.create/409-*'], {
    reference: { jobMs: 15, slowJobMs: 1200 },
  })
  const { jobs, creations } = viewOf(run.client.journal).applicationOf(slow)
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

test('an application that is never released fails, though its jobs could be those of others', async () => {
  const defects = ['jobs.create/409-released#slow']
  const reference = { jobMs: 15, slowJobMs: 1200, defects }
  const { failed } = await judge(['jobs.create/409-*'], { reference })
  expect(failed).toEqual(['jobs.create/409-released'])
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

const unread: Way = (request, send) =>
  send({ ...request, path: request.path.replace('/applications/jobs/', '/nothing/') })

test.each([[[]], [['jobs/instant']]])(
  'jobs that cannot be read are not waited for again once that is known, %j',
  async (variants) => {
    let [first, last] = [0, 0]
    const way: Way = (...asked) => {
      last = performance.now()
      first ||= last
      return unread(...asked)
    }
    const reference = { jobMs: 300, slowJobMs: 1200, variants }
    const { failed, passed } = await judge(['jobs.create/*'], { reference, way, depth: 'quick' })
    expect(failed).toEqual(['jobs.create/202-retrievable'])
    expect(last - first).toBeLessThan(20_000)
    // If they end at once, all else is judged.
    if (variants.length > 0)
      expect(passed).toEqual(
        expect.arrayContaining(['jobs.create/202-created', 'jobs.create/400-malformed-inputs']),
      )
  },
)

test('a job that cannot be read is waited for no longer than a reason says', async () => {
  const { of } = await judge(['jobs.create/4*'], {
    reference: { jobMs: 20_000 },
    way: unread,
    depth: 'quick',
  })
  const reason = `application ${application} was still answered 409 after 2000 ms (limits.settleMs)`
  expect(of('jobs.create/400-missing-body').reason).toBe(reason)
})

test('jobs whose end is read as an error are not waited for one by one', async () => {
  let began = 0
  let last = 0
  const { failed } = await judge(['jobs.*'], {
    reference: { jobMs: 15, slowJobMs: 1200 },
    depth: 'quick',
    async way(_, send, { probe }) {
      began ||= performance.now()
      const result = await send()
      last = performance.now()
      const isEnded =
        probe?.operation === 'jobs.retrieve' && isGranted(result) && jsonIn(result)['data']
      return isEnded ? refusal(500, 'InternalError') : result
    },
  })
  expect(failed).toContain('jobs.retrieve/200-job')
  expect(last - began).toBeLessThan(15_000)
})
