import { body, field, validRequest } from './needs.ts'
import { must, should, staged } from './row.ts'

const oversized = '400 InvalidInputParameters, or 413 BadRequest or PayloadTooLarge'

const creation = validRequest['applications.create']
// prettier-ignore
export const applicationsCreate = [
  must('applications.create/2xx-accepted', '4.4', 'The creation of an application is answered by a 2xx.', creation, 'creates'),
  must('applications.create/400-malformed-parameters', '7.3', 'A creation whose name is absent or no string is answered 400 BadRequest.', creation),
  staged('applications.create/400-invalid-blueprint', '7.3', 'A blueprint with a syntax or configuration error is answered 400 InvalidInputParameters.'),
  must('applications.create/400-duplicate-name', '7.3', 'A second application of the same name is answered 400 BadRequest.', creation, 'creates'),
]

const detection = [body('ai-detect.run'), field('ai-detect.run', 'text')]
// prettier-ignore
export const aiDetectRun = [
  must('ai-detect.run/2xx-accepted', '4.4', 'A valid request is answered by a 2xx.', validRequest['ai-detect.run']),
  must('ai-detect.run/400-empty-text', '7.3', 'An empty text is answered 400 BadRequest.', detection),
  must('ai-detect.run/400-malformed-text', '7.3', 'A text that is no string is answered 400 BadRequest.', detection),
  staged('ai-detect.run/400-text-too-long', '7.3, 8', `A text over the maximum length is answered ${oversized}.`),
]

const search = [body('web-search.run'), field('web-search.run', 'query')]
// prettier-ignore
export const webSearchRun = [
  must('web-search.run/2xx-accepted', '4.4', 'A valid request is answered by a 2xx.', validRequest['web-search.run']),
  must('web-search.run/400-empty-query', '7.3', 'An empty query is answered 400 BadRequest.', search),
  must('web-search.run/400-malformed-query', '7.3', 'A query that is no string is answered 400 BadRequest.', search),
  staged('web-search.run/400-query-too-long', '7.3, 8', `A query over the maximum length is answered ${oversized}.`),
  staged('web-search.run/503-search-down', '7.3', 'While the external search service is down, a request is answered 503 InternalError.'),
]

// prettier-ignore
export const medicalComprehend = [
  must('medical.comprehend/200-entities', '2.8', 'A request with response_type Entities is answered by a 2xx whose entities have category, text, score and traits.', validRequest['medical.comprehend']),
  should('medical.comprehend/400-malformed-request', '2.8, 7.2', 'A content that is no string is answered 400.', validRequest['medical.comprehend']),
]

const valid = body('translate.run')
const text = [valid, field('translate.run', 'text')]
// prettier-ignore
export const translateRun = [
  must('translate.run/2xx-accepted', '4.4', 'A valid request is answered by a 2xx.', [valid], 'generates'),
  must('translate.run/400-unsupported-language', '7.3', 'An unsupported source or target language is answered 400 BadRequest.', [valid, [field('translate.run', 'source'), field('translate.run', 'target')]]),
  must('translate.run/400-empty-text', '7.3', 'An empty text is answered 400 InvalidInputParameters.', text),
  must('translate.run/400-malformed-text', '7.3', 'A text that is no string is answered 400 InvalidInputParameters or BadRequest.', text),
  staged('translate.run/400-text-too-long', '7.3, 8', `A text over the maximum length is answered ${oversized}.`),
  staged('translate.run/503-unavailable', '7.3', 'While translation is unavailable, a request is answered 503 InternalError.'),
]

// prettier-ignore
export const visionAnalyze = [
  must('vision.analyze/2xx-accepted', '4.4', 'A valid request is answered by a 2xx.', validRequest['vision.analyze'], 'generates'),
  should('vision.analyze/400-malformed-request', '2.8, 7.2', 'A prompt that is no string, or variables that are no array, are answered 400.', validRequest['vision.analyze']),
  staged('vision.analyze/400-unsupported-image', '7.3', 'An image of an unsupported type is answered 400 BadRequest.'),
  staged('vision.analyze/400-oversized-image', '7.3, 8', `An image over the size limits is answered ${oversized}.`),
  staged('vision.analyze/400-corrupted-image', '7.3', 'A corrupted image is answered 400 InvalidContentType.'),
  staged('vision.analyze/503-unavailable', '7.3', 'While vision is unavailable, a request is answered 503 InternalError.'),
]
