/** Servers that check keys only for some objects. */
import { expect, test } from 'vitest'
import target from '../../fixtures/reference.target.json' with { type: 'json' }
import { answer, judge } from './networks.ts'

const { otherApplication: _, ...resources } = target.resources
const declared: unknown[] = Object.values(resources).map((one) =>
  typeof one === 'object' ? one.id : one,
)

const operations = [
  'jobs.create',
  'jobs.retrieve',
  'files.retrieve',
  'graphs.query',
  'graphs.add-file',
  'pdf.parse',
]
const rows = [
  '401-missing-credentials',
  '401-malformed-key',
  '401-invalid-key',
  '401-expired-key',
  '403-insufficient-rights',
]

test('keys are checked for the other application, and for what the run made', async () => {
  const ids = operations.flatMap((operation) => rows.map((row) => `${operation}/${row}`))
  const { failed } = await judge(ids, {
    way: (_request, send, { probe }) => {
      const isOfOther = Object.values(probe?.params ?? {}).some((id) => !declared.includes(id))
      return isOfOther && !probe!.credential.full ? answer(200, '{}') : send()
    },
  })
  expect(failed).toEqual(expect.arrayContaining(ids))
})

test.each(['full', 'quick'] as const)(
  'a job that is read without a key while it is in progress: %s',
  async (depth) => {
    const attack = 'jobs.create/409-job-in-progress'
    const id = 'jobs.retrieve/401-missing-credentials'
    const { of } = await judge([id, attack], {
      depth,
      way: (_request, send, { probe, purpose }) =>
        probe?.operation === 'jobs.retrieve' &&
        !probe.credential.full &&
        purpose?.requirement === attack
          ? answer(200, '{}')
          : send(),
    })
    expect(of(id)).toMatchObject({
      outcome: 'failed',
      failures: [{ rerunIds: [id, attack] }],
    })
  },
)
