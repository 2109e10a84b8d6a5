import { expect, test } from 'vitest'
import { judgeReference } from '../matrix/judge-reference.ts'

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)

test('the time of a requirement is that of its own exchanges, whatever else it waits for', async () => {
  // Virtual time: each exchange takes 20 ms, and eight at once make others wait.
  const { results, facts } = await judgeReference(
    { latency: 20 },
    { options: { only: ['files.list/*', 'envelope/shape'] } },
  )
  const judged = results.filter(({ outcome }) => outcome === 'passed')
  expect(judged.length).toBeGreaterThan(3)
  const took = sum(results.map(({ durationMs }) => durationMs))
  expect(took).toBeGreaterThanOrEqual(judged.length * 20)
  expect(took).toBeLessThanOrEqual(facts.requests * 21)
  expect(judged.find(({ id }) => id === 'envelope/shape')?.durationMs).toBe(0)
})
