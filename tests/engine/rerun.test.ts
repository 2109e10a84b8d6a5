import { expect, test } from 'vitest'
import type { RequirementResult } from '../../harness/report/model.ts'
import { judgeReference } from '../matrix/judge-reference.ts'

const pace = { jobMs: 15, slowJobMs: 1200 }

const resultOf = (results: readonly RequirementResult[], id: string) => results.find((result) => result.id === id)

// Failures of state: the request that shows it needs other jobs, or others sent before it.
test.each([
  ['jobs.retrieve/200-identity#newest-job', 'job-of-run'],
  ['jobs.retrieve/200-created-at#newest-job', 'job-of-run'],
  ['jobs.retrieve/200-created-at#same-for-all', 'job-of-run'],
  ['jobs.retrieve/200-job#second-5xx', 'job-of-run'],
  ['jobs.retrieve/200-stable', 'job-of-run'],
  ['jobs.create/409-job-in-progress#parallel', 'job-in-progress'],
  ['jobs.create/409-released', 'job-before'],
  ['jobs.create/409-per-application', 'job-elsewhere'],
  ['jobs.create/409-atomic', 'requests-at-once'],
  ['jobs.create/4xx-no-effect#starts-job', 'refusal-before'],
  ['graphs.create/400-duplicate-name', 'object-of-run'],
] as const)('%s is shown again by the requirements that its failure names', async (defect, takes) => {
  const [id = ''] = defect.split('#')
  const only = ['jobs.*', `${id.split('/')[0]}/*`]
  const first = await judgeReference({ ...pace, defects: [defect] }, { options: { only } })
  const failure = resultOf(first.results, id)?.failures[0]
  expect(failure?.takes).toBe(takes)
  const { rerunIds = [], rerun = '' } = failure ?? {}
  expect(rerun).toBe(`conform ${rerunIds.map((one) => `--only ${one}`).join(' ')} --seed 421`)
  expect(rerunIds.length).toBeLessThan(20)
  const again = await judgeReference({ ...pace, defects: [defect] }, { options: { only: rerunIds, nonce: 'else' } })
  expect(resultOf(again.results, id)?.outcome).toBe('failed')
})
