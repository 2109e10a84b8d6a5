import { describe, expect, test } from 'vitest'
import { createReference } from '../../reference/server.ts'
import { inVirtualTime } from '../support/virtual-time.ts'
import { idsOf, judgeUrl, transportTo } from './judge-reference.ts'

/** Judges the jobs of the reference, whose `wrong`th reading of a job shows no status that there is; from 0. */
function judgeWith(wrong: number | undefined): Promise<{ failed: string[]; readings: number }> {
  return inVirtualTime(async () => {
    const reference = createReference({ jobMs: 15, slowJobMs: 120 })
    let readings = 0
    const handle: typeof reference.handle = async (request) => {
      const response = await reference.handle(request)
      const isReading = request.method === 'GET' && request.url.includes('/applications/jobs/')
      if (!isReading || response.status !== 200) return response
      const job = (await response.json()) as object
      return Response.json(readings++ === wrong ? { ...job, status: 'done' } : job)
    }
    const transport = transportTo({ ...reference, handle })
    const { results } = await judgeUrl(reference.url, { transport, options: { only: ['jobs.retrieve/*'] } })
    return { failed: idsOf(results, 'failed'), readings }
  })
}

// What a row reads, other rows must see, whatever the order in which they are judged.
describe('a job is read many times, and one reading alone is wrong', async () => {
  const { failed, readings } = await judgeWith(undefined)
  test('none is wrong', () => {
    expect(failed).toEqual([])
    expect(readings).toBeGreaterThan(10)
  })
  test.each(Array.from({ length: readings }, (_, at) => at))('reading %d', async (at) => {
    const { failed } = await judgeWith(at)
    expect(failed).not.toEqual([])
  })
})
