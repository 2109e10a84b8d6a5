import { application } from './needs.ts'
import { must, should, staged } from './row.ts'

// prettier-ignore
export const jobsCreate = [
  must('jobs.create/202-created', '4.2, 2.4', 'A valid creation is answered 202 with the id, status and created_at of the new job.', [application], 'generates'),
  must('jobs.create/202-retrievable', '4.2, 4.3', 'The id that a creation returned can be retrieved, at the latest 1 s later.', [application], 'generates'),
  should('jobs.create/202-any-text', '2.5', 'Whatever text the input values hold, a creation is never answered by a 5xx.', [application], 'generates'),
  must('jobs.create/400-missing-body', '4.2, 7.2', 'A creation without a body is answered 400 BadRequest, InvalidInputParameters or InvalidContentType.', [application]),
  must('jobs.create/400-missing-inputs', '4.2, 7.2', 'A body without inputs is answered 400 InvalidInputParameters or BadRequest.', [application]),
  must('jobs.create/400-missing-required-inputs', '4.2', 'A creation that lacks a required input is answered 400 InvalidInputParameters.', [application, '/resources/application/requiredInputs']),
  must('jobs.create/400-malformed-inputs', '4.2', 'A body or inputs of another JSON type than shown are answered 400 BadRequest; a fault in an item or in the body itself, or inputs null, also InvalidInputParameters.', [application]),
  staged('jobs.create/403-application-access', '5', 'A creation on an application to which the key has no access is answered 403 InsufficientAccessRights.'),
  must('jobs.create/404-unknown-application', '4.2, 7.3', 'A creation on an application that does not exist is answered 404 ResourceNotFound.', [application]),
  must('jobs.create/409-job-in-progress', '4.2, 8', 'A creation while a job of the application is in progress is answered 409 BadRequest.', [application], 'generates'),
  must('jobs.create/409-released', '4.2', 'Once the job has ended, the application accepts another.', [application], 'generates'),
  must('jobs.create/409-per-application', '8', 'A job in progress on one application does not block another application.', [application, '/resources/otherApplication'], 'generates'),
  must('jobs.create/409-atomic', '8', 'Of concurrent creations on one application, at no time are two jobs in progress.', [application], 'generates'),
]
