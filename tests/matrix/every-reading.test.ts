import { describe, expect, test } from 'vitest'
import { judge } from '../engine/networks.ts'

/** Judges the jobs of the reference; the `wrong`th reading of a job shows no status that there is. */
async function judgeWith(wrong?: number) {
  let readings = 0
  const { failed } = await judge(['jobs.retrieve/*'], {
    reference: { jobMs: 15, slowJobMs: 120 },
    instead: (reference) => async (request) => {
      const response = await reference(request)
      const isReading = request.method === 'GET' && request.url.includes('/applications/jobs/')
      if (!isReading || response.status !== 200 || readings++ !== wrong) return response
      return Response.json({ ...((await response.json()) as object), status: 'done' })
    },
  })
  return { failed, readings }
}

// What a row reads, other rows must see, whatever the order in which they are judged.
describe('a job is read many times, and one reading alone is wrong', async () => {
  const { failed, readings } = await judgeWith()
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
