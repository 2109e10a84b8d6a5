import { validRequest } from './needs.ts'
import { requirements, scenario } from './requirement.ts'

const valid = validRequest['jobs.retrieve']

// prettier-ignore
export const jobsRetrieve = requirements('jobs.retrieve', [
  { id: '200-job', level: 'must', section: '2.3, 4.3', needs: valid, expects: 200,
    statement: 'A retrieval is answered 200 with a job of the shape shown, in every state.',
    control: true, judgedLast: true, effect: 'generates' },
  { id: '200-identity', level: 'must', section: '2.3, 2.4', needs: ['/resources/application'], expects: 200,
    statement: 'The id and application_id of a retrieved job are its own: no two creations give one id, and an older id still reads its own job.',
    judgedLast: true, effect: 'generates', maxRequests: 8, generates: 0 },
  { id: '200-created-at', level: 'must', section: '2.3, 2.4', needs: ['/resources/application'], expects: 200,
    statement: 'The created_at of a job is that of its creation response, reads the same ever after, and is later for a job that is created later.',
    judgedLast: true, effect: 'generates', maxRequests: 1, generates: 1 },
  { id: '200-outcome', level: 'should', section: '6', needs: ['/resources/application'], expects: 200,
    statement: 'A job is completed or failed in the end, so that its outcome can be polled.',
    judgedLast: true, effect: 'generates', maxRequests: 0, generates: 0 },
  { id: '200-failed', level: 'must', section: '2.3, 3', needs: ['/resources/failingApplication'], expects: 200,
    statement: 'A job that failed has status failed; if it has an error, that is a string.',
    judgedLast: true, effect: 'generates', maxRequests: 5 },
  { id: '200-stable', level: 'should', section: '3', needs: valid, expects: 200,
    statement: 'A job that has ended reads the same again.',
    judgedLast: true, effect: 'generates', maxRequests: { named: 39, generated: 'granted' }, generates: 0 },
  { id: '4xx-unknown-job', level: 'must', section: '7.2', needs: valid, expects: [['4xx']],
    statement: 'The retrieval of a job that does not exist is answered by a 4xx (not 401, not 429) with an error envelope.',
    maxRequests: 5 },
  { id: '4xx-foreign-job', level: 'must', section: '5', needs: [scenario], expects: [[403, 'InsufficientAccessRights'], [404, 'ResourceNotFound', 'NotFound']],
    statement: 'The retrieval of a job of an application to which the key has no access is answered 403 InsufficientAccessRights, or 404 ResourceNotFound or NotFound.' },
  { id: '4xx-malformed-id', level: 'must', section: '4.3, 7.2', needs: valid, expects: [['4xx']],
    statement: 'The retrieval of an id that is no uuid is answered by a 4xx (not 401, not 429) with an error envelope.',
    maxRequests: { named: 15, generated: 'refusals' } },
])
