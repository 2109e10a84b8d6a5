import { unknownModel } from './pairs.ts'
import { field, validRequest } from './needs.ts'
import { requirements, scenario } from './requirement.ts'

const valid = validRequest['completion.create']
const role = (name: string): string => field('completion.create', name)

// prettier-ignore
export const completionCreate = requirements('completion.create', [
  { id: '2xx-accepted', level: 'must', section: '4.4', needs: valid, expects: '2xx',
    statement: 'A valid request is answered by a 2xx.',
    control: true, effect: 'generates', maxRequests: 1, generates: 1 },
  { id: '400-unsupported-model', level: 'must', section: '7.3', needs: [...valid, role('model')], expects: [[400, 'BadRequest'], unknownModel],
    statement: 'A model that is not supported is answered 400 BadRequest; one that does not exist, also 404 ResourceNotFound or NotFound.',
    expectsByScenario: [[400, 'BadRequest']], maxRequests: 2 },
  { id: '400-malformed-request', level: 'must', section: '7.3', needs: [...valid, [role('prompt'), role('model')]], expects: [[400, 'BadRequest']],
    statement: 'A model that is no string is answered 400 BadRequest; a prompt that is none, also InvalidInputParameters or InvalidContentType.',
    maxRequests: 7 },
  { id: '400-empty-prompt', level: 'must', section: '7.3', needs: [...valid, role('prompt')], expects: [[400, 'InvalidInputParameters']],
    statement: 'An empty prompt is answered 400 InvalidInputParameters.' },
  { id: '400-bad-encoding', level: 'must', section: '7.3', needs: [...valid, role('prompt')], expects: [[400, 'InvalidInputParameters', 'InvalidContentType', 'BadRequest']],
    statement: 'A prompt in invalid UTF-8 is answered 400 InvalidInputParameters, InvalidContentType or BadRequest.',
    maxRequests: 3 },
  { id: '400-invalid-temperature', level: 'must', section: '7.3', needs: [...valid, role('temperature')], expects: [[400, 'InvalidContentType']],
    statement: 'A temperature that is no number is answered 400 InvalidContentType.',
    maxRequests: 4 },
  { id: '400-invalid-max-tokens', level: 'must', section: '7.3', needs: [...valid, role('max_tokens')], expects: [[400, 'InvalidContentType']],
    statement: 'A max_tokens that is no number is answered 400 InvalidContentType.',
    maxRequests: 4 },
  { id: '400-invalid-parameter', level: 'must', section: '7.3', needs: [...valid, role('parameter')], expects: [[400, 'InvalidContentType']],
    statement: 'A parameter of another JSON type than its value in the declared body is answered 400 InvalidContentType.',
    maxRequests: 4 },
  { id: '403-model-access', level: 'must', section: '5, 7.3', needs: [scenario], expects: [[403, 'InsufficientAccessRights']],
    statement: 'A model to which the key has no access is answered 403 InsufficientAccessRights.' },
  { id: '429-model-quota', level: 'must', section: '7.3', needs: [scenario], expects: [[429, 'CompletionModelQuotaError']],
    statement: 'A model over its monthly usage limit is answered 429 CompletionModelQuotaError.' },
  { id: '500-model-unavailable', level: 'must', section: '7.3', needs: [scenario], expects: [[500, 'CompletionModelUnavailableError']],
    statement: 'A model that is unavailable is answered 500 CompletionModelUnavailableError.' },
  { id: '500-model-overload', level: 'must', section: '7.3', needs: [scenario], expects: [[500, 'CompletionModelInternalError']],
    statement: 'A model that is overloaded is answered 500 CompletionModelInternalError.' },
  { id: 'model-unauthorized', level: 'must', section: '7.4', needs: [scenario], expects: [['any', 'CompletionModelUnauthorizedError']],
    statement: 'Invalid model access credentials give CompletionModelUnauthorizedError.' },
  { id: 'model-underlying-request', level: 'must', section: '7.4', needs: [scenario], expects: [['any', 'CompletionModelUnderlyingRequestError']],
    statement: 'An error in the underlying model request gives CompletionModelUnderlyingRequestError.' },
  { id: 'model-unsafe-request', level: 'must', section: '7.4', needs: [scenario], expects: [['any', 'CompletionModelUnsafeRequestError']],
    statement: 'A request with unsafe content gives CompletionModelUnsafeRequestError.' },
  { id: 'model-no-prediction', level: 'must', section: '7.4', needs: [scenario], expects: [['any', 'CompletionModelNoPredictionError']],
    statement: 'A model that makes no prediction gives CompletionModelNoPredictionError.' },
])
