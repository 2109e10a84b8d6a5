import { requirements, scenario } from './requirement.ts'

// prettier-ignore
export const general = requirements('general', [
  { id: '409-conflict', level: 'must', section: '7.2', needs: [scenario], expects: [[409, 'Conflict']],
    statement: 'A duplicate resource, version conflict or state conflict is answered 409 with a code name of that status, or a type that the operation lists with it.',
    alsoListed: true },
  { id: '410-gone', level: 'must', section: '7.2', needs: [scenario], expects: [[410, 'Gone']],
    statement: 'A resource that was deleted or has expired is answered 410 with a code name of that status, or a type that the operation lists with it.',
    alsoListed: true },
  { id: '413-payload-too-large', level: 'must', section: '7.2', needs: [scenario], expects: [[413, 'PayloadTooLarge', 'BadRequest', 'InvalidInputParameters']],
    statement: 'A request body over the size limits is answered 413 with a code name of that status, BadRequest or InvalidInputParameters, or a type that the operation lists with it.',
    alsoListed: true },
  { id: '422-unprocessable', level: 'must', section: '7.2', needs: [scenario], expects: [[422, 'UnprocessableEntity']],
    statement: 'A semantically invalid request is answered 422 with a code name of that status, or a type that the operation lists with it.',
    alsoListed: true },
  { id: '500-internal-error', level: 'must', section: '7.2', needs: [scenario], expects: [[500, 'InternalServerError', 'InternalError']],
    statement: 'A processing issue of the server is answered 500 with a code name of that status, or a type that the operation lists with it.',
    alsoListed: true },
  { id: '503-unavailable', level: 'must', section: '7.2', needs: [scenario], expects: [[503, 'ServiceUnavailable']],
    statement: 'Maintenance or high load is answered 503 with a code name of that status, or a type that the operation lists with it.',
    alsoListed: true },
  { id: '507-insufficient-storage', level: 'must', section: '7.2', needs: [scenario], expects: [[507, 'InsufficientStorage']],
    statement: 'An exhausted storage quota is answered 507 with a code name of that status, or a type that the operation lists with it.',
    alsoListed: true },
])
