import { describe, expect, test } from 'vitest'
import type { PreviousRequest } from '../../harness/engine/exchange.ts'
import type { HttpResult, Transport } from '../../harness/http/message.ts'
import { judgeEach } from '../../harness/checks/at-once.ts'
import { Failed, NotExercised } from '../../harness/engine/index.ts'
import type { Failure } from '../../harness/report/index.ts'
import { idsOf, judgeReference } from '../matrix/judge-reference.ts'

const atomic = 'graphs.add-file/409-atomic'

describe(`${atomic}, of a target that is far away`, () => {
  const only = [atomic]

  test('accuses nobody who processes additions sooner than the next request can arrive', async () => {
    for (const latencyMs of [40, 250]) {
      const reference = { variants: ['processing/slow'], settleMs: 30 }
      const { results } = await judgeReference(reference, { latencyMs, options: { only } })
      expect(results.find(({ id }) => id === atomic)).toMatchObject({
        outcome: 'not-exercised',
        reason: expect.stringMatching(
          /refused \d+ ms after the first was granted: .*; run the suite closer to the target/,
        ),
      })
    }
  })

  test('accuses who grants two of one moment only from near by', async () => {
    const outcomes = []
    for (const latencyMs of [1, 10, 40]) {
      const { results } = await judgeReference(
        { defects: [atomic] },
        { latencyMs, options: { only } },
      )
      outcomes.push(results.find(({ id }) => id === atomic)?.outcome)
    }
    expect(outcomes).toEqual(['failed', 'failed', 'not-exercised'])
  })

  test('passes who grants one alone, however far away', async () => {
    const { results } = await judgeReference({}, { latencyMs: 250, options: { only } })
    expect(idsOf(results, 'passed')).toEqual([atomic])
  })

  test('looks again at what was refused late once', async () => {
    // Of the two in a row, before the others and after them.
    let late = 0
    const network = (transport: Transport): Transport => ({
      ...transport,
      async send(request, options) {
        const result = await transport.send(request, options)
        return result.kind === 'answer' && result.status === 409 && late++ < 2
          ? { ...result, endedAt: result.endedAt + 100 }
          : result
      },
    })
    const { results } = await judgeReference({ defects: [atomic] }, { network, options: { only } })
    expect(idsOf(results, 'failed')).toEqual([atomic])
  })
})

describe('*/2xx-own-id asks once more', () => {
  const ids = ['files.upload', 'graphs.create', 'applications.create'].map(
    (operation) => `${operation}/2xx-own-id`,
  )
  const options = { depth: 'quick', only: ids } as const

  test.each([
    [400, 'GuardrailBlockedError'],
    [429, 'QuotaExceeded'],
    [503, 'ServiceUnavailable'],
    [500, 'CompletionModelInternalError'],
  ])('if one of its creations is answered %i %s', async (status, tpe) => {
    const met = new Set<string>()
    const answer = (result: HttpResult): HttpResult => ({
      ...{
        kind: 'answer',
        status,
        headers: [{ name: 'content-type', value: 'application/json' }],
        cut: false,
      },
      body: Buffer.from(JSON.stringify({ tpe, errors: [], extras: {} })),
      ...{ sentAt: result.sentAt, endedAt: result.endedAt },
    })
    const network = (transport: Transport): Transport => ({
      ...transport,
      async send(request, sending) {
        const result = await transport.send(request, sending)
        const { purpose } = (sending.tag ?? {}) as Partial<PreviousRequest>
        const id = purpose?.role === 'probe' ? purpose.requirement : undefined
        if (!id || !ids.includes(id) || met.has(id)) return result
        met.add(id)
        return answer(result)
      },
    })
    const { results } = await judgeReference({}, { network, options })
    expect([...met].sort()).toEqual(ids.toSorted())
    expect(idsOf(results, 'passed')).toEqual(expect.arrayContaining(ids))
  })
})

describe('an answer that says nothing', () => {
  /** The first answer to a request for that requirement that is one of these is replaced. */
  const once = (
    id: string,
    isIt: (status: number) => boolean,
    other: (result: HttpResult) => HttpResult,
  ) => {
    let met = false
    return (transport: Transport): Transport => ({
      ...transport,
      async send(request, options) {
        const result = await transport.send(request, options)
        const { purpose, probe } = (options.tag ?? {}) as Partial<PreviousRequest>
        const isOf = (purpose?.requirement ?? probe?.operation) === id
        if (met || !isOf || result.kind !== 'answer' || !isIt(result.status)) return result
        met = true
        return other(result)
      },
    })
  }

  const isGranted = (status: number): boolean => status < 300
  const lost = ({ sentAt, endedAt }: HttpResult): HttpResult => ({
    ...{ kind: 'no-answer', cause: 'reset', message: 'lost', staleConnection: true },
    ...{ sentAt, endedAt },
  })

  test('as that to the one of several creations which was granted is lost, is followed by another look', async () => {
    const id = 'graphs.create/400-atomic'
    const { results } = await judgeReference(
      {},
      { network: once(id, isGranted, lost), options: { only: [id] } },
    )
    expect(idsOf(results, 'passed')).toEqual([id])
  })

  test('as that to a granted creation which is lost, is followed by a creation with another name', async () => {
    const ids = ['graphs.create/2xx-accepted', 'graphs.add-file/409-already-in-graph']
    let creations = 0
    // Every other one is lost: none is sent for the third time.
    const network = (transport: Transport): Transport => ({
      ...transport,
      async send(request, options) {
        const result = await transport.send(request, options)
        const isCreation =
          request.path === '/v1/knowledge-graphs' &&
          result.kind === 'answer' &&
          isGranted(result.status)
        return isCreation && creations++ % 2 === 0 ? lost(result) : result
      },
    })
    const { results } = await judgeReference({}, { network, options: { only: ids } })
    expect(idsOf(results, 'failed')).toEqual([])
    expect(idsOf(results, 'passed')).toEqual(expect.arrayContaining(ids))
  })

  test('as that of a guardrail to an upload of the suite, is asked for again', async () => {
    const blocked = { tpe: 'BadRequest', errors: [{ key: 'fail.guardrail.blocked' }], extras: {} }
    const network = once(
      'files.upload',
      () => true,
      (result) =>
        ({ ...result, status: 400, body: Buffer.from(JSON.stringify(blocked)) }) as HttpResult,
    )
    const ids = ['graphs.add-file/2xx-accepted', 'graphs.add-file/409-already-in-graph']
    const { results } = await judgeReference({}, { network, options: { only: ids } })
    expect(idsOf(results, 'passed')).toEqual(ids)
  })
})

describe('a target that takes few requests', () => {
  const busy = (status: number, headers: { name: string; value: string }[] = []): HttpResult => ({
    ...{
      kind: 'answer',
      status,
      headers: [{ name: 'content-type', value: 'application/json' }, ...headers],
      cut: false,
    },
    body: Buffer.from(JSON.stringify({ tpe: 'ServiceUnavailable', errors: [], extras: {} })),
    ...{ sentAt: performance.now(), endedAt: performance.now() },
  })

  test('at once, three of eight, is judged whole', async () => {
    let open = 0
    const network = (transport: Transport): Transport => ({
      ...transport,
      async send(request, options) {
        if (open >= 3) return busy(503)
        open++
        return transport.send(request, options).finally(() => open--)
      },
    })
    const only = ['files.*', 'web-search.*', 'graphs.create/*']
    const { results } = await judgeReference({}, { network, options: { only, backoffMs: 250 } })
    expect(idsOf(results, 'failed')).toEqual([])
    expect(results.filter(({ reason }) => reason?.startsWith('throttled'))).toEqual([])
  })

  test('none for two seconds, when conflicts of jobs are looked for, is asked again', async () => {
    let from: number | undefined
    const network = (transport: Transport): Transport => ({
      ...transport,
      send(request, options) {
        const { purpose } = (options.tag ?? {}) as Partial<PreviousRequest>
        if (purpose?.requirement === 'jobs.create/409-atomic') from ??= performance.now()
        const isAway = from !== undefined && performance.now() - from < 2000
        return isAway
          ? Promise.resolve(busy(503, [{ name: 'retry-after', value: '1' }]))
          : transport.send(request, options)
      },
    })
    const only = ['jobs.create/409-*']
    const { results } = await judgeReference(
      { jobMs: 300, slowJobMs: 1200 },
      { network, options: { only } },
    )
    expect(idsOf(results, 'failed')).toEqual([])
    expect(idsOf(results, 'passed')).toHaveLength(4)
    expect(from).toBeDefined()
  })
})

test('readings of jobs that lag behind accuse nobody of granting a creation beside a job', async () => {
  const endedAt = new Map<string, number>()
  const network = (transport: Transport): Transport => ({
    ...transport,
    async send(request, options) {
      const result = await transport.send(request, options)
      if (request.method !== 'GET' || result.kind !== 'answer' || result.status !== 200)
        return result
      const job = JSON.parse(Buffer.from(result.body).toString()) as { id: string; status?: string }
      if (job.status === undefined || job.status === 'in_progress') return result
      if (!endedAt.has(job.id)) endedAt.set(job.id, performance.now())
      if (performance.now() - endedAt.get(job.id)! > 250) return result
      const { data: _d, error: _e, completed_at: _c, ...before } = job as Record<string, unknown>
      return { ...result, body: Buffer.from(JSON.stringify({ ...before, status: 'in_progress' })) }
    },
  })
  const { results } = await judgeReference(
    { jobMs: 300, slowJobMs: 1200 },
    { network, options: { only: ['jobs.create/409-*', 'jobs.retrieve/200-*'] } },
  )
  expect(idsOf(results, 'failed')).toEqual([])
  expect(idsOf(results, 'passed')).toContain('jobs.create/409-job-in-progress')
})

test('creations beside a job that are throttled now and then accuse nobody', async () => {
  const sent = new Map<string, number>()
  const limit = { tpe: 'QuotaExceeded', errors: [], extras: {} }
  const network = (transport: Transport): Transport => ({
    ...transport,
    async send(request, options) {
      const { purpose } = (options.tag ?? {}) as Partial<PreviousRequest>
      const result = await transport.send(request, options)
      if (purpose?.requirement !== 'jobs.create/409-job-in-progress' || result.kind !== 'answer')
        return result
      // The third and the sixth beside each job.
      const beside = (sent.get(request.path) ?? 0) + 1
      sent.set(request.path, beside)
      return beside % 3 === 0
        ? { ...result, status: 429, body: Buffer.from(JSON.stringify(limit)) }
        : result
    },
  })
  const reference = { jobMs: 300, slowJobMs: 1200 }
  const { results } = await judgeReference(reference, {
    network,
    options: { only: ['jobs.create/409-*'] },
  })
  expect(idsOf(results, 'failed')).toEqual([])
  expect(idsOf(results, 'passed')).toContain('jobs.create/409-job-in-progress')
})

test('of several cases at once a failure is told, although an earlier one could not be judged', async () => {
  const errors = [
    new NotExercised('busy'),
    new Failed({ message: 'granted' } as Failure),
    new NotExercised('busy, too'),
  ]
  const judge = (error: Error): Promise<never> => Promise.reject(error)
  await expect(judgeEach(errors, judge)).rejects.toBe(errors[1])
  await expect(judgeEach([errors[0]!, errors[2]!], judge)).rejects.toBe(errors[0])
})

test.each([
  [500, ['graphs.create/400-atomic']],
  [502, []],
])('creations that come beside one are all answered %d', async (status, failed) => {
  let beside = 0
  const network = (transport: Transport): Transport => {
    let underWay = 0
    return {
      ...transport,
      async send(request, sending) {
        if (request.method !== 'POST' || !request.path.endsWith('/knowledge-graphs'))
          return transport.send(request, sending)
        const isBeside = underWay++ > 0
        const result = await transport.send(request, sending)
        underWay--
        if (!isBeside || result.kind !== 'answer') return result
        beside++
        return { ...result, status, headers: [], body: Buffer.alloc(0) }
      },
    }
  }
  const only = ['graphs.create/400-atomic', 'graphs.create/2xx-accepted']
  const { results } = await judgeReference({}, { network, options: { only } })
  expect(beside).toBeGreaterThan(1)
  expect(idsOf(results, 'failed')).toEqual(failed)
})
