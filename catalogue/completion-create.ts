import { unknownModel } from './answers.ts'
import { field, validRequest } from './needs.ts'
import { rows, scenario } from './row.ts'

const valid = validRequest['completion.create']
const role = (name: string): string => field('completion.create', name)

// prettier-ignore
export const completionCreate = rows('completion.create', [
  { id: '2xx-accepted', level: 'must', section: '4.4', needs: valid, gives: '2xx',
    says: 'A valid request is answered by a 2xx.',
    control: true, effect: 'generates', maxRequests: 1, generates: 1 },
  { id: '400-unsupported-model', level: 'must', section: '7.3', needs: [...valid, role('model')], gives: [[400, 'BadRequest'], unknownModel],
    says: 'A model that is not supported is answered 400 BadRequest; one that does not exist, also 404 ResourceNotFound or NotFound.',
    givesByScenario: [[400, 'BadRequest']], maxRequests: 2 },
  { id: '400-malformed-request', level: 'must', section: '7.3', needs: [...valid, [role('prompt'), role('model')]], gives: [[400, 'BadRequest']],
    says: 'A model that is no string is answered 400 BadRequest; a prompt that is none, also InvalidInputParameters or InvalidContentType.',
    maxRequests: 7 },
  { id: '400-empty-prompt', level: 'must', section: '7.3', needs: [...valid, role('prompt')], gives: [[400, 'InvalidInputParameters']],
    says: 'An empty prompt is answered 400 InvalidInputParameters.' },
  { id: '400-bad-encoding', level: 'must', section: '7.3', needs: [...valid, role('prompt')], gives: [[400, 'InvalidInputParameters', 'InvalidContentType', 'BadRequest']],
    says: 'A prompt in invalid UTF-8 is answered 400 InvalidInputParameters, InvalidContentType or BadRequest.',
    maxRequests: 3 },
  { id: '400-invalid-temperature', level: 'must', section: '7.3', needs: [...valid, role('temperature')], gives: [[400, 'InvalidContentType']],
    says: 'A temperature that is no number is answered 400 InvalidContentType.',
    maxRequests: 4 },
  { id: '400-invalid-max-tokens', level: 'must', section: '7.3', needs: [...valid, role('max_tokens')], gives: [[400, 'InvalidContentType']],
    says: 'A max_tokens that is no number is answered 400 InvalidContentType.',
    maxRequests: 4 },
  { id: '400-invalid-parameter', level: 'must', section: '7.3', needs: [...valid, role('parameter')], gives: [[400, 'InvalidContentType']],
    says: 'A parameter of another JSON type than its value in the declared body is answered 400 InvalidContentType.',
    maxRequests: 4 },
  { id: '403-model-access', level: 'must', section: '5, 7.3', needs: [scenario], gives: [[403, 'InsufficientAccessRights']],
    says: 'A model to which the key has no access is answered 403 InsufficientAccessRights.' },
  { id: '429-model-quota', level: 'must', section: '7.3', needs: [scenario], gives: [[429, 'CompletionModelQuotaError']],
    says: 'A model over its monthly usage limit is answered 429 CompletionModelQuotaError.' },
  { id: '500-model-unavailable', level: 'must', section: '7.3', needs: [scenario], gives: [[500, 'CompletionModelUnavailableError']],
    says: 'A model that is unavailable is answered 500 CompletionModelUnavailableError.' },
  { id: '500-model-overload', level: 'must', section: '7.3', needs: [scenario], gives: [[500, 'CompletionModelInternalError']],
    says: 'A model that is overloaded is answered 500 CompletionModelInternalError.' },
  { id: 'model-unauthorized', level: 'must', section: '7.4', needs: [scenario], gives: [['any', 'CompletionModelUnauthorizedError']],
    says: 'Invalid model access credentials give CompletionModelUnauthorizedError.' },
  { id: 'model-underlying-request', level: 'must', section: '7.4', needs: [scenario], gives: [['any', 'CompletionModelUnderlyingRequestError']],
    says: 'An error in the underlying model request gives CompletionModelUnderlyingRequestError.' },
  { id: 'model-unsafe-request', level: 'must', section: '7.4', needs: [scenario], gives: [['any', 'CompletionModelUnsafeRequestError']],
    says: 'A request with unsafe content gives CompletionModelUnsafeRequestError.' },
  { id: 'model-no-prediction', level: 'must', section: '7.4', needs: [scenario], gives: [['any', 'CompletionModelNoPredictionError']],
    says: 'A model that makes no prediction gives CompletionModelNoPredictionError.' },
])
