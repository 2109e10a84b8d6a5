import { rows } from './row.ts'

// prettier-ignore
export const envelope = rows('envelope', [
  { id: 'shape', level: 'must', section: '2.6',
    says: 'Every error response is a JSON envelope with tpe, errors and extras of the types shown.',
    maxRequests: 0 },
  { id: 'status-tpe-pair', level: 'must', section: '7.2, 7.3, 7.4',
    says: 'The tpe of every error response is one that its status may carry.',
    maxRequests: 0 },
  { id: 'content-type', level: 'should', section: '4',
    says: 'Error responses, and the success responses whose body the spec shows, are labelled as JSON.',
    maxRequests: 0 },
  { id: 'message-keys', level: 'should', section: '7.1',
    says: 'A message key that the spec shows stands with the tpe that it is shown with, or another of the same status.',
    maxRequests: 0 },
  { id: 'unknown-path', level: 'should', section: '7.1', gives: [['4xx'], [401]],
    says: 'A path under /v1 that the interface does not have is answered by a 4xx with an error envelope.',
    maxRequests: 2 },
  { id: 'unsupported-method', level: 'should', section: '7.1', gives: [['4xx'], [401]],
    says: 'A method that the interface does not have at a path is answered by a 4xx with an error envelope.',
    maxRequests: 9 },
  { id: 'bad-input-no-5xx', level: 'should', section: '7.2',
    says: 'Bad input is never answered by a 5xx.',
    maxRequests: 0 },
])
