import { anyBadRequest, oversized } from './pairs.ts'
import { field, validRequest } from './needs.ts'
import { requirements, scenario } from './requirement.ts'

const valid = validRequest['vision.analyze']
const role = (name: string): string => field('vision.analyze', name)

// prettier-ignore
export const visionAnalyze = requirements('vision.analyze', [
  { id: '2xx-accepted', level: 'must', section: '4.4', needs: valid, expects: '2xx',
    statement: 'A valid request is answered by a 2xx.',
    control: true, effect: 'generates', maxRequests: 1, generates: 1 },
  { id: '400-malformed-request', level: 'should', section: '2.8, 7.2', needs: [...valid, [role('prompt'), role('variables')]], expects: anyBadRequest,
    statement: 'A prompt that is no string, or variables that are no array, are answered 400.',
    maxRequests: 7 },
  { id: '403-model-access', level: 'must', section: '5', needs: [scenario], expects: [[403, 'InsufficientAccessRights']],
    statement: 'A model to which the key has no access is answered 403 InsufficientAccessRights.' },
  { id: '403-file-access', level: 'must', section: '5', needs: [scenario], expects: [[403, 'InsufficientAccessRights']],
    statement: 'A file to which the key has no access is answered 403 InsufficientAccessRights.' },
  { id: '400-unsupported-image', level: 'must', section: '7.3', needs: [scenario], expects: [[400, 'BadRequest']],
    statement: 'An image of an unsupported type is answered 400 BadRequest.' },
  { id: '400-oversized-image', level: 'must', section: '7.3, 8', needs: [scenario], expects: oversized,
    statement: 'An image over the size limits is answered 400 InvalidInputParameters, or 413 BadRequest, PayloadTooLarge or InvalidInputParameters.' },
  { id: '400-corrupted-image', level: 'must', section: '7.3', needs: [scenario], expects: [[400, 'InvalidContentType']],
    statement: 'A corrupted image is answered 400 InvalidContentType.' },
  { id: '503-unavailable', level: 'must', section: '7.3', needs: [scenario], expects: [[503, 'InternalError']],
    statement: 'While vision is unavailable, a request is answered 503 InternalError.' },
])
