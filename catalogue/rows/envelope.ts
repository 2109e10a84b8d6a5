import { must, should } from './row.ts'

// prettier-ignore
export const envelope = [
  must('envelope/shape', '2.6', 'Every error response is a JSON envelope with tpe, errors and extras of the types shown.'),
  must('envelope/status-tpe-pair', '7.2, 7.3, 7.4', 'The tpe of every error response is one that its status may carry.'),
  should('envelope/content-type', '4', 'Error responses, and the success responses whose body the spec shows, are labelled as JSON.'),
  should('envelope/message-keys', '7.1', 'A message key that the spec shows stands with the tpe that it is shown with, or another of the same status.'),
  should('envelope/unknown-path', '7.1', 'A path under /v1 that the interface does not have is answered by a 4xx with an error envelope.'),
  should('envelope/unsupported-method', '7.1', 'A method that the interface does not have at a path is answered by a 4xx with an error envelope.'),
  should('envelope/bad-input-no-5xx', '7.2', 'Bad input is never answered by a 5xx.'),
]
