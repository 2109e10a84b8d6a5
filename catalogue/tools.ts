import { anyBadRequest, oversized, scenario, requirements, valid } from './requirement.ts'

// oxfmt-ignore
export const aiDetectRun = requirements('ai-detect.run', [
  { id: '2xx-accepted', level: 'must', section: '4.4', needs: [valid], expects: '2xx',
    statement: 'A valid request is answered by a 2xx.',
    control: true, maxRequests: 3 },
  { id: '400-empty-text', level: 'must', section: '7.3', needs: [valid, '{text}'], expects: [[400, 'BadRequest']],
    statement: 'An empty text is answered 400 BadRequest.' },
  { id: '400-malformed-text', level: 'must', section: '7.3', needs: [valid, '{text}'], expects: [[400, 'BadRequest']],
    statement: 'A text that is no string is answered 400 BadRequest.',
    maxRequests: 3 },
  { id: '400-text-too-long', level: 'must', section: '7.3, 8', needs: [scenario], expects: oversized,
    statement: 'A text over the maximum length is answered 400 InvalidInputParameters, or 413 BadRequest, PayloadTooLarge or InvalidInputParameters.' },
])

// oxfmt-ignore
export const webSearchRun = requirements('web-search.run', [
  { id: '2xx-accepted', level: 'must', section: '4.4', needs: [valid], expects: '2xx',
    statement: 'A valid request is answered by a 2xx.',
    control: true, maxRequests: 3 },
  { id: '400-empty-query', level: 'must', section: '7.3', needs: [valid, '{query}'], expects: [[400, 'BadRequest']],
    statement: 'An empty query is answered 400 BadRequest.' },
  { id: '400-malformed-query', level: 'must', section: '7.3', needs: [valid, '{query}'], expects: [[400, 'BadRequest']],
    statement: 'A query that is no string is answered 400 BadRequest.',
    maxRequests: 3 },
  { id: '400-query-too-long', level: 'must', section: '7.3, 8', needs: [scenario], expects: oversized,
    statement: 'A query over the maximum length is answered 400 InvalidInputParameters, or 413 BadRequest, PayloadTooLarge or InvalidInputParameters.' },
  { id: '503-search-down', level: 'must', section: '7.3', needs: [scenario], expects: [[503, 'InternalError']],
    statement: 'While the external search service is down, a request is answered 503 InternalError.' },
])

// oxfmt-ignore
export const medicalComprehend = requirements('medical.comprehend', [
  { id: '200-entities', level: 'must', section: '2.8', needs: [valid], expects: '2xx',
    statement: 'A request with response_type Entities is answered by a 2xx whose entities have category, text, score and traits.',
    control: true, maxRequests: 3 },
  { id: '400-malformed-request', level: 'should', section: '2.8, 7.2', needs: [valid, '{content}'], expects: anyBadRequest,
    statement: 'A content that is no string is answered 400.',
    maxRequests: 3 },
])

// oxfmt-ignore
export const translateRun = requirements('translate.run', [
  { id: '2xx-accepted', level: 'must', section: '4.4', needs: [valid], expects: '2xx',
    statement: 'A valid request is answered by a 2xx.',
    control: true, effect: 'generates', maxRequests: 3, generates: 2 },
  { id: '400-unsupported-language', level: 'must', section: '7.3', needs: [valid, ['{source}', '{target}']], expects: [[400, 'BadRequest']],
    statement: 'An unsupported source or target language is answered 400 BadRequest.',
    maxRequests: 14 },
  { id: '400-empty-text', level: 'must', section: '7.3', needs: [valid, '{text}'], expects: [[400, 'InvalidInputParameters']],
    statement: 'An empty text is answered 400 InvalidInputParameters.' },
  { id: '400-malformed-text', level: 'must', section: '7.3', needs: [valid, '{text}'], expects: [[400, 'InvalidInputParameters', 'BadRequest']],
    statement: 'A text that is no string is answered 400 InvalidInputParameters or BadRequest.',
    maxRequests: 3 },
  { id: '400-text-too-long', level: 'must', section: '7.3, 8', needs: [scenario], expects: oversized,
    statement: 'A text over the maximum length is answered 400 InvalidInputParameters, or 413 BadRequest, PayloadTooLarge or InvalidInputParameters.' },
  { id: '503-unavailable', level: 'must', section: '7.3', needs: [scenario], expects: [[503, 'InternalError']],
    statement: 'While translation is unavailable, a request is answered 503 InternalError.' },
])

// oxfmt-ignore
export const visionAnalyze = requirements('vision.analyze', [
  { id: '2xx-accepted', level: 'must', section: '4.4', needs: [valid], expects: '2xx',
    statement: 'A valid request is answered by a 2xx.',
    control: true, effect: 'generates', maxRequests: 3, generates: 2 },
  { id: '400-malformed-request', level: 'should', section: '2.8, 7.2', needs: [valid, ['{prompt}', '{variables}']], expects: anyBadRequest,
    statement: 'A prompt that is no string, or variables that are no array, are answered 400.',
    maxRequests: 8 },
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
