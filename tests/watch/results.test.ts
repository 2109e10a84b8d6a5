import { expect, test } from 'vitest'
import { forFailed, learn } from '../../cli/watch.ts'
import type { RequirementResult } from '../../harness/report/report-schema.ts'
import { leftOut } from '../../harness/report/reason.ts'
import { failed, missed, report, result } from '../gates/results.ts'

test('what changed is reported of what was judged, by its last judgement', () => {
  const known = new Map<string, RequirementResult>()
  learn(known, report([failed('a.b/1'), result('a.b/2'), failed('a.b/3'), failed('a.b/4')]))
  const part = report([
    result('a.b/1'),
    failed('a.b/2'),
    missed('a.b/3'),
    missed('a.b/4', leftOut('--only')),
  ])
  const changes = { newlyFailed: ['a.b/2'], newlyPassed: ['a.b/1'], lost: ['a.b/3'] }
  expect(learn(known, part)).toEqual({ ...changes, stillFailed: 0 })
  // What could not be judged has not passed, and a part says nothing of the rest.
  const still = [...known.values()].filter(({ outcome }) => outcome === 'failed')
  expect(still.map(({ id }) => id)).toEqual(['a.b/2', 'a.b/3', 'a.b/4'])
  const none = { newlyFailed: [], newlyPassed: [], lost: [] }
  expect(learn(known, part)).toEqual({ ...none, lost: ['a.b/3'], stillFailed: 1 })
})

test('a run of what failed judges what shows it, with the inputs that it had, and writes no report', () => {
  const given = { only: ['jobs.*'], skip: ['*/401-*'], header: {}, report: ['json'], seed: 1 }
  const id = 'jobs.create/202-created'
  const rerunIds = [id, 'files.list/2xx-accepted', 'no/such-id']
  const options = { ...given, tpe: 'exact', depth: 'full' } as const
  expect(forFailed(options, [failed(id, { rerunIds, seed: 99 })])).toMatchObject({
    ...{ only: [id, 'files.list/2xx-accepted'], skip: [], report: [], seed: 99 },
  })
})
