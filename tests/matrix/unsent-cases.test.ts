import { expect, test } from 'vitest'
import { concluded, type Judged } from '../../harness/checks/rules.ts'
import { defaultLimits } from '../../harness/target/model.ts'
import { judge } from '../engine/networks.ts'
import { judgeLenient } from './lenient.ts'

/** No requirement of which a single case was left out passes. */

const badInput = ['*/bad-input-no-5xx']
/** All that other requirements make a target generate that declares everything (tests/matrix/whole-run.test.ts). */
const generatedOtherwise = 187

test('the usual maxGenerations is enough for a target that grants whatever it may', async () => {
  const left = defaultLimits.maxGenerations - generatedOtherwise
  const { rows, reasons } = await judgeLenient('single faults', left, badInput)
  expect(reasons).toEqual([])
  expect(rows.filter(({ outcome }) => outcome === 'passed').length).toBeGreaterThan(6)
})

test('a requirement whose cases exceed maxGenerations is not exercised, and says which limit would do', async () => {
  const { reasons, generated } = await judgeLenient('single faults', 100, badInput)
  expect(generated).toBeLessThanOrEqual(100)
  expect(reasons.length).toBeGreaterThan(0)
  const limits = reasons.map((reason) => {
    const [, limit, enough, left, all] =
      /^maxGenerations: .* limits\.maxGenerations \((\d+)\) is used up; (\d+) would be enough; (\d+) of (\d+) cases were not judged$/.exec(
        reason,
      ) ?? []
    expect(Number(left), reason).toBeGreaterThan(0)
    expect(Number(left), reason).toBeLessThan(Number(all))
    expect(limit).toBe('100')
    return Number(enough)
  })
  expect((await judgeLenient('single faults', Math.max(...limits), badInput)).reasons).toEqual([])
})

test('nothing that is sent at once passes with a concurrency of 1', async () => {
  const only = ['*/2xx-own-id', '*/400-atomic', 'jobs.create/409-atomic']
  const { results } = await judge(only, { limits: { concurrency: 1 } })
  const needed = 'concurrent creations need limits.concurrency of 2 or more'
  const left = results.filter(({ reason }) => reason === needed).map(({ operation }) => operation)
  expect(left.length).toBeGreaterThan(5)
  expect(results.flatMap(({ id, outcome }) => (outcome === 'passed' ? [id] : []))).toEqual([])
})

const held: Judged = { outcome: 'held', cases: 1 }
const left = (reason: string): Judged => ({ outcome: 'open', why: { reason }, isFurther: true })

test.each([
  ['judged', [held, held], 'held', undefined],
  ['left', [held, left('it rains')], 'open', 'it rains; 1 of 2 cases were not judged'],
  ['all left', [left('it rains'), left('it snows')], 'open', 'it rains'],
] as const)(
  'a requirement passes if all cases that it planned were judged: %s',
  (_, seen, outcome, why) => {
    const verdict = concluded(seen)
    expect([verdict.outcome, 'why' in verdict ? verdict.why : undefined]).toEqual([outcome, why])
  },
)
