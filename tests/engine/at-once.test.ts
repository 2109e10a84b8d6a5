import { describe, expect, test } from 'vitest'
import { joined } from '../../suites/checks/rules.ts'
import type { HttpResult } from '../../harness/http/message.ts'
import type { Evidence } from '../../harness/journal/index.ts'
import { answered, envelope, isGranted, judge, lost, refusal, type Way } from './networks.ts'

const pace = { jobMs: 300, slowJobMs: 1200 }

const ownIds = ['files.upload', 'graphs.create', 'applications.create'].map(
  (operation) => `${operation}/2xx-own-id`,
)

test.each([
  [400, 'GuardrailBlockedError'],
  [429, 'QuotaExceeded'],
  [503, 'ServiceUnavailable'],
  [500, 'CompletionModelInternalError'],
])('*/2xx-own-id asks once more if a creation is answered %i %s', async (status, tpe) => {
  const met = new Set<string>()
  const way: Way = async (_, send, { purpose }) => {
    const result = await send()
    const id = purpose?.role === 'probe' ? purpose.requirement : undefined
    if (!id || !ownIds.includes(id) || met.has(id)) return result
    met.add(id)
    return answered(result, status, envelope(tpe))
  }
  const { passed } = await judge(ownIds, { depth: 'quick', way })
  expect([...met].sort()).toEqual(ownIds.toSorted())
  expect(passed).toEqual(expect.arrayContaining(ownIds))
})

describe('an answer that says nothing', () => {
  /** The first answer to a request for that requirement that is one of these is replaced. */
  const once = (
    id: string,
    isIt: (result: HttpResult) => boolean,
    other: (result: HttpResult) => HttpResult,
  ): Way => {
    let met = false
    return async (_, send, { purpose, probe }) => {
      const result = await send()
      const isOf = (purpose?.requirement ?? probe?.operation) === id
      if (met || !isOf || !isIt(result)) return result
      met = true
      return other(result)
    }
  }
  const cut = ({ sentAt, endedAt }: HttpResult) => lost({ staleConnection: true, sentAt, endedAt })

  test('as that to the one of several creations which was granted is lost, is followed by another look', async () => {
    const id = 'graphs.create/400-atomic'
    /** As where connections close unannounced: what comes at once on used ones is carried out. */
    const unlessFresh: Way = async (_, send, { options, purpose }) => {
      const result = await send()
      return purpose?.requirement === id && !options.fresh ? cut(result) : result
    }
    for (const way of [once(id, isGranted, cut), unlessFresh])
      expect((await judge([id], { way })).passed).toEqual([id])
  })

  test('as that to a granted creation which is lost, is followed by a creation with another name', async () => {
    const ids = ['graphs.create/2xx-accepted', 'graphs.add-file/409-already-in-graph']
    let creations = 0
    // Every other one is lost: none is sent for the third time.
    const way: Way = async ({ path }, send) => {
      const result = await send()
      const isCreation = path === '/v1/knowledge-graphs' && isGranted(result)
      return isCreation && creations++ % 2 === 0 ? cut(result) : result
    }
    const { failed, passed } = await judge(ids, { way })
    expect(failed).toEqual([])
    expect(passed).toEqual(expect.arrayContaining(ids))
  })

  test('as that to an addition under a name in use which is lost, accuses nobody', async () => {
    const ids = ['graphs.add-file/2xx-accepted', 'graphs.add-file/409-already-in-graph']
    let losses = 0
    const way: Way = async (_, send, { probe }) => {
      const result = await send()
      const isTwin = probe?.fault === 'file: under a name in use' && isGranted(result)
      return isTwin && losses++ === 0 ? cut(result) : result
    }
    expect((await judge(ids, { way })).failed).toEqual([])
    expect(losses).toBe(1)
  })

  test('as that of a guardrail to an upload of the suite, is asked for again', async () => {
    const blocked = { tpe: 'BadRequest', errors: [{ key: 'fail.guardrail.blocked' }], extras: {} }
    const block = (result: HttpResult) => answered(result, 400, JSON.stringify(blocked))
    const ids = ['graphs.add-file/2xx-accepted', 'graphs.add-file/409-already-in-graph']
    const { passed } = await judge(ids, { way: once('files.upload', () => true, block) })
    expect(passed).toEqual(ids)
  })
})

describe('a target that takes few requests', () => {
  test('at once, three of eight, is judged whole', async () => {
    let open = 0
    const way: Way = async (_, send) => {
      if (open >= 3) return refusal(503, 'ServiceUnavailable')
      open++
      return send().finally(() => open--)
    }
    const only = ['files.*', 'web-search.*', 'graphs.create/*']
    const { failed, results } = await judge(only, { way, depth: 'quick', backoffMs: 250 })
    expect(failed).toEqual([])
    expect(results.filter(({ reason }) => reason?.startsWith('throttled'))).toEqual([])
  })

  test('none for two seconds, when conflicts of jobs are looked for, is asked again', async () => {
    let from: number | undefined
    const way: Way = (_, send, { purpose }) => {
      if (purpose?.requirement === 'jobs.create/409-atomic') from ??= performance.now()
      const isAway = from !== undefined && performance.now() - from < 2000
      return isAway ? refusal(503, 'ServiceUnavailable', { 'retry-after': '1' }) : send()
    }
    const { failed, passed } = await judge(['jobs.create/409-*'], { reference: pace, way })
    expect(failed).toEqual([])
    expect(passed).toHaveLength(4)
    expect(from).toBeDefined()
  })
})

test('of several cases at once a failure is reported, although an earlier one could not be judged', () => {
  const open = { outcome: 'open', why: 'busy' } as const
  const broken = { outcome: 'broken', cases: 1, evidence: [{} as Evidence] } as const
  expect(joined([open, broken, { outcome: 'held', cases: 2 }])).toEqual({ ...broken, cases: 3 })
  expect(joined([{ outcome: 'held', cases: 1 }, open])).toEqual({ ...open, cases: 1 })
})

test('what was just made is used before anything that waits, in a whole run as by itself', async () => {
  const ids = [
    'graphs.create/2xx-usable',
    'applications.create/2xx-usable',
    'files.upload/2xx-retrievable',
  ]
  const defects = ids.map((id) => `${id}#early`)
  const only = ['graphs.*', 'applications.*', 'files.*', 'translate.run/*']
  // ms that a request takes: hundreds of them wait when the first object is made.
  const { failed } = await judge(only, { reference: { defects }, latencyMs: 20 })
  expect(failed).toEqual(expect.arrayContaining(ids))
})

test('if only retrievals are judged, so is one of a job of another application', async () => {
  const id = 'jobs.retrieve/200-identity'
  const reference = { defects: [`${id}#other-application`] }
  expect((await judge(['jobs.retrieve/*'], { reference })).failed).toContain(id)
})
