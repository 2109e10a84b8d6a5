import { unknown } from '../../harness/checks/conditions.ts'
import { refusals } from '../../harness/checks/refusals.ts'
import { must, nothingMore, should } from '../../harness/checks/registry.ts'
import { judgeCreatedAt } from './created-at.ts'
import { malformedId } from './malformed-id.ts'
import { judgeFailedJob, judgeIdentity, judgeJobs, judgeOutcome } from './rows.ts'
import { settlingLooks } from './lifecycle.ts'
import { judgeStable, moreLooks } from './stable.ts'

// §4.3 Retrieve job. The spec names no error of an unknown or malformed id: any 4xx with an envelope will do.

must('jobs.retrieve/200-job', judgeJobs, nothingMore)
must('jobs.retrieve/200-identity', judgeIdentity, nothingMore)
must('jobs.retrieve/200-created-at', judgeCreatedAt, nothingMore)
should('jobs.retrieve/200-outcome', judgeOutcome, nothingMore)
must('jobs.retrieve/200-failed', judgeFailedJob, () => settlingLooks)
should('jobs.retrieve/200-stable', judgeStable, () => moreLooks)

refusals('jobs.retrieve', [
  { id: 'jobs.retrieve/4xx-unknown-job', when: unknown('job_id'), gives: [['4xx']] },
  { id: 'jobs.retrieve/4xx-malformed-id', when: malformedId, gives: [['4xx']] },
])
