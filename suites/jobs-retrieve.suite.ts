import { suite } from '../harness/checks/suite.ts'
import {
  malformedId,
  unknownJob,
  judgeCreatedAt,
  judgeFailedJob,
  judgeIdentity,
  judgeJobs,
  judgeOutcome,
} from './jobs/requirements.ts'
import { judgeStable } from './jobs/stable.ts'

// §4.3 Retrieve job. The spec names no error of an unknown or malformed id: any 4xx with an envelope will do.

export const jobsRetrieve = suite('jobs.retrieve', {
  '200-job': judgeJobs,
  '200-identity': judgeIdentity,
  '200-created-at': judgeCreatedAt,
  '200-outcome': judgeOutcome,
  '200-failed': judgeFailedJob,
  '200-stable': judgeStable,
  '4xx-unknown-job': unknownJob,
  '4xx-malformed-id': malformedId,
})
