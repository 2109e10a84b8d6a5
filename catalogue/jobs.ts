import {
  accepted,
  byScenario,
  namedCreations,
  noAccess,
  requirements,
  scenario,
  valid,
} from './requirement.ts'
import { anyBadRequest } from './answers.ts'

/** Judged by all jobs of the run; those that it lacks are created. */
const ofHistory = { judgedLast: true, effect: 'generates' } as const

// oxfmt-ignore
export const jobsCreate = requirements('jobs.create', [
  { id: '202-created', section: '4.2, 2.4', expects: 202,
    statement: 'A valid creation returns 202 with the id, status and created_at of the new job.', control: true, judgedLast: true },
  { id: '202-retrievable', section: '4.2, 4.3', expects: 200,
    statement: 'The id that a creation returns can be retrieved, at the latest settleMs later.', seenBy: ['jobs.retrieve'], ...ofHistory, atMost: { requests: 5 } },
  { id: '202-required-inputs-only', section: '4.2', needs: [valid, '/resources/application/requiredInputs'], expects: 202,
    statement: 'A creation with just the required inputs returns 202.', effect: 'generates' },
  { id: '202-any-text', section: '2.5',
    statement: 'No text of up to 2,000 characters in the input values causes a 5xx.',
    effect: 'generates', atMost: { requests: 15, generates: 3, andGenerated: true } },
  { id: '400-missing-body', section: '4.2, 7.2', expects: anyBadRequest, refused: 'A creation without a body' },
  { id: '400-missing-inputs', section: '4.2, 7.2', expects: [[400, 'InvalidInputParameters', 'BadRequest']], refused: 'A body without inputs' },
  { id: '400-missing-required-inputs', section: '4.2', needs: [valid, '/resources/application/requiredInputs'], expects: [[400, 'InvalidInputParameters']],
    refused: 'A creation that lacks a required input' },
  { id: '400-malformed-inputs', section: '4.2', expects: [[400, 'BadRequest', 'InvalidInputParameters']],
    statement: 'Wrong JSON types anywhere in inputs get 400 BadRequest or InvalidInputParameters.' },
  noAccess('403-application-access', 'A creation on an application'),
  { id: '404-unknown-application', section: '4.2, 7.3', expects: [[404, 'ResourceNotFound']],
    refused: 'A creation on an application that does not exist' },
  { id: '409-job-in-progress', section: '4.2, 8', expects: [[409, 'BadRequest']],
    refused: 'A creation while a job of the application is in progress', fault: 'state', ...ofHistory, atMost: { requests: 110, generates: 6 } },
  { id: '409-released', section: '4.2', expects: 202,
    statement: 'Once the job has ended, completed or failed, the application accepts another.', ...ofHistory, atMost: { requests: 8, generates: 6 } },
  { id: '4xx-no-effect', section: '4.2, 5, 8', expects: 202,
    statement: 'A refused creation starts no job: the application stays free.', ...ofHistory, atMost: { requests: 40, generates: 13 } },
  { id: '409-per-application', section: '8', needs: [valid, '/resources/otherApplication'], expects: 202,
    statement: 'A job in progress on one application does not block another application.', ...ofHistory, atMost: { requests: 9, generates: 6 } },
  { id: '409-atomic', section: '8', expects: [[409, 'BadRequest']],
    statement: 'Concurrent creations on one application never put two of its jobs in progress at once.', ...ofHistory, atMost: { requests: 60, generates: 24 } },
])

// oxfmt-ignore
export const jobsRetrieve = requirements('jobs.retrieve', [
  { id: '200-job', section: '2.3, 4.3', expects: 200,
    statement: 'A retrieval returns 200 and a job of the documented shape, in every state.', control: true, judgedLast: true },
  { id: '200-identity', section: '2.3, 2.4', needs: ['/resources/application'], expects: 200,
    statement: 'Every job has a unique id, and each id keeps returning the same job with its own application_id.',
    ...ofHistory, seenBy: ['jobs.create'], atMost: { requests: 8, generates: 1 } },
  { id: '200-created-at', section: '2.3, 2.4', needs: ['/resources/application'], expects: 200,
    statement: 'The created_at of a job equals the one in the creation response, never changes, and is later for a job that was created later.',
    ...ofHistory, seenBy: ['jobs.create'], atMost: { requests: 1, generates: 1 } },
  { id: '200-outcome', level: 'should', section: '6', needs: ['/resources/application'], expects: 200,
    statement: 'Every job ends as completed or failed.', ...ofHistory, seenBy: ['jobs.create'], atMost: { requests: 0 } },
  { id: '200-failed', section: '2.3, 3', needs: ['/resources/failingApplication'], expects: 200,
    statement: 'A failed job has status failed; its error, if present, is a string.', ...ofHistory, seenBy: ['jobs.create'], atMost: { requests: 5, generates: 1 } },
  { id: '200-stable', level: 'should', section: '3', expects: 200,
    statement: 'A job that has ended reads the same again.', ...ofHistory, atMost: { requests: 24 } },
  { id: '200-consistent', level: 'should', section: '2.3', expects: 200,
    statement: "A job's fields match its status and timestamps: no result before its end, no end before its creation.", ...ofHistory, atMost: { requests: 0 } },
  { id: '4xx-unknown-job', section: '7.2', expects: [['4xx-id']],
    refused: 'Reading a job that does not exist' },
  { id: '4xx-foreign-job', section: '5', needs: [scenario], expects: [[403, 'InsufficientAccessRights'], [404, 'ResourceNotFound', 'NotFound']],
    refused: 'Reading a job of an application that the key may not access', times: 3 },
  { id: '4xx-malformed-id', section: '4.3, 7.2', expects: [['4xx']],
    refused: 'Reading an id that is not a uuid' },
])

// oxfmt-ignore
export const applicationsCreate = requirements('applications.create', [
  accepted('Creating an application'),
  { id: '2xx-usable', section: '4.4',
    statement: 'A created application takes a job at the latest settleMs later, and again at the end of the run: no 404, 410 or 5xx.',
    seenBy: ['jobs.create'], effect: 'creates', atMost: { requests: 1, generates: 7, also: { 'jobs.create': 15 } } },
  ...namedCreations(18),
  byScenario('400-invalid-blueprint', [[400, 'InvalidInputParameters']], 'A blueprint with a syntax or configuration error'),
  { id: '400-duplicate-name', expects: [[400, 'BadRequest']],
    statement: 'An application with a name that exists gets 400 BadRequest, every time.', effect: 'creates', atMost: { requests: 6 } },
])
