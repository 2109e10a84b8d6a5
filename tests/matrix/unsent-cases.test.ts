import { expect, test } from 'vitest'
import { defaultLimits } from '../../harness/target/model.ts'
import type { HttpRequest } from '../../harness/http/message.ts'
import { judge, type Way } from '../engine/networks.ts'

/** No requirement of which a single case was left out passes. */

/**
 * Judges a server that grants bad input by itself: it does with the request what it does with a valid one. Gives the requirements
 * on it, the reasons of those that were not judged whole, and how much was generated.
 */
async function judgeLenient(maxGenerations: number) {
  const valid = new Map<string, HttpRequest>()
  const way: Way = (request, send, { probe, purpose }) => {
    const known = valid.get(probe?.operation ?? '')
    if (purpose?.role === 'control' && !known) valid.set(probe?.operation ?? '', request)
    const isBad = purpose?.requirement?.endsWith('/bad-input-no-5xx')
    if (!isBad || probe?.effect !== 'generates' || !known) return send()
    return send(probe.fault?.includes(' + ') ? { ...known, body: '"text"' } : known)
  }
  let generated = 0
  const { results } = await judge(['*/bad-input-no-5xx'], {
    ...{ grantedRuns: 5, refusalRuns: 1, limits: { maxGenerations }, way },
    observe({ probe, response }) {
      if (probe.effect === 'generates' && response?.isGranted) generated++
    },
  })
  const rows = results.filter(({ id }) => /^(?!envelope).*\/bad-input-no-5xx$/.test(id))
  return { rows, reasons: rows.flatMap(({ reason }) => reason ?? []), generated }
}

/** All that other requirements make a target generate that declares everything (tests/matrix/whole-run.test.ts). */
const generatedOtherwise = 187

test('a requirement whose cases exceed maxGenerations is not exercised, and says which limit would do: less than the usual one', async () => {
  const { reasons, generated } = await judgeLenient(100)
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
  const enough = Math.max(...limits)
  expect(enough).toBeLessThanOrEqual(defaultLimits.maxGenerations - generatedOtherwise)
  const whole = await judgeLenient(enough)
  expect(whole.reasons).toEqual([])
  expect(whole.rows.filter(({ outcome }) => outcome === 'passed').length).toBeGreaterThan(6)
})

test('nothing that is sent at once passes with a concurrency of 1', async () => {
  const only = ['*/2xx-own-id', '*/400-atomic', 'jobs.create/409-atomic']
  const { results } = await judge(only, { limits: { concurrency: 1 } })
  const needed = 'concurrent creations need limits.concurrency of 2 or more'
  const left = results.filter(({ reason }) => reason === needed).map(({ operation }) => operation)
  expect(left.length).toBeGreaterThan(5)
  expect(results.flatMap(({ id, outcome }) => (outcome === 'passed' ? [id] : []))).toEqual([])
})
