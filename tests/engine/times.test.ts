import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { judgeReference } from '../matrix/judge-reference.ts'
import { judgeBehind } from './behind.ts'

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

test.each([
  ['goes on', true, 'not-exercised'],
  ['stands still', false, 'failed'],
] as const)('an answer that %s when its time is over', async (_, goesOn, outcome) => {
  const slow = async (response: Response): Promise<Response> => {
    const text = new Uint8Array(await response.arrayBuffer()).subarray(0, 8)
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        controller.enqueue(text)
        await sleep(100)
        if (!goesOn) await new Promise(() => undefined)
      },
    })
    return new Response(body, { headers: { 'content-length': '70040' } })
  }
  const id = 'translate.run/bad-input-no-5xx'
  const { report } = await judgeBehind(
    async (_path, answer, _ms, request) => {
      const length = Buffer.from(await request.arrayBuffer()).length
      return length > 60_000 ? slow(await answer()) : answer()
    },
    { only: [id], refusalRuns: 4 },
  )
  const row = report.requirements.find((one) => one.id === id)!
  expect(row.outcome).toBe(outcome)
  const said = row.reason ?? row.failures[0]!.actual
  expect(said).toMatch(
    goesOn
      ? /^the answer did not end within 1,000 ms: \d+ of 70,040 bytes of the body had come, and it went on; declare a longer limits\.timeoutMs/
      : /^no answer: the answer did not end within 1,000 ms: 8 of 70,040 bytes of the body had come \(limits/,
  )
})
