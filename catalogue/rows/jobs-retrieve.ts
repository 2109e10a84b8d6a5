import { application, someJob } from './needs.ts'
import { must, should } from './row.ts'

// prettier-ignore
export const jobsRetrieve = [
  must('jobs.retrieve/200-job', '2.3, 4.3', 'A retrieval is answered 200 with a job of the shape shown, in every state.', [someJob], 'generates'),
  must('jobs.retrieve/200-identity', '2.3', 'The id and application_id of a retrieved job are its own.', [application], 'generates'),
  must('jobs.retrieve/200-created-at', '2.3, 2.4', 'The created_at of a job is that of its creation response, and reads the same ever after.', [application], 'generates'),
  should('jobs.retrieve/200-outcome', '6', 'A job is completed or failed in the end, so that its outcome can be polled.', [application], 'generates'),
  must('jobs.retrieve/200-failed', '2.3, 3', 'A job that failed has status failed and, where an error is present, a string.', ['/resources/failingApplication'], 'generates'),
  should('jobs.retrieve/200-stable', '3', 'A job that has ended reads the same again.', [someJob], 'generates'),
  must('jobs.retrieve/4xx-unknown-job', '7.2', 'The retrieval of a job that does not exist is answered by a 4xx (not 401, not 429) with an error envelope.', [someJob]),
  must('jobs.retrieve/4xx-malformed-id', '4.3, 7.2', 'The retrieval of an id that is no uuid is answered by a 4xx (not 401, not 429) with an error envelope.', [someJob]),
]
