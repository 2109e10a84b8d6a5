import { expect, test } from 'vitest'
import { responseOf } from '../support/response.ts'
import type { Exchange } from '../../harness/journal/exchange.ts'
import { lightened, trimmedBody } from '../../harness/journal/event.ts'
import { bodyOf } from '../spec/bodies.ts'
import { validate } from '../../schemas/validate.ts'

const reading = (job: object): Exchange =>
  ({ response: responseOf(200, JSON.stringify(job)) }) as Partial<Exchange> as Exchange

const job = {
  ...bodyOf('job'),
  id: '7d1f2c3b-8a4e-4b5f-9c6d-7e8f90a1b2c3',
  status: 'completed',
  application_id: 'a-1',
  created_at: '2026-01-01T00:00:00Z',
}

test('a small reading stays as it is', () => {
  const small = reading({ ...job, data: { title: 'tea' } })
  expect(lightened(small)).toBe(small)
})

test.each([
  ['a large result', { data: { title: 'x'.repeat(100_000) } }, true],
  ['a result that is not an object', { data: ['x'.repeat(100_000)] }, false],
  ['an error that is not text', { error: [1], data: { title: 'x'.repeat(100_000) } }, false],
  ['an endless fraction', { created_at: `2026-01-01T00:00:00.${'7'.repeat(100_000)}+02:00` }, true],
  [
    'an endless fraction without a zone',
    { created_at: `2026-01-01T00:00:00.${'7'.repeat(100_000)}` },
    false,
  ],
  ['an endless id', { id: 'x'.repeat(100_000) }, false],
])('a large reading fits the shape of a job as before: %s', (_, more, fits) => {
  const whole = reading({ ...job, ...more })
  const json = lightened(whole).response?.json()
  expect(json?.ok && JSON.stringify(json.value).length).toBeLessThan(3000)
  expect(json?.ok && json.value).toEqual(trimmedBody({ ...job, ...more }))
  expect(validate('job', { ...job, ...more }).valid).toBe(fits)
  expect(json?.ok && validate('job', json.value).valid).toBe(fits)
})

test('of a large body that is not JSON only the beginning is kept', () => {
  const page = '<html>'.repeat(20_000)
  for (const response of [responseOf(200, page), responseOf(200, `"${page}"`, {}, true)]) {
    expect(response.size).toBeGreaterThan(100_000)
    expect(response.text(response.size)).toHaveLength(4096)
  }
})
