import { expect, test } from 'vitest'
import { judge } from './networks.ts'

test('a mistake while jobs meet each other is no pass, though some had met before', async () => {
  const id = 'jobs.create/409-job-in-progress'
  const { of } = await judge([id, 'jobs.create/409-atomic'], {
    way(_request, send, { purpose }) {
      if (purpose?.about !== 'jobs.create/401-missing-credentials') return send()
      throw new TypeError('nothing.at is not a function')
    },
  })
  expect(of(id)).toMatchObject({
    outcome: 'not-exercised',
    reason: 'a mistake of the suite: nothing.at is not a function',
  })
})
