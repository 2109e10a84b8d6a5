import { describe, expect, test } from 'vitest'
import { judge } from '../engine/networks.ts'

/** @param nth counts all readings of the run, from 0 */
type Change = (job: Record<string, unknown>, nth: number) => object

/** Judges the jobs of the reference, whose readings show what `change` makes of them. */
async function judgeChanged(change: Change) {
  let readings = 0
  const { failed } = await judge(['jobs.retrieve/*'], {
    reference: { jobMs: 15, slowJobMs: 120 },
    instead: (reference) => async (request) => {
      const response = await reference(request)
      const isReading = request.method === 'GET' && request.url.includes('/applications/jobs/')
      if (!isReading || response.status !== 200) return response
      return Response.json(change((await response.json()) as Record<string, unknown>, readings++))
    },
  })
  return { failed, readings }
}

const judgeWith = (wrong: number | undefined) =>
  judgeChanged((job, nth) => (nth === wrong ? { ...job, status: 'done' } : job))

// What a row reads, other rows must see, whatever the order in which they are judged.
describe('a job is read many times, and one reading alone is wrong', async () => {
  const { failed, readings } = await judgeWith(undefined)
  test('none is wrong', () => {
    expect(failed).toEqual([])
    expect(readings).toBeGreaterThan(10)
  })
  const some = Array.from({ length: readings }, (_, at) => at).filter((at) => at % 4 === 0)
  test.each(some)(
    'a status that does not exist, in reading %d alone, fails a requirement',
    async (at) => {
      const { failed } = await judgeWith(at)
      expect(failed).not.toEqual([])
    },
  )
})

describe('each other reading says the same in another way', () => {
  const inOffset = (at: unknown): string =>
    `${new Date(Date.parse(String(at)) + 3_600_000).toISOString().slice(0, -1)}+01:00`
  const rewritten: Record<string, (job: Record<string, unknown>) => object> = {
    'the id in the other letter case': (job) => ({ ...job, id: String(job['id']).toUpperCase() }),
    'times with another offset': (job) => ({
      ...job,
      created_at: inOffset(job['created_at']),
      ...(job['completed_at'] !== undefined && { completed_at: inOffset(job['completed_at']) }),
    }),
  }
  test.each(Object.entries(rewritten))('%s', async (_, rewrite) => {
    const { failed } = await judgeChanged((job, nth) => (nth % 2 === 0 ? job : rewrite(job)))
    expect(failed).toEqual([])
  })
})

test('copies that show the end of a job later than the first one fail nothing', async () => {
  const endedAt = new Map<unknown, number>()
  const { failed } = await judgeChanged((job) => {
    if (job['status'] === 'in_progress') return job
    const at = endedAt.get(job['id'])
    if (at === undefined) endedAt.set(job['id'], performance.now())
    const lags = at !== undefined && performance.now() - at < 900
    const { id, application_id, created_at } = job
    return lags ? { id, status: 'in_progress', application_id, created_at } : job
  })
  expect(failed).toEqual([])
})
