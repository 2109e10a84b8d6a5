import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import target from '../../fixtures/reference.target.json' with { type: 'json' }
import type { Transport } from '../../harness/http/message.ts'
import { idsOf, judgeReference } from '../matrix/judge-reference.ts'
import { judgeBehind, json } from './behind.ts'

const { id: application } = target.resources.application

/** Answers of a server on which one job never ends: the application stays busy with it. */
function withEndlessJob(which: number) {
  let made = 0
  let endless: string | undefined
  return async (path: string, answer: () => Promise<Response>): Promise<Response> => {
    const response = await answer()
    // What is refused anyway is refused as before.
    if (endless !== undefined && path.endsWith(`/${application}/jobs`) && response.status === 202)
      return json(409, { tpe: 'BadRequest', errors: [], extras: {} })
    if (path.endsWith(`/${application}/jobs`) && response.status === 202 && ++made === which)
      endless = ((await response.clone().json()) as { id: string }).id
    if (endless === undefined || !path.endsWith(`/jobs/${endless}`) || response.status !== 200)
      return response
    const { completed_at: _, data: __, ...job } = (await response.json()) as Record<string, unknown>
    return json(200, { ...job, status: 'in_progress' })
  }
}

// One that is made, by whichever requirement, between two looks at what refused creations do.
test.each([12, 14, 17])(
  'creation %d makes a job that goes on: no refused creation is blamed',
  async (which) => {
    const { report } = await judgeBehind(withEndlessJob(which), {
      only: ['jobs.*', 'applications.*'],
    })
    const outcomes = report.requirements.flatMap(({ id, outcome }) =>
      outcome === 'failed' ? [id] : [],
    )
    expect(outcomes).toEqual(['jobs.retrieve/200-outcome'])
  },
)

/** Answers of a server that keeps the application locked from one creation on, which it grants or answers so. */
function withLock(which: number, status: number) {
  let made = 0
  return async (path: string, answer: () => Promise<Response>): Promise<Response> => {
    const response = await answer()
    if (!path.endsWith(`/${application}/jobs`) || response.status !== 202) return response
    if (++made > which) return json(409, { tpe: 'BadRequest', errors: [], extras: {} })
    return made < which || status === 202
      ? response
      : json(status, { tpe: 'InternalError', errors: [], extras: {} })
  }
}

test.each([
  [9, 202],
  [12, 202],
  [16, 202],
  [12, 500],
  [16, 500],
])(
  'creation %d, answered %d, locks the application: no refused creation is blamed',
  async (which, status) => {
    const { report } = await judgeBehind(withLock(which, status), {
      only: ['jobs.*', 'applications.*'],
    })
    const failed = report.requirements.flatMap(({ id, outcome }) =>
      outcome === 'failed' ? [id] : [],
    )
    expect(failed).toContain('jobs.create/409-released')
    expect(failed).not.toContain('jobs.create/4xx-no-effect')
  },
)

/** Answers so, in place of a conflict, those creations that came while another one on the application was answered. */
function answersRace(refused: () => Response) {
  const underWay = new Map<string, number>()
  return async (path: string, answer: () => Promise<Response>): Promise<Response> => {
    if (!/\/applications\/[^/]+\/jobs$/.test(path)) return answer()
    const isLate = (underWay.get(path) ?? 0) > 0
    underWay.set(path, (underWay.get(path) ?? 0) + 1)
    const response = await answer()
    await sleep(1)
    underWay.set(path, underWay.get(path)! - 1)
    return isLate && response.status === 409 ? refused() : response
  }
}

test.each([
  ['a 500', () => json(500, { tpe: 'InternalError', errors: [], extras: {} })],
  ['a 409 of another name', () => json(409, { tpe: 'Conflict', errors: [], extras: {} })],
])(
  '%s for creations that come together with one that is granted is no answer to a conflict',
  async (_, refused) => {
    const { report } = await judgeBehind(answersRace(refused), { only: ['jobs.create/409-*'] })
    const failed = report.requirements.flatMap(({ id, outcome }) =>
      outcome === 'failed' ? [id] : [],
    )
    expect(failed).toEqual(['jobs.create/409-job-in-progress'])
  },
)

// A gateway that lets one creation through at a time, and a model that is asked before anything else.
test.each([
  ['502', () => new Response('', { status: 502 })],
  [
    'a model error',
    () => json(500, { tpe: 'CompletionModelInternalError', errors: [], extras: {} }),
  ],
])(
  'creations that come together with one that is granted break no conflict if they are answered %s',
  async (_, other) => {
    let raced = 0
    const reply = answersRace(() => {
      raced++
      return other()
    })
    const { report } = await judgeBehind(reply, { only: ['jobs.create/409-*'] })
    expect(raced).toBeGreaterThan(1)
    const of = (wanted: string) =>
      report.requirements.flatMap(({ id, outcome }) => (outcome === wanted ? [id] : []))
    expect(of('failed')).toEqual([])
    expect(of('passed')).toContain('jobs.create/409-job-in-progress')
  },
)

const declared = Object.values(target.resources).flatMap((one) =>
  typeof one === 'object' && 'id' in one ? [one.id] : [],
)

test('a creation whose answer is lost on a created application locks it: nobody is blamed', async () => {
  /** Longer than any job of the reference lasts, in ms. */
  const afterJobMs = 40_000
  let creations = 0
  const losesSecond = (transport: Transport): Transport => ({
    ...transport,
    async send(request, options) {
      const id = /\/applications\/([^/]+)\/jobs$/.exec(request.path)?.[1]
      if (id === undefined || declared.includes(id) || ++creations !== 2)
        return transport.send(request, options)
      await sleep(afterJobMs)
      const { sentAt } = await transport.send(request, options)
      return {
        kind: 'no-answer',
        cause: 'reset',
        message: 'lost',
        staleConnection: true,
        sentAt,
        endedAt: performance.now(),
      }
    },
  })
  const { results } = await judgeReference(
    { jobMs: 300 },
    { options: { only: ['jobs.create/409-*'] }, network: losesSecond },
  )
  expect(creations).toBeGreaterThan(5)
  expect(idsOf(results, 'failed')).toEqual([])
})

test('a copy that does not know a created application yet breaks no conflict', async () => {
  let asked = 0
  const { report } = await judgeBehind(
    async (path, answer) => {
      const id = /\/applications\/([^/]+)\/jobs$/.exec(path)?.[1]
      const isCreated = id !== undefined && !declared.includes(id)
      return isCreated && ++asked % 2 === 0
        ? json(404, { tpe: 'ResourceNotFound', errors: [], extras: {} })
        : answer()
    },
    { only: ['jobs.create/409-job-in-progress'] },
  )
  expect(asked).toBeGreaterThan(1)
  expect(
    report.requirements.flatMap(({ id, outcome }) => (outcome === 'failed' ? [id] : [])),
  ).toEqual([])
})

/** Judges the reference, whose jobs can be created and not read; gives how long that took in virtual time, in ms. */
async function judgeUnread(variants: string[]) {
  let [first, last] = [0, 0]
  const hidesJobs = (transport: Transport): Transport => ({
    ...transport,
    send(request, options) {
      last = performance.now()
      first ||= last
      const path = request.path.replace('/applications/jobs/', '/nothing/')
      return transport.send({ ...request, path }, options)
    },
  })
  const settings = { options: { only: ['jobs.create/*'] }, network: hidesJobs }
  const { results } = await judgeReference({ jobMs: 300, slowJobMs: 1200, variants }, settings)
  return { results, tookMs: last - first }
}

test('jobs that cannot be read are not waited for again once that is known', async () => {
  const { results, tookMs } = await judgeUnread([])
  expect(idsOf(results, 'failed')).toEqual(['jobs.create/202-retrievable'])
  expect(tookMs).toBeLessThan(20_000)
})

test('where they end at once, all else is judged', async () => {
  const { results, tookMs } = await judgeUnread(['jobs/instant'])
  expect(idsOf(results, 'failed')).toEqual(['jobs.create/202-retrievable'])
  expect(idsOf(results, 'passed')).toEqual(
    expect.arrayContaining(['jobs.create/202-created', 'jobs.create/400-malformed-inputs']),
  )
  expect(tookMs).toBeLessThan(20_000)
})
