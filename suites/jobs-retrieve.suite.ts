import { unknown } from '../harness/words/conditions.ts'
import { refusals } from '../harness/words/refusals.ts'
import { must, should } from '../harness/words/registry.ts'
import { judgeCreatedAt } from './jobs-retrieve/created-at.ts'
import { malformedId } from './jobs-retrieve/malformed-id.ts'
import { judgeFailedJob, judgeIdentity, judgeJobs, judgeOutcome } from './jobs-retrieve/rows.ts'
import { judgeStable } from './jobs-retrieve/stable.ts'

// §4.3 Retrieve job. The spec names no error of an unknown or malformed id: any 4xx with an envelope will do.

must('jobs.retrieve/200-job', judgeJobs)
must('jobs.retrieve/200-identity', judgeIdentity)
must('jobs.retrieve/200-created-at', judgeCreatedAt)
should('jobs.retrieve/200-outcome', judgeOutcome)
must('jobs.retrieve/200-failed', judgeFailedJob)
should('jobs.retrieve/200-stable', judgeStable)

refusals('jobs.retrieve', [
  { id: 'jobs.retrieve/4xx-unknown-job', when: unknown('job_id'), gives: [['4xx']] },
  { id: 'jobs.retrieve/4xx-malformed-id', when: malformedId, gives: [['4xx']] },
])
