import { expect, test } from 'vitest'
import { judgeReference } from '../matrix/judge-reference.ts'

/** So long a request takes, in ms: hundreds of them wait when the first object is made. */
const latencyMs = 20

test('what was just made is used before anything that waits, in a whole run as by itself', async () => {
  const ids = [
    'graphs.create/2xx-usable',
    'applications.create/2xx-usable',
    'files.upload/2xx-retrievable',
  ]
  const defects = ids.map((id) => `${id}#early`)
  const { failed } = await judgeReference({ defects }, { latencyMs })
  expect(failed).toEqual(expect.arrayContaining(ids))
})

test('if only retrievals are judged, so is one of a job of another application', async () => {
  const id = 'jobs.retrieve/200-identity'
  const defects = [`${id}#other-application`]
  const { failed } = await judgeReference({ defects }, { options: { only: ['jobs.retrieve/*'] } })
  expect(failed).toEqual([id])
})
