import { body, field } from './needs.ts'
import { must, staged } from './row.ts'

const valid = body('completion.create')
const role = (name: string): string => field('completion.create', name)

// prettier-ignore
export const completionCreate = [
  must('completion.create/2xx-accepted', '4.4', 'A valid request is answered by a 2xx.', [valid], 'generates'),
  must('completion.create/400-unsupported-model', '7.3', 'A model that is not supported is answered 400 BadRequest.', [valid, role('model')]),
  must('completion.create/400-malformed-request', '7.3', 'A model that is no string is answered 400 BadRequest; a prompt that is none, also InvalidInputParameters or InvalidContentType.', [valid, [role('prompt'), role('model')]]),
  must('completion.create/400-empty-prompt', '7.3', 'An empty prompt is answered 400 InvalidInputParameters.', [valid, role('prompt')]),
  must('completion.create/400-bad-encoding', '7.3', 'A prompt in invalid UTF-8 is answered 400 InvalidInputParameters, InvalidContentType or BadRequest.', [valid, role('prompt')]),
  must('completion.create/400-invalid-temperature', '7.3', 'A temperature that is no number is answered 400 InvalidContentType.', [valid, role('temperature')]),
  must('completion.create/400-invalid-max-tokens', '7.3', 'A max_tokens that is no number, or a negative one, is answered 400 InvalidContentType; a negative one also InvalidInputParameters.', [valid, role('max_tokens')]),
  must('completion.create/400-invalid-parameter', '7.3', 'A parameter of another JSON type is answered 400 InvalidContentType.', [valid, role('parameter')]),
  staged('completion.create/403-model-access', '5, 7.3', 'A model to which the key has no access is answered 403 InsufficientAccessRights.'),
  staged('completion.create/429-model-quota', '7.3', 'A model over its monthly usage limit is answered 429 CompletionModelQuotaError.'),
  staged('completion.create/500-model-unavailable', '7.3', 'A model that is unavailable is answered 500 CompletionModelUnavailableError.'),
  staged('completion.create/500-model-overload', '7.3', 'A model that is overloaded is answered 500 CompletionModelInternalError.'),
  staged('completion.create/model-unauthorized', '7.4', 'Invalid model access credentials give CompletionModelUnauthorizedError.'),
  staged('completion.create/model-underlying-request', '7.4', 'An error in the underlying model request gives CompletionModelUnderlyingRequestError.'),
  staged('completion.create/model-unsafe-request', '7.4', 'A request with unsafe content gives CompletionModelUnsafeRequestError.'),
  staged('completion.create/model-no-prediction', '7.4', 'A model that makes no prediction gives CompletionModelNoPredictionError.'),
]
