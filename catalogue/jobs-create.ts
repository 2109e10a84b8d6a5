import { anyBadRequest } from './answers.ts'
import { validRequest } from './needs.ts'
import { rows, scenario } from './row.ts'

const valid = validRequest['jobs.create']

// prettier-ignore
export const jobsCreate = rows('jobs.create', [
  { id: '202-created', level: 'must', section: '4.2, 2.4', needs: valid, gives: 202,
    says: 'A valid creation is answered 202 with the id, status and created_at of the new job.',
    control: true, effect: 'generates' },
  { id: '202-retrievable', level: 'must', section: '4.2, 4.3', needs: valid, gives: 200,
    says: 'The id that a creation returned can be retrieved, at the latest settleMs later.',
    effect: 'generates', maxRequests: 3, generates: 0 },
  { id: '202-any-text', level: 'should', section: '2.5', needs: valid,
    says: 'Whatever text the input values hold, a creation is never answered by a 5xx.',
    effect: 'generates', maxRequests: { named: 10, generated: 'granted' }, generates: { named: 1, generated: 'granted' } },
  { id: '400-missing-body', level: 'must', section: '4.2, 7.2', needs: valid, gives: anyBadRequest,
    says: 'A creation without a body is answered 400 BadRequest, InvalidInputParameters or InvalidContentType.' },
  { id: '400-missing-inputs', level: 'must', section: '4.2, 7.2', needs: valid, gives: [[400, 'InvalidInputParameters', 'BadRequest']],
    says: 'A body without inputs is answered 400 InvalidInputParameters or BadRequest.' },
  { id: '400-missing-required-inputs', level: 'must', section: '4.2', needs: [...valid, '/resources/application/requiredInputs'], gives: [[400, 'InvalidInputParameters']],
    says: 'A creation that lacks a required input is answered 400 InvalidInputParameters.',
    maxRequests: ({ resources }) => resources.application?.requiredInputs.length ?? 0 },
  { id: '400-malformed-inputs', level: 'must', section: '4.2', needs: valid, gives: [[400, 'BadRequest', 'InvalidInputParameters']],
    says: 'A body, inputs, an item of them, or its id or value of another JSON type than shown are answered 400 BadRequest or InvalidInputParameters.',
    maxRequests: { named: 38, generated: 'refusals' } },
  { id: '403-application-access', level: 'must', section: '5', needs: [scenario], gives: [[403, 'InsufficientAccessRights']],
    says: 'A creation on an application to which the key has no access is answered 403 InsufficientAccessRights.' },
  { id: '404-unknown-application', level: 'must', section: '4.2, 7.3', needs: valid, gives: [[404, 'ResourceNotFound']],
    says: 'A creation on an application that does not exist is answered 404 ResourceNotFound.' },
  { id: '409-job-in-progress', level: 'must', section: '4.2, 8', needs: valid, gives: [[409, 'BadRequest']],
    says: 'A creation while a job of the application is in progress is answered 409 BadRequest.',
    effect: 'generates', maxRequests: 6, generates: 6 },
  { id: '409-released', level: 'must', section: '4.2', needs: valid, gives: 202,
    says: 'Once the job has ended, completed or failed, the application accepts another.',
    effect: 'generates', maxRequests: 3, generates: 3 },
  { id: '409-per-application', level: 'must', section: '8', needs: [...valid, '/resources/otherApplication'], gives: 202,
    says: 'A job in progress on one application does not block another application.',
    effect: 'generates', maxRequests: 6, generates: 6 },
  { id: '409-atomic', level: 'must', section: '8', needs: valid, gives: [[409, 'BadRequest']],
    says: 'Of concurrent creations on one application, at no time are two jobs in progress.',
    effect: 'generates', maxRequests: 45, generates: 18 },
])
